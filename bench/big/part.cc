/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of the parts of a large C++ program: compiled once for each PART, it makes that
 * many copies of everything, under names of their own. What it does is what programs
 * with large debug information do: containers, strings, streams, variants, visitors,
 * callbacks, regular expressions, shallow and deep recursion, all of it in templates,
 * with much of the library inlined into each other.
 */
#include "part.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#ifndef PART
#error "PART is not given"
#endif

namespace big {

template <int P> struct random_source {
	uint64_t state;
	explicit random_source(uint64_t seed) : state(seed * 2654435761u + P * 97 + 1) {}
	uint64_t operator()()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return state;
	}
	uint64_t below(uint64_t limit) { return (*this)() % limit; }
};

template <int P, int K> struct key {
	uint32_t high, low;
	auto operator<=>(const key &) const = default;
};

template <int P, int K> struct record {
	std::string name;
	std::array<uint32_t, 4> fields;
	std::optional<double> weight;
	uint64_t sum() const
	{
		return std::accumulate(fields.begin(), fields.end(), uint64_t{name.size()}) +
		       static_cast<uint64_t>(weight.value_or(K));
	}
};

template <int P, int K> record<P, K> make_record(random_source<P> &random)
{
	record<P, K> made{"record " + std::to_string(random.below(1000)), {}, {}};
	for (auto &field : made.fields)
		field = static_cast<uint32_t>(random());
	if (made.fields[0] & 1)
		made.weight = static_cast<double>(made.fields[1]) / 3;
	return made;
}

/* Trees and hashes. */
template <int P, int K> class index {
	std::map<key<P, K>, std::vector<record<P, K>>> by_key;
	std::unordered_map<std::string, key<P, K>> by_name;
	std::set<std::tuple<uint32_t, std::string, key<P, K>>> ordered;

public:
	void add(random_source<P> &random)
	{
		key<P, K> where{static_cast<uint32_t>(random.below(7)),
				static_cast<uint32_t>(random.below(9))};
		auto made = make_record<P, K>(random);
		by_name.insert_or_assign(made.name, where);
		ordered.emplace(made.fields[2] % 13, made.name, where);
		by_key[where].push_back(std::move(made));
	}
	uint64_t drop(random_source<P> &random)
	{
		auto found = by_key.lower_bound({static_cast<uint32_t>(random.below(7)), 0});
		if (found == by_key.end())
			return 0;
		uint64_t sum = 0;
		for (const auto &one : found->second) {
			sum += one.sum();
			by_name.erase(one.name);
		}
		by_key.erase(found);
		return sum;
	}
	uint64_t total() const
	{
		uint64_t sum = 0;
		for (const auto &[where, records] : by_key)
			for (const auto &one : records)
				sum += one.sum() * (where.low + 1);
		for (const auto &[rank, name, where] : ordered)
			sum += rank + name.size() + where.high;
		for (const auto &[name, where] : by_name)
			sum ^= std::hash<std::string>{}(name) + where.low;
		return sum;
	}
};

template <int P, int K> uint64_t indexing(random_source<P> &random)
{
	index<P, K> made;
	uint64_t sum = 0;
	for (int i = 0; i < 24; i++) {
		made.add(random);
		if (i % 8 == 7)
			sum += made.drop(random);
	}
	return sum + made.total();
}

/* Sorting by many orders. */
template <int P, int K> uint64_t sorting(random_source<P> &random)
{
	std::vector<record<P, K>> all;
	for (int i = 0; i < 40; i++)
		all.push_back(make_record<P, K>(random));
	std::sort(all.begin(), all.end(),
		  [](const auto &a, const auto &b) { return a.name < b.name; });
	uint64_t sum = all.front().sum();
	std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
		return a.fields[K % 4] < b.fields[K % 4];
	});
	sum += all.front().sum();
	std::nth_element(all.begin(), all.begin() + 20, all.end(),
			 [](const auto &a, const auto &b) { return a.sum() > b.sum(); });
	auto middle = std::partition(all.begin(), all.end(),
				     [](const auto &a) { return a.weight.has_value(); });
	std::make_heap(all.begin(), middle,
		       [](const auto &a, const auto &b) { return a.weight < b.weight; });
	std::deque<uint64_t> sums;
	std::transform(all.begin(), all.end(), std::front_inserter(sums),
		       [](const auto &a) { return a.sum(); });
	std::rotate(sums.begin(), sums.begin() + 7, sums.end());
	return std::accumulate(sums.begin(), sums.end(), sum);
}

/* A language: parsed by recursive descent into variants, and visited. */
template <int P, int K> struct node;
template <int P, int K> using node_ptr = std::unique_ptr<node<P, K>>;
template <int P, int K> struct number {
	uint64_t value;
};
template <int P, int K> struct negated {
	node_ptr<P, K> operand;
};
template <int P, int K> struct binary {
	char sign;
	node_ptr<P, K> left, right;
};
template <int P, int K> struct call {
	std::string name;
	std::vector<node_ptr<P, K>> arguments;
};
template <int P, int K> struct node {
	std::variant<number<P, K>, negated<P, K>, binary<P, K>, call<P, K>> is;
};

template <int P, int K> class parser {
	const std::string &text;
	size_t at = 0;

	bool take(char wanted)
	{
		if (at >= text.size() || text[at] != wanted)
			return false;
		at++;
		return true;
	}
	node_ptr<P, K> make(auto &&is)
	{
		return std::make_unique<node<P, K>>(node<P, K>{std::move(is)});
	}
	node_ptr<P, K> primary()
	{
		if (take('(')) {
			auto inner = sum();
			take(')');
			return inner;
		}
		if (take('-'))
			return make(negated<P, K>{primary()});
		if (take('f')) {
			call<P, K> made{"f", {}};
			take('(');
			do
				made.arguments.push_back(sum());
			while (take(','));
			take(')');
			return make(std::move(made));
		}
		uint64_t value = 0;
		while (at < text.size() && text[at] >= '0' && text[at] <= '9')
			value = value * 10 + static_cast<uint64_t>(text[at++] - '0');
		return make(number<P, K>{value});
	}
	node_ptr<P, K> product()
	{
		auto left = primary();
		while (take('*'))
			left = make(binary<P, K>{'*', std::move(left), primary()});
		return left;
	}

public:
	explicit parser(const std::string &of) : text(of) {}
	node_ptr<P, K> sum()
	{
		auto left = product();
		while (take('+'))
			left = make(binary<P, K>{'+', std::move(left), product()});
		return left;
	}
};

template <int P, int K> struct evaluator {
	std::map<std::string, std::function<uint64_t(const std::vector<uint64_t> &)>> functions;

	uint64_t operator()(const number<P, K> &of) const { return of.value + K; }
	uint64_t operator()(const negated<P, K> &of) const
	{
		return ~std::visit(*this, of.operand->is);
	}
	uint64_t operator()(const binary<P, K> &of) const
	{
		uint64_t left = std::visit(*this, of.left->is);
		uint64_t right = std::visit(*this, of.right->is);
		return of.sign == '*' ? left * right : left + right;
	}
	uint64_t operator()(const call<P, K> &of) const
	{
		std::vector<uint64_t> values;
		std::transform(of.arguments.begin(), of.arguments.end(),
			       std::back_inserter(values),
			       [this](const auto &one) { return std::visit(*this, one->is); });
		return functions.at(of.name)(values);
	}
};

template <int P, int K> void write_expression(std::string &text, random_source<P> &random, int depth)
{
	switch (depth == 0 ? 0 : random.below(5)) {
	case 0:
		text += std::to_string(random.below(100000));
		break;
	case 1:
		text += "-";
		write_expression<P, K>(text, random, depth - 1);
		break;
	case 2:
		text += "f(";
		write_expression<P, K>(text, random, depth - 1);
		text += ",";
		write_expression<P, K>(text, random, depth - 1);
		text += ")";
		break;
	default:
		text += "(";
		write_expression<P, K>(text, random, depth - 1);
		text += random.below(2) ? "*" : "+";
		write_expression<P, K>(text, random, depth - 1);
		text += ")";
	}
}

template <int P, int K> uint64_t evaluating(random_source<P> &random)
{
	std::string text;
	write_expression<P, K>(text, random, 7);
	auto parsed = parser<P, K>(text).sum();
	evaluator<P, K> evaluate;
	evaluate.functions["f"] = [](const std::vector<uint64_t> &values) {
		return std::accumulate(values.begin(), values.end(), uint64_t{K},
				       [](uint64_t a, uint64_t b) { return a * 31 + b; });
	};
	return std::visit(evaluate, parsed->is);
}

/* Shortest ways. */
template <int P, int K> struct edge {
	size_t to;
	uint64_t length;
};

template <int P, int K> uint64_t routing(random_source<P> &random)
{
	std::vector<std::list<edge<P, K>>> graph(32);
	for (auto &edges : graph)
		for (int i = 0; i < 4; i++)
			edges.push_back({random.below(graph.size()), random.below(100) + 1});
	using step = std::pair<uint64_t, size_t>;
	std::priority_queue<step, std::vector<step>, std::greater<>> open;
	std::vector<std::optional<uint64_t>> reached(graph.size());
	open.emplace(0, 0);
	while (!open.empty()) {
		auto [length, at] = open.top();
		open.pop();
		if (reached[at] && *reached[at] <= length)
			continue;
		reached[at] = length;
		for (const auto &next : graph[at])
			open.emplace(length + next.length, next.to);
	}
	uint64_t sum = 0;
	for (const auto &length : reached)
		sum += length.value_or(K);
	return sum;
}

/* Callbacks that call callbacks. */
template <int P, int K> using stage = std::function<uint64_t(uint64_t)>;

template <int P, int K> stage<P, K> staged(random_source<P> &random, int depth)
{
	if (depth == 0)
		return [](uint64_t value) { return value * 6364136223846793005u + K; };
	auto inner = std::make_shared<stage<P, K>>(staged<P, K>(random, depth - 1));
	switch (random.below(3)) {
	case 0:
		return [inner](uint64_t value) { return (*inner)(value + 1) ^ P; };
	case 1:
		return [inner](uint64_t value) { return (*inner)(value) + (*inner)(value >> 1); };
	default:
		return [inner, name = std::string("stage")](uint64_t value) {
			return (*inner)(value + name.size());
		};
	}
}

template <int P, int K> uint64_t calling(random_source<P> &random)
{
	return staged<P, K>(random, 12)(random());
}

/* Text in streams. */
template <int P, int K> uint64_t writing(random_source<P> &random)
{
	std::ostringstream out;
	for (int i = 0; i < 12; i++)
		out << "line " << i << ' ' << random.below(1000) << ' ' << 1.5 * K << '\n';
	std::istringstream in(out.str());
	std::map<std::string, uint64_t> words;
	for (std::string word; in >> word;)
		words[word]++;
	return std::accumulate(words.begin(), words.end(), uint64_t{K},
			       [](uint64_t sum, const auto &word) {
				       return sum + word.second * word.first.size();
			       });
}

/* Regular expressions with traits of the part's own, so that it has its own machine. */
template <int P> struct traits : std::regex_traits<char> {
};

template <int P> uint64_t matching(random_source<P> &random)
{
	static const std::basic_regex<char, traits<P>> pattern("([a-z]+)[0-9]*(x|yz?|[^;])*;");
	std::string text;
	for (int i = 0; i < 6; i++) {
		text += static_cast<char>('a' + random.below(26));
		text += std::to_string(random.below(100000)) + "xyzxy;";
	}
	std::match_results<std::string::const_iterator> match;
	uint64_t sum = 0;
	for (auto at = text.cbegin();
	     std::regex_search(at, text.cend(), match, pattern); at = match[0].second)
		sum += static_cast<uint64_t>(match.length(1) + match.position(2));
	return sum;
}

template <int P, int K> uint64_t work(random_source<P> &random)
{
	switch (random.below(6)) {
	case 0: return indexing<P, K>(random);
	case 1: return sorting<P, K>(random);
	case 2: return evaluating<P, K>(random);
	case 3: return routing<P, K>(random);
	case 4: return calling<P, K>(random);
	default: return writing<P, K>(random);
	}
}

template <int P, int... K>
uint64_t one_of(random_source<P> &random, std::integer_sequence<int, K...>)
{
	static constexpr uint64_t (*all[])(random_source<P> &) = {work<P, K>..., matching<P>};
	return all[random.below(std::size(all))](random);
}

} // namespace big

#ifndef KINDS
#define KINDS 8
#endif
#define JOIN(a, b) a##b
#define PART_NAME(number) JOIN(part_, number)

uint64_t PART_NAME(PART)(uint64_t seed);
uint64_t PART_NAME(PART)(uint64_t seed)
{
	big::random_source<PART> random(seed);
	return big::one_of<PART>(random, std::make_integer_sequence<int, KINDS>{});
}

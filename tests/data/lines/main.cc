/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code for tests/cli/test_sources.sh: inlined templates, lambdas, local classes, cold parts. */
#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" int part(int n);

namespace outer
{
extern "C" int plain(int x)
{
	return x * 3;
}

struct Held {
	int value;
	explicit Held(int v) : value(v)
	{
	}
	int get() const
	{
		return value;
	}
	static inline int twice(int x)
	{
		return 2 * x;
	}
};

namespace
{
inline int hidden(int x)
{
	return Held(x).get() + Held::twice(x);
}
} // namespace

template <typename T> struct Sum {
	T total{};
	void add(const T &x)
	{
		if (total > 1 << 30)
			throw std::overflow_error("sum of " + std::to_string(total));
		total += x;
	}
};

int counted(std::vector<int> &numbers, std::map<std::string, int> &names)
{
	std::sort(numbers.begin(), numbers.end());
	auto count = [&](int k) {
		names[std::to_string(k)] += hidden(k);
		return plain(k);
	};
	Sum<int> sum;
	for (int x : numbers)
		sum.add(count(x));
	return sum.total;
}
} // namespace outer

static int apply(int (*function)(int), int x)
{
	return function(x);
}

int local(int n)
{
	struct Local {
		int base;
		__attribute__((noinline)) int method(int k)
		{
			return k * base;
		}
		static __attribute__((noinline)) int fixed(int k)
		{
			return k + 3;
		}
	};
	Local object{n};
	auto lambda = [&](int q) __attribute__((noinline))
	{
		return q * n + object.method(q);
	};
	return lambda(n) + object.method(n) + apply(Local::fixed, n);
}

int main(int argc, char **)
{
	std::vector<int> numbers(static_cast<size_t>(argc) * 10);
	std::map<std::string, int> names;
	try {
		return outer::counted(numbers, names) + local(argc) + part(argc);
	} catch (const std::overflow_error &error) {
		return error.what()[0];
	}
}

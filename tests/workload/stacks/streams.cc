/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * streams SECONDS: formats, reads and sorts numbers by the C++ library, which distributions build
 * without frame pointers: its functions use their register for data, so that call chains by frame
 * pointers lead to addresses at which there is no code.
 */
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

static size_t round_trip(std::map<std::string, size_t> &counts)
{
	std::ostringstream out;
	for (int i = 0; i < 5000; i++)
		out << i * 7919 % 10007 << ' ' << i * 0.5 << '\n';
	std::istringstream in(out.str());
	std::string number, half;
	std::vector<std::string> halves;
	while (in >> number >> half) {
		counts[number]++;
		halves.push_back(half);
	}
	std::sort(halves.begin(), halves.end());
	std::stable_sort(halves.begin(), halves.end(),
			 [](const std::string &a, const std::string &b) { return b < a; });
	return halves.size();
}

int main(int argc, char **argv)
{
	using clock = std::chrono::steady_clock;
	auto end = clock::now() + std::chrono::duration<double>(argc > 1 ? atof(argv[1]) : 1);
	std::map<std::string, size_t> counts;
	size_t sum = 0;
	while (clock::now() < end)
		sum += round_trip(counts);
	std::cout << sum << ' ' << counts.size() << '\n';
}

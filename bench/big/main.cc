/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * big [SECONDS|xTIMES [THREADS]]: runs the parts in random order (the same in each run)
 * for SECONDS of CPU time in each thread, or TIMES parts in each, and prints
 * "CPU_NS WALL_NS CHECKSUM" of the process. PARTS(x) comes from bench/big.sh.
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <thread>
#include <vector>
#include "part.h"

#define DECLARE(n) uint64_t part_##n(uint64_t seed);
PARTS(DECLARE)
#define ENTRY(n) part_##n,
static uint64_t (*const parts[])(uint64_t seed) = {PARTS(ENTRY)};

static uint64_t clock_ns(clockid_t clock)
{
	timespec now;
	clock_gettime(clock, &now);
	return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

static void run(uint64_t thread, uint64_t times, uint64_t end_ns, uint64_t *sum)
{
	uint64_t state = (thread + 1) * 6364136223846793005u;
	for (uint64_t i = 0; i < times; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		*sum += parts[(state >> 33) % std::size(parts)](state >> 20);
		if (end_ns != UINT64_MAX && clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns)
			break;
	}
}

int main(int argc, char **argv)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const char *amount = argc > 1 ? argv[1] : "5";
	bool counted = amount[0] == 'x';
	uint64_t times = counted ? strtoull(amount + 1, nullptr, 10) : UINT64_MAX;
	uint64_t end_ns = counted ? UINT64_MAX : static_cast<uint64_t>(atof(amount) * 1e9);
	uint64_t threads = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
	std::vector<uint64_t> sums(threads ? threads : 1);
	std::vector<std::thread> others;
	for (uint64_t i = 1; i < threads; i++)
		others.emplace_back(run, i, times, end_ns, &sums[i]);
	run(0, times, end_ns, &sums[0]);
	for (auto &other : others)
		other.join();
	uint64_t sum = 0;
	for (uint64_t one : sums)
		sum += one;
	printf("%llu %llu %016llx\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin_ns), (unsigned long long)sum);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drains CPUS THREADS RECORD_BYTES RECORDS [RING_KB [BURST PAUSE_US]]: measures the cost of
 * draining CPUS CPUs. A ring of plain memory and a thread that fills it simulate each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* In place of the tests' own: there is no test here that could fail. */
#define UNIT_TEST_H
#define ck_assert(condition) ((condition) ? (void)0 : abort())
#define ck_assert_ptr_nonnull(pointer) ck_assert(pointer)
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_int_ge(a, b) ck_assert((a) >= (b))
#define ok_or_fail(call) ck_assert(!(call))
#include "../tests/unit/simulated_cpus.h"

static double number(int argc, char **argv, int index, double otherwise)
{
	return index < argc ? atof(argv[index]) : otherwise;
}

int main(int argc, char **argv)
{
	struct rlimit files = {65536, 65536};
	if (argc < 5) {
		fprintf(stderr, "usage: drains CPUS THREADS RECORD_BYTES RECORDS [RING_KB [BURST "
				"PAUSE_US]]\n");
		return 2;
	}
	(void)setrlimit(RLIMIT_NOFILE, &files);
	struct simulation simulation = {
		.cpus = (size_t)number(argc, argv, 1, 1), .threads = (size_t)number(argc, argv, 2, 1),
		.record_bytes = (uint16_t)number(argc, argv, 3, 104),
		.records = (uint64_t)number(argc, argv, 4, 1000),
		.ring_bytes = (size_t)number(argc, argv, 5, 64) << 10,
		.burst = (uint32_t)number(argc, argv, 6, 16),
		.pause_us = (uint32_t)number(argc, argv, 7, 10000),
	};
	struct drains_counts counts = simulation_run(&simulation);
	uint64_t seen = 0, dropped = 0, wrong = 0;
	for (size_t i = 0; i < simulation.cpus; i++) {
		seen += simulation.cpu[i].seen;
		dropped += simulation.cpu[i].dropped;
		wrong += simulation.cpu[i].wrong;
	}
	double records = seen ? (double)seen : 1;
	double wakeups = counts.wakeups ? (double)counts.wakeups : 1;
	printf("%zu CPUs, %zu threads, %u bytes: %llu read, %llu dropped, %llu wrong; "
	       "threads %.0f ns a record, %.1f us a wake-up (%.1f records each); "
	       "reader %.0f ns a record, %.1f us a round\n",
	       simulation.cpus, counts.threads, simulation.record_bytes, (unsigned long long)seen,
	       (unsigned long long)dropped, (unsigned long long)wrong,
	       (double)counts.cpu_ns / records, (double)counts.cpu_ns / 1000 / wakeups,
	       records / wakeups, (double)simulation.reader_ns / records,
	       (double)simulation.reader_ns / 1000 / (double)simulation.rounds);
	simulation_deinit(&simulation);
	return wrong != 0;
}

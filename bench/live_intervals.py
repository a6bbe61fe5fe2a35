#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts how often the intervals of `sprof report` hold for real runs: bench/live_intervals.py FOLDER [RUNS [KIND]...]

Each run is a program that stays in one() and two() in turns, as interval_study.py simulates it, and prints the share
of one() in its CPU time by its own clock. RUNS (default: 60) of each kind, of about 2 s. For gcc only the mean of all
runs is known: its ten hottest functions, between runs. $SPROF is the command, $CC the compiler. Finished runs stay in
FOLDER, so that an interrupted study goes on. Prints a table:

within   the share of this very run is in its within-run interval
between  the mean share of all runs is in the between-run interval
deff     design effect: mean square error over the binomial variance of the samples
width    median width of the within-run interval, as a multiple of the binomial one; of the between-run interval
"""
import csv
import io
import json
import os
import random
import statistics
import subprocess
import sys

import interval_study

SPROF = os.environ.get("SPROF", "sprof")
CC = os.environ.get("CC", "cc")
SECONDS = 2.0

# Reads "NS 0|1" of each stay. Threads and processes (-N) begin at different stays; a process makes one stay.
PROGRAM = r"""
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static struct stay { long long ns; int is_one; } stays[1 << 20];
static int count, threads;
static _Atomic long long *one_ns;
static long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}
#define STAY(NAME) \
	__attribute__((noinline)) long long NAME(uint64_t *x, long long ns) \
	{ \
		/* It reads the clock itself: a reading takes up to 5 us, which belong to it. */ \
		long long begin = now(CLOCK_THREAD_CPUTIME_ID), at = begin; \
		for (; at < begin + ns; at = now(CLOCK_THREAD_CPUTIME_ID)) \
			for (int i = 0; i < 20000; i++) { \
				*x = *x * 6364136223846793005u + 1; __asm__ volatile("" : "+r"(*x)); } \
		return at - begin; \
	}
STAY(one)
STAY(two)
static void stay(const struct stay *stay)
{
	static __thread uint64_t x = 1;
	long long ns = (stay->is_one ? one : two)(&x, stay->ns);
	if (stay->is_one)
		*one_ns += ns;
}
static void *work(void *number)
{
	for (int i = 0; i < count / threads; i++)
		stay(&stays[((long)number * (count / threads) + i) % count]);
	return NULL;
}
int main(int argc, char **argv)
{
	threads = atoi(argv[1]);
	one_ns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	while (scanf("%lld %d", &stays[count].ns, &stays[count].is_one) == 2)
		count++;
	for (int i = 0; threads < 0 && i < count; i++) {
		if (fork() == 0) {
			stay(&stays[i]);
			_exit(0);
		}
		wait(NULL);
	}
	pthread_t all[64];
	for (long i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	struct rusage children;
	getrusage(RUSAGE_CHILDREN, &children);
	double total = now(CLOCK_PROCESS_CPUTIME_ID) +
		1e9 * (children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
		1e3 * (children.ru_utime.tv_usec + children.ru_stime.tv_usec);
	printf("%.6f\n", *one_ns / total);
}
"""

SCRIPT = """
import sys, time
clock = time.thread_time_ns
def one(end):
    while clock() < end:
        for i in range(200): pass
def two(end):
    while clock() < end:
        for i in range(200): pass
spent = 0
for line in sys.stdin:
    ns, is_one = map(int, line.split())
    begin = clock()
    (one if is_one else two)(begin + ns)
    if is_one: spent += clock() - begin
print("%.6f" % (spent / time.process_time_ns()))
"""

# Name, maker of stays, threads (-1: a process each; None: Python), options of record.
KINDS = [
    ("stays of 0.2 ms", interval_study.switching(0.0004), 1, []),
    ("stays of 2 ms", interval_study.switching(0.004), 1, []),
    ("stays of 2 ms, task scope", interval_study.switching(0.004), 1, ["--scope", "task"]),
    ("bursts of 20 ms", interval_study.switching(0.04, interval_study.heavy), 1, []),
    ("bursts of 0.1 s", interval_study.switching(0.2, interval_study.heavy), 1, []),
    ("phases of 0.3 s, random", interval_study.switching(0.6), 1, []),
    ("periodic, 50 ms", interval_study.periodic(0.05), 1, []),
    ("periodic, 0.6 s", interval_study.periodic(0.6), 1, []),
    ("periodic, 1 ms", interval_study.periodic(0.001), 1, []),
    ("periodic, 1 ms, 1,000 Hz", interval_study.periodic(0.001), 1, ["-F", "1000"]),
    ("periodic, 10 ms, 99 Hz", interval_study.periodic(0.01), 1, ["-F", "99"]),
    ("4 threads, stays of 2 ms", interval_study.switching(0.004), 4, []),
    ("python3, stays of 2 ms", interval_study.switching(0.004), None, []),
    ("fork storm, 2 ms", interval_study.switching(0.004), -1, []),
    ("fork storm, 2 ms, task scope", interval_study.switching(0.004), -1, ["--scope", "task"]),
]


def rows_of(path):
    text = subprocess.run([SPROF, "report", "-q", "-s", "function", "--format", "csv", "-i", path], check=True,
                          capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def record(path, options, command, stdin=""):
    done = subprocess.run([SPROF, "record", "-q", "--no-summary", "-o", path, *options, "--", *command], check=True,
                          input=stdin, capture_output=True, text=True)
    return done.stdout


def run(folder, make, threads, options):
    """Records one run. Returns the true share and the row of one()."""
    path, found = os.path.join(folder, "run.data"), make()
    begins = [begin for begin, _ in found] + [SECONDS]
    stdin = "".join(f"{int(1e9 * (begins[i + 1] - begins[i]))} {int(found[i][1])}\n" for i in range(len(found)))
    command = [sys.executable, os.path.join(folder, "stays.py")] if threads is None else \
        [os.path.join(folder, "stays"), str(threads)]
    share = float(record(path, options, command, stdin))
    rows = rows_of(path)
    row = next((row for row in rows if row["function"].split(".")[-1] == "one"), {})
    return {"true": share, "samples": sum(float(row["self_samples"]) for row in rows), **{name: float(row.get(name) or 0) for name in (
        "total", "total_low", "total_high", "total_between_low", "total_between_high", "total_samples")}}


def table_row(name, results):
    mean = statistics.mean(result["true"] for result in results)
    within = sum(r["total_low"] <= r["true"] <= r["total_high"] for r in results)
    between = sum(r["total_between_low"] <= mean <= r["total_between_high"] for r in results)
    errors, widths, wide = [], [], []
    for r in results:
        samples = r.get("samples") or r["total_samples"] / r["total"]
        # A run may stay in one function.
        share = min(max(r["true"], 1 / samples), 1 - 1 / samples)
        variance = share * (1 - share) / samples
        errors.append((r["total"] - r["true"]) ** 2 / variance)
        widths.append((r["total_high"] - r["total_low"]) / (2 * 1.96 * variance ** 0.5))
        wide.append((r["total_between_high"] - r["total_between_low"]) / (2 * 1.96 * variance ** 0.5))
    print(f"{name:30} {len(results):4} {100 * within / len(results):6.1f}% {100 * between / len(results):7.1f}% "
          f"{statistics.mean(errors):6.2f} {max(errors) ** 0.5:5.1f} {statistics.median(widths):6.2f} "
          f"{statistics.median(wide):6.2f}", flush=True)


def study_gcc(folder, runs):
    """Counts how often the mean share of gcc's hottest functions is in a run's between-run interval."""
    source = os.path.join(folder, "source.c")
    tables = []
    for number in range(runs):
        with open(source, "w", encoding="utf-8") as file:
            for i in range(600):
                file.write(f"int f{i}(int *a, int n) {{ int s = {number}; for (int i = 0; i < n; i += {i % 7 + 1})"
                           f" s += a[i] * {random.randrange(13)} ^ a[n - i]; return s; }}\n")
        path = os.path.join(folder, "gcc.data")
        record(path, [], [CC, "-O2", "-S", "-o", "/dev/null", source])
        tables.append({row["dso"] + row["function"] if "dso" in row else row["function"]: row
                       for row in rows_of(path)})
    names = set().union(*tables)
    mean = {name: statistics.mean(float(table[name]["self"]) if name in table else 0 for table in tables)
            for name in names}
    held = tried = 0
    for name in sorted(names, key=mean.get)[-10:]:
        for table in tables:
            if name in table:
                tried += 1
                held += float(table[name]["self_between_low"]) <= mean[name] <= \
                    float(table[name]["self_between_high"])
    print(f"{'gcc, ten hottest functions':30} {runs:4} {'':7} {100 * held / tried:7.1f}%", flush=True)


def main():
    folder, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    os.makedirs(folder, exist_ok=True)
    interval_study.SECONDS = SECONDS
    with open(os.path.join(folder, "stays.py"), "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    subprocess.run([*CC.split(), "-O2", "-g", "-pthread", "-fno-omit-frame-pointer", "-x", "c", "-o",
                    os.path.join(folder, "stays"), "-"], input=PROGRAM, text=True, check=True)
    print(f"{'kind':30} runs  within  between   deff   max  width  (between)")
    for name, make, threads, options in KINDS:
        if sys.argv[3:] and not any(word in name for word in sys.argv[3:]):
            continue
        path = os.path.join(folder, name.replace(" ", "_") + ".results")
        results = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results = [json.loads(line) for line in file]
        with open(path, "a", encoding="utf-8") as file:
            for number in range(len(results), runs):
                random.seed(f"{name} {number}")
                results.append(run(folder, make, threads, options))
                file.write(json.dumps(results[-1]) + "\n")
                file.flush()
        table_row(name, results)
    if not sys.argv[3:] or "gcc" in sys.argv[3:]:
        study_gcc(folder, runs)


main()

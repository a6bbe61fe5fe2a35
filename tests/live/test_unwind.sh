#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Our unwinder, libunwind and libdw on the same stack copies, frame by frame: real programs,
# recorded by perf. Where they differ the reason must be in the table below.
# (tests/live/test_stacks.sh has programs with known chains.)
. "$top_srcdir/tests/tap.sh"
need_sampling
perf=$(command -v perf) || skip_all "needs perf, to record without us"
: "${CXX:=c++}"
compare=$top_builddir/tests/unwind/unwind_compare

# explained CLASS SECTION OUR_END: whether that is no fault of ours.
#
#	further	the oracle stops, with no frame that we do not have. It cannot tell that a
#		register has been popped where CFI goes on saying that it is saved (in the
#		last instructions of functions), nor say what a signal interrupted on
#		another stack.
#	.plt	entries of static programs have no CFI. The oracles go by the frame pointer,
#		which is that of a caller or none: they leave frames out. Ours are decoded.
#	-bare	of code that has no CFI (assembler of libgmp, crtbegin.o) nothing is known. The
#		oracles go by a frame pointer that need not be one: they leave a function
#		out, or end in data. Ours decode the first instructions and find the return
#		address, or say that they do not know.
explained() {
	case "$1 $2 $3" in
	"further "*" complete" | "further "*" truncated") return 0 ;;
	"shorter .text-bare no_info" | "shorter .init no_info" | "shorter .fini no_info" | "other .text-bare complete") return 0 ;;
	*" .plt complete" | *" .iplt complete" | *" .plt truncated" | *" .iplt truncated") return 0 ;;
	*) return 1 ;;
	esac
}

# judge NAME AT_LEAST: the recording $tmp/data must have AT_LEAST samples, and 96 % must be equal
# to the last frame; each other one must be explained, but for one in 2,000.
judge() {
	"$compare" "$tmp/data" >"$tmp/compared" 2>"$tmp/err" || {
		not_ok "$1" "$(cat "$tmp/err")"
		return
	}
	for oracle in libunwind libdw; do
		set -- "$1" "$2" $(awk -v oracle=$oracle '
			$1 == oracle && $2 == "samples" { print $3, $5 }' "$tmp/compared")
		if [ $# -lt 4 ]; then
			skip "$1 as $oracle unwinds it" "this build has no $oracle"
			continue
		fi
		comment "$1: $4 of $3 samples as $oracle has them"
		unexplained= strange=0
		while read -r who class count at place section ours our_end theirs their_end rest; do
			[ "$who" = $oracle ] && [ "$class" != samples ] || continue
			explained "$class" "$section" "$our_end" && continue
			strange=$((strange + count))
			unexplained="$unexplained
$who $class $count $at $place $section ($ours $our_end, $theirs $their_end $rest)"
		done <"$tmp/compared"
		if [ "$3" -lt "$2" ]; then
			not_ok "$1 as $oracle unwinds it" "only $3 samples"
		elif [ $(($4 * 100)) -lt $(($3 * 96)) ] || [ $((strange * 2000)) -gt "$3" ]; then
			not_ok "$1 as $oracle unwinds it" "$4 of $3 are the same.$unexplained"
		else
			ok "$1 as $oracle unwinds it"
		fi
		set -- "$1" "$2"
	done
}

# compares NAME AT_LEAST COMMAND...
compares() {
	name=$1 least=$2
	shift 2
	"$perf" record -q --no-buildid -e cpu-clock:u -F 997 --call-graph dwarf,8192 \
		-o "$tmp/data" -- "$@" >"$tmp/out" 2>"$tmp/err"
	[ -s "$tmp/data" ] || {
		skip "$name" "perf does not record: $(tail -n 1 "$tmp/err")"
		return
	}
	judge "$name" "$least"
}

cat >"$tmp/stl.cc" <<'END'
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

struct base {
	virtual ~base() {}
	virtual int get(int) = 0;
};

struct thrower : base {
	int get(int x) override
	{
		if (x % 7 == 0)
			throw std::runtime_error("seven");
		return x * 3;
	}
};

static int nest(int depth, std::function<int(int)> function)
{
	if (depth == 0)
		return function(depth);
	return nest(depth - 1, [&](int x) { return function(x) + 1; });
}

int main()
{
	std::mt19937 random(1);
	std::map<std::string, std::vector<int>> map;
	std::unordered_map<int, std::string> table;
	std::regex pattern("(a|b)*c[0-9]+");
	thrower object;
	long sum = 0;
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
	while (std::chrono::steady_clock::now() < end) {
		for (int i = 0; i < 200; i++) {
			map[std::to_string(random() % 1000)].push_back((int)random());
			table[(int)(random() % 500)] = std::string(random() % 60, 'x');
		}
		std::vector<int> all;
		for (auto &entry : map)
			all.insert(all.end(), entry.second.begin(), entry.second.end());
		std::sort(all.begin(), all.end(), [](int a, int b) { return a < b; });
		std::stable_sort(all.begin(), all.end());
		for (int i = 1; i < 50; i++) {
			try {
				sum += object.get(i);
			} catch (std::exception &error) {
				sum += error.what()[0];
			}
		}
		sum += nest(20, [](int x) { return x; }) + std::regex_match("ababababc123", pattern);
		std::ostringstream out;
		for (int i = 0; i < 100; i++)
			out << i << ' ' << i * 1.5 << std::hex << i;
		sum += (long)out.str().size();
		if (map.size() > 900)
			map.clear();
	}
	printf("%ld\n", sum);
}
END

cat >"$tmp/libc.c" <<'END'
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile double sum;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void on_alarm(int number)
{
	char text[64];
	for (int i = 0; i < 30; i++)
		sum += snprintf(text, sizeof(text), "%d %g", number, i * 1.1);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void *work(void *end)
{
	unsigned int x = 1;
	while (now() < *(double *)end) {
		void *blocks[64];
		int values[500];
		char text[256];
		for (int i = 0; i < 64; i++)
			blocks[i] = malloc((x = x * 1103515245 + 12345) % 5000 + 1);
		for (int i = 0; i < 64; i++)
			free(blocks[i]);
		for (int i = 0; i < 500; i++)
			values[i] = (int)((x = x * 1103515245 + 12345) >> 3);
		qsort(values, 500, sizeof(*values), compare);
		for (int i = 0; i < 50; i++) {
			snprintf(text, sizeof(text), "%f %s %lld %e", i * 3.3, "abc", (long long)x, sin(i));
			sum += strtod(text, NULL) + (double)strlen(text);
		}
		time_t seconds = time(NULL);
		struct tm parts;
		localtime_r(&seconds, &parts);
		sum += (double)strftime(text, sizeof(text), "%c", &parts);
		regex_t pattern;
		regcomp(&pattern, "(a|b)*c[0-9]+x", REG_EXTENDED);
		sum += regexec(&pattern, "abababababc123123", 0, NULL, 0);
		regfree(&pattern);
	}
	return NULL;
}

int main(void)
{
	double end = now() + 0.7;
	struct itimerval often = {{0, 3000}, {0, 3000}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_t threads[2];
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &end);
	work(&end);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return !(sum != 0);
}
END

if "$CXX" -O2 -o "$tmp/stl" "$tmp/stl.cc" 2>"$tmp/err"; then
	noisy compares "a C++ program" 100 "$tmp/stl"
	noisy compares "the C++ compiler" 100 "$CXX" -O2 -c -o "$tmp/stl.o" "$tmp/stl.cc"
else
	skip "C++ programs" "$(tail -n 1 "$tmp/err")"
fi
for how in '' -static -static-pie '-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer'; do
	if "$CC" -O2 -w $how -o "$tmp/libc" "$tmp/libc.c" -lm -lpthread 2>"$tmp/err"; then
		noisy compares "the C library${how:+, $how}" 100 "$tmp/libc"
	else
		skip "the C library, $how" "$(tail -n 1 "$tmp/err")"
	fi
done
# Compiled with its call frame information in .debug_frame, which is not loaded.
if "$CC" -O2 -g -w -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-o "$tmp/libc" "$tmp/libc.c" -lm -lpthread 2>"$tmp/err"; then
	noisy compares "code with .debug_frame alone" 100 "$tmp/libc"
	"$SPROF" report -i "$tmp/data" --unwinder libunwind --format folded --no-inline \
		>"$tmp/folded" 2>"$tmp/err"
	if grep -q 'libunwind' "$tmp/err"; then
		skip "libunwind has .debug_frame" "$(tail -n 1 "$tmp/err")"
	else
		check "libunwind has .debug_frame" awk '
			/;work;/ { all += $NF; whole += /;(_start|clone|clone3|__clone3|(fn@[^;]* )?\[libc\.so\.6\]);/ ? $NF : 0 }
			END { exit all < 100 || whole * 100 < all * 95 }' "$tmp/folded"
	fi
else
	skip "code with .debug_frame alone" "$(tail -n 1 "$tmp/err")"
fi
if [ -x /usr/bin/python3 ]; then
	noisy compares "Python" 50 /usr/bin/python3 -c '
import json, random, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
for i in range(12):
	json.loads(json.dumps([{"a": random.random(), "b": str(x)} for x in range(2000)]))
	re.sub(r"(\w+) (\d+)", lambda m: m.group(2), "abc 123 " * 500)
	fib(15)
	sorted([str(random.random()) for _ in range(4000)], key=lambda s: s[::-1])'
else
	skip "Python" "there is no /usr/bin/python3"
fi
cat >"$tmp/program.rs" <<'END'
use std::collections::{BTreeMap, HashMap};
fn nest(depth: u32, map: &mut BTreeMap<u64, String>) -> usize {
    if depth == 0 {
        let mut count: HashMap<String, usize> = HashMap::new();
        for i in 0..200u64 {
            *count.entry(format!("{:x}", i * 7919 % 101)).or_insert(0) += 1;
            map.insert(i * 7919 % 1009, format!("{:?}", (i, i as f64 * 1.5)));
        }
        return count.len() + map.values().map(|v| v.len()).sum::<usize>();
    }
    nest(depth - 1, map) + 1
}
fn main() {
    let start = std::time::Instant::now();
    let mut sum = 0;
    while start.elapsed().as_millis() < 500 {
        sum += nest(10, &mut BTreeMap::new());
    }
    println!("{}", sum);
}
END
if command -v rustc >/dev/null && rustc -O -o "$tmp/program" "$tmp/program.rs" 2>"$tmp/err"; then
	noisy compares "a Rust program" 50 "$tmp/program"
else
	skip "a Rust program" "there is no rustc"
fi
finish

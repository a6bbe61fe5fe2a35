#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts right and wrong verdicts of `sprof diff`, on recordings with a known difference.

Records runs of each program into FOLDER, in turns and random order, and compares random samples of them: a
program with itself (each verdict is false), and with a version whose function `target` takes a known part
more time. Other rules decide on the same samples:

    permutation  a function's mean time, by an exact or sampled permutation test, and Benjamini-Hochberg over
                 all functions (as StackGate 0.1.1 documents it, without a noise floor)
    paired       the whole command's CPU time: mean of the differences of pairs, +- 2.0 standard errors (as
                 perfgate 0.17 does below 30 pairs)

"forecast" is the mean of the smallest changes of `target`, in percent, that the runs would find in 9 of 10
comparisons, as sprof's output says. "sure" counts comparisons in which it is no larger than the true change, and
those of them that found it.

Runs and comparisons that are in FOLDER stay: the study goes on where --minutes or an interrupt ended it.
$SPROF is the command, $CC the compiler. Prints a table of what is known so far.
"""
import argparse
import csv
import io
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time

SPROF = os.environ.get("SPROF", "sprof")
CC = os.environ.get("CC", "cc")
SIDES = (3, 5, 10)
SLOWER = (5, 10, 20, 45)
FOUND = ("slower", "faster", "new", "gone")
PERMUTATIONS = 2000
FIELDS = ("base", "new", "runs", "index", "false", "target", "covered", "permutation_false",
          "permutation_target", "paired", "detectable")

PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
static volatile unsigned sink;
static unsigned table[1 << 20];
#define WORK(name, code) __attribute__((noinline)) static void name(unsigned n) \
	{ unsigned x = n; for (unsigned i = 0; i < n; i++) { code; } sink += x; }
WORK(add, x = x * 1664525 + i)
WORK(shift, x ^= x << 13; x ^= x >> 17; x ^= x << 5)
WORK(divide, x += 1000000007u / (i + 1))
WORK(chase, x += table[(x * 2654435761u) >> 12])
WORK(store, table[(i * 40503u) & 0xfffff] = x; x += i)
WORK(branch, if ((x = x * 69069 + 1) & 0x10000) x += i; else x ^= i)
WORK(target, x = x * 22695477 + 1)
static unsigned loops;
static void *work(void *unused)
{
	unsigned short bursts[6] = {0};
	if (BURSTS && getrandom(bursts, sizeof(bursts), 0) != sizeof(bursts))
		return unused;
	for (unsigned i = 0; i < loops; i++) {
		/* With BURSTS, each function's share differs between runs by up to a tenth. */
		unsigned n[6];
		for (int j = 0; j < 6; j++)
			n[j] = 1000 + (BURSTS ? bursts[j] % 100 : 0);
		add(2000 * n[0]); shift(1500 * n[1]); divide(800 * n[2]);
		chase(400 * n[3]); store(900 * n[4]); branch(700 * n[5]);
		target(1000000 / 100 * (100 + SLOWER));
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	loops = (unsigned)atoi(argv[argc - 1]) / THREADS + 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""

SCRIPT = """
import json, re, sqlite3, sys
loops = int(sys.argv[2])
if sys.argv[1] == "sqlite":
    base = sqlite3.connect(":memory:")
    base.execute("create table t (a integer primary key, b text, c integer)")
    base.executemany("insert into t values (?, ?, ?)", ((i, str(i * 7919), i % 97) for i in range(20000)))
    for _ in range(loops):
        base.execute("select c, count(*), max(b) from t where b like '%7%' group by c order by 2").fetchall()
else:
    data = {str(i): [i] * 5 for i in range(200)}
    for _ in range(loops):
        for _ in range(10): json.loads(json.dumps(data))
        for _ in range(25): re.findall(r"[a-z]+[0-9]", "abc1 def2 " * 50)
        for _ in range(7): sorted(range(5000), key=lambda x: -x)
"""


class Study:
    """Recordings and results in one folder."""

    def __init__(self, options):
        self.folder = options.folder
        self.runs = options.runs
        self.end = time.monotonic() + 60 * options.minutes
        self.commands = {}
        self.times = {}
        self.results = []
        os.makedirs(self.folder, exist_ok=True)
        self.prefix = options.prefix.split()
        self.make_programs(options.seconds)
        if options.programs:
            self.commands = {name: self.commands[name] for name in options.programs.split(",")}
        self.table = os.path.join(self.folder, "results.csv")
        if os.path.exists(self.table):
            with open(self.table, encoding="utf-8") as file:
                self.results = [row for row in csv.DictReader(file) if row["paired"]]

    def over(self):
        return time.monotonic() > self.end

    def make_programs(self, seconds):
        source = os.path.join(self.folder, "program.c")
        script = os.path.join(self.folder, "script.py")
        for path, text in (source, PROGRAM), (script, SCRIPT):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        loops = str(int(150 * seconds))
        variants = [(f"c{percent}", percent, 1, 0) for percent in (0,) + SLOWER]
        for name, percent, threads, bursts in variants + [("threads", 0, 16, 0), ("bursts", 0, 1, 1)]:
            path = os.path.join(self.folder, name)
            if not os.path.exists(path):
                subprocess.run([CC, "-O1", "-g", "-pthread", f"-DSLOWER={percent}", f"-DTHREADS={threads}",
                                f"-DBURSTS={bursts}", "-o", path, source], check=True)
            self.commands[name] = [path, loops]
        for name, rate in ("python", 40), ("sqlite", 40):
            self.commands[name] = [sys.executable, script, name, str(int(rate * seconds) + 1)]
        source = os.path.join(self.folder, "functions.c")
        with open(source, "w", encoding="utf-8") as file:
            for i in range(int(500 * seconds)):
                file.write(f"int f{i}(int *a, int n) {{ int s = {i}; for (int i = 0; i < n; i += {i % 7 + 1})"
                           f" s += a[i] * {i % 13} ^ a[n - i]; return s; }}\n")
        self.commands["cc"] = [CC, "-O2", "-S", "-o", "/dev/null", source]

    def path(self, name, run):
        return os.path.join(self.folder, f"{name}.{run}.data")

    def record(self):
        """Records what is missing, each round in random order. Returns whether all is there."""
        for run in range(self.runs):
            names = list(self.commands)
            random.shuffle(names)
            for name in names:
                path = self.path(name, run)
                if os.path.exists(path):
                    continue
                if self.over():
                    return False
                subprocess.run([SPROF, "record", "-q", "--no-summary", "-F", "4999", "-o", path + ".part", "--"] +
                               self.prefix + self.commands[name], check=True, stdout=subprocess.DEVNULL)
                os.rename(path + ".part", path)
        return True

    def times_of(self, name, run):
        """Returns the time of each function in a run."""
        path = self.path(name, run)
        if path not in self.times:
            cache = path + ".times"
            if not os.path.exists(cache):
                done = subprocess.run([SPROF, "report", "-q", "-i", path, "-s", "dso,function", "--format", "csv",
                                       "--no-children"], capture_output=True, text=True, check=True)
                times = {}
                for row in csv.DictReader(io.StringIO(done.stdout)):
                    # Versions of the program have different names.
                    key = row["function"] if row["dso"].startswith(name) else row["dso"] + " " + row["function"]
                    times[key] = times.get(key, 0) + int(row["self_weight"])
                with open(cache, "w", encoding="utf-8") as file:
                    json.dump(times, file)
            with open(cache, encoding="utf-8") as file:
                self.times[path] = json.load(file)
        return self.times[path]

    def compare(self, base, new, runs, index):
        """Compares samples of runs once, by all rules. Returns a row of the results."""
        draw = random.Random(f"{base} {new} {runs} {index}")
        # Runs of both sides are neighbours, as in record --repeat: of one round, or of two.
        rounds = draw.sample(range(self.runs // 2), runs)
        numbers = [draw.sample((2 * i, 2 * i + 1), 2) if new == base else (2 * i, 2 * i) for i in rounds]
        chosen = [(base, [pair[0] for pair in numbers]), (new, [pair[1] for pair in numbers])]
        sides = [[self.path(name, run) for run in side] for name, side in chosen]
        done = subprocess.run([SPROF, "diff", "-q", "--format", "json"] + sides[0] + ["--"] + sides[1],
                              capture_output=True, text=True, check=True)
        rows = [row for row in json.loads(done.stdout)["rows"] if not row["rest"]]
        found = {row["function"] for row in rows if row["verdict"] in FOUND}
        slower = int(new[1:]) / 100 if new != base else 0
        target = [row for row in rows if row["function"] == "target"]
        covered = bool(target) and float(target[0]["change_low"]) <= slower <= float(target[0]["change_high"])
        times = [[self.times_of(name, run) for run in side] for name, side in chosen]
        permuted = permutation_rule(times, draw)
        result = {"base": base, "new": new, "runs": runs, "index": index,
                  "false": int(bool(found - {"target"} if slower else found)),
                  "target": int(bool(target) and target[0]["verdict"] == "slower"), "covered": int(covered),
                  "permutation_false": int(bool(permuted - {"target"} if slower else permuted)),
                  "permutation_target": int("target" in permuted), "paired": int(paired_rule(times)),
                  "detectable": target[0]["detectable"] if target else ""}
        return result

    def study(self, comparisons):
        """Makes the comparisons that are missing. Returns whether all are there."""
        known = {(row["base"], row["new"], int(row["runs"]), int(row["index"])) for row in self.results}
        pairs = [(name, name) for name in self.commands if name == "c0" or name[1:] not in map(str, SLOWER)]
        pairs += [("c0", f"c{percent}") for percent in SLOWER if f"c{percent}" in self.commands]
        with open(self.table, "a", encoding="utf-8") as file:
            table = csv.DictWriter(file, FIELDS)
            if not file.tell():
                table.writeheader()
            for index, runs, (base, new) in itertools.product(range(comparisons), SIDES, pairs):
                if 2 * runs > self.runs or (base, new, runs, index) in known:
                    continue
                if self.over():
                    return False
                self.results.append(self.compare(base, new, runs, index))
                table.writerow(self.results[-1])
                file.flush()
        return True

    def print(self):
        """Prints the numbers of comparisons: all, and those with each result."""
        print("                         ------- sprof diff -------  -- permutation --  paired  --- forecast ---")
        print("base     new      runs   of  false  target  covered   false  target     any     mean      sure")
        for base, new, runs in sorted({(row["base"], row["new"], int(row["runs"])) for row in self.results}):
            rows = [row for row in self.results if (row["base"], row["new"], int(row["runs"])) == (base, new, runs)]
            sums = {field: sum(int(row[field]) for row in rows) for field in FIELDS[4:-1]}
            if not base.startswith("c0"):
                sums["target"] = sums["permutation_target"] = sums["covered"] = "-"
            print(f"{base:8} {new:8} {runs:4} {len(rows):4}  {sums['false']:5}  {sums['target']:>6}  "
                  f"{sums['covered']:>7}   {sums['permutation_false']:5}  {sums['permutation_target']:>6}   "
                  f"{sums['paired']:5}  {forecast(new, rows)}")


def forecast(new, rows):
    """Returns the mean of target's detectable changes, and how often a larger one was found."""
    known = [row for row in rows if row.get("detectable")]
    if not known or rows[0]["base"] == new:
        return "       -          -"
    sure = [row for row in known if 100 * float(row["detectable"]) <= int(new[1:])]
    mean = statistics.mean(100 * float(row["detectable"]) for row in known)
    return f"{mean:7.1f}  {sum(int(row['target']) for row in sure):4}/{len(sure)}"


def permutation_rule(times, draw):
    """Returns the functions whose mean time differs: Benjamini-Hochberg at 5 % over permutation tests."""
    count, both = len(times[0]), times[0] + times[1]
    totals = sum(sum(run.values()) for run in both)
    functions = [name for name in set().union(*both) if sum(run.get(name, 0) for run in both) > 0.005 * totals]
    splits = list(itertools.combinations(range(2 * count), count))
    if len(splits) > PERMUTATIONS:
        splits = [tuple(range(count))] + draw.sample(splits, PERMUTATIONS)
    tests = []
    for name in functions:
        values = [run.get(name, 0) for run in both]
        half = sum(values) / 2
        seen = abs(sum(values[:count]) - half)
        tests.append((sum(abs(sum(values[i] for i in split) - half) >= seen for split in splits) / len(splits), name))
    tests.sort()
    passed = [i for i, (p, _) in enumerate(tests) if p <= 0.05 * (i + 1) / len(tests)]
    return {name for _, name in tests[:max(passed) + 1]} if passed else set()


def paired_rule(times):
    """Returns whether the interval of the mean difference of the whole time excludes 0."""
    differences = [sum(new.values()) - sum(base.values()) for base, new in zip(*times)]
    error = statistics.stdev(differences) / len(differences) ** 0.5
    return abs(statistics.mean(differences)) > 2.0 * error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=60, help="runs of each program (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2, help="about the length of a run (default: %(default)s)")
    parser.add_argument("--comparisons", type=int, default=100, help="of each kind (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=20, help="stop after that time (default: %(default)s)")
    parser.add_argument("--programs", help="record and compare these alone, as c0,c20 (default: all)")
    parser.add_argument("--prefix", default="", help="runs each program by this command, as 'chrt -f 10'")
    options = parser.parse_args()
    study = Study(options)
    complete = study.record() and study.study(options.comparisons)
    study.print()
    print("complete" if complete else "not complete: run the same command again")


main()

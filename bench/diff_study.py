#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts right and wrong verdicts of `sprof diff`: bench/diff_study.py FOLDER [RUNS [COMPARISONS]]

Records RUNS (default: 60) runs of each program into FOLDER, in turns; runs that are there stay, so an
interrupted study goes on. Then compares random samples of them, COMPARISONS (default: 100) for each number
of runs: a program with itself (each verdict is false), and with a version whose function `target` takes a
known part more time. $SPROF is the command, $CC the compiler. Prints a table.
"""
import csv
import io
import os
import random
import subprocess
import sys

SPROF = os.environ.get("SPROF", "sprof")
CC = os.environ.get("CC", "cc")
SIDES = (3, 5, 10)
SLOWER = (5, 10, 20, 45)
FOUND = ("slower", "faster", "new", "gone")

PROGRAM = """
static volatile unsigned sink;
static unsigned table[1 << 20];
#define WORK(name, code) __attribute__((noinline)) static void name(unsigned n) \\
	{ unsigned x = n; for (unsigned i = 0; i < n; i++) { code; } sink += x; }
WORK(add, x = x * 1664525 + i)
WORK(shift, x ^= x << 13; x ^= x >> 17; x ^= x << 5)
WORK(divide, x += 1000000007u / (i + 1))
WORK(chase, x += table[(x * 2654435761u) >> 12])
WORK(store, table[(i * 40503u) & 0xfffff] = x; x += i)
WORK(branch, if ((x = x * 69069 + 1) & 0x10000) x += i; else x ^= i)
WORK(target, x = x * 22695477 + 1)
int main(void)
{
	for (int i = 0; i < 30; i++) {
		add(2000000); shift(1500000); divide(800000); chase(400000); store(900000); branch(700000);
		target(1000000 / 100 * (100 + SLOWER));
	}
	return 0;
}
"""

SCRIPT = """
import json, re
data = {str(i): [i] * 5 for i in range(200)}
for _ in range(2):
    for _ in range(60): json.loads(json.dumps(data))
    for _ in range(150): re.findall(r"[a-z]+[0-9]", "abc1 def2 " * 50)
    for _ in range(40): sorted(range(5000), key=lambda x: -x)
"""


def make_programs(folder):
    """Returns the commands by name: versions of a C program, and a Python script."""
    source = os.path.join(folder, "program.c")
    script = os.path.join(folder, "script.py")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    with open(script, "w", encoding="utf-8") as file:
        file.write(SCRIPT)
    commands = {"python": [sys.executable, script]}
    for percent in (0,) + SLOWER:
        path = os.path.join(folder, f"program{percent}")
        if not os.path.exists(path):
            subprocess.run([CC, "-O1", "-g", f"-DSLOWER={percent}", "-o", path, source], check=True)
        commands[f"c{percent}"] = [path]
    return commands


def path_of(folder, name, run):
    return os.path.join(folder, f"{name}.{run}.data")


def record(folder, commands, runs):
    """Records what is missing, each round in random order."""
    for run in range(runs):
        names = list(commands)
        random.shuffle(names)
        for name in names:
            path = path_of(folder, name, run)
            if os.path.exists(path):
                continue
            subprocess.run([SPROF, "record", "-q", "-F", "4999", "-o", path + ".part", "--"] +
                           commands[name], check=True, stdout=subprocess.DEVNULL)
            os.rename(path + ".part", path)


def compare(base, new):
    """Returns the rows of a comparison."""
    done = subprocess.run([SPROF, "diff", "-q", "--format", "csv"] + base + ["--"] + new,
                          capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def study(folder, base, new, count, runs, comparisons):
    """Returns numbers of comparisons: any false verdict, target found, interval of target right, and rows."""
    false = found = covered = rows_of_all = 0
    slower = int(new[1:]) / 100 if new != base else 0
    for _ in range(comparisons):
        chosen = random.sample(range(runs), 2 * count)
        rows = compare([path_of(folder, base, run) for run in chosen[:count]],
                       [path_of(folder, new, run) for run in chosen[count:]])
        rows_of_all += len(rows)
        false += any(row["verdict"] in FOUND and row["function"] != "target" for row in rows) or \
            (new == base and any(row["verdict"] in FOUND for row in rows))
        for row in rows:
            if row["function"] == "target":
                found += row["verdict"] == "slower"
                covered += float(row["change_low"]) <= slower <= float(row["change_high"])
    return false, found, covered, rows_of_all / comparisons


def main():
    folder = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    comparisons = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    os.makedirs(folder, exist_ok=True)
    random.seed(1)
    commands = make_programs(folder)
    record(folder, commands, runs)
    print(f"{runs} runs of each, {comparisons} comparisons a line")
    print("base     new      runs  false  target found  interval right  rows")
    pairs = [("c0", "c0"), ("python", "python")] + [("c0", f"c{percent}") for percent in SLOWER]
    for base, new in pairs:
        for count in SIDES:
            if 2 * count > runs:
                continue
            false, found, covered, rows = study(folder, base, new, count, runs, comparisons)
            target = f"{found:12}  {covered:14}" if base != "python" else f"{'-':>12}  {'-':>14}"
            print(f"{base:8} {new:8} {count:4}  {false:5}  {target}  {rows:4.1f}", flush=True)


main()

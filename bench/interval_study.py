#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts how often the intervals of `sprof report` hold: bench/interval_study.py FOLDER [RUNS]

Simulates runs of programs whose shares are known, each as a recording of two threads "one" and "two" (by
$RECORDING, tests/cli/recording of the build), and reports them ($SPROF). RUNS (default: 400) of each kind. A finished
kind stays in FOLDER, so an interrupted study goes on. Prints a table:

within   "one"'s share of this very run is in its within-run interval
between  its mean share in all runs is in the between-run interval; by the within-run interval for comparison
marked   runs with the mark "~"
width    median width of the between-run interval, as a multiple of the within-run one
"""
import csv
import io
import os
import random
import statistics
import subprocess
import sys

SPROF = os.environ.get("SPROF", "sprof")
RECORDING = os.environ.get("RECORDING", "tests/cli/recording")
RATE = 997
SECONDS = 4.0
SHARE = 0.3


def stays(mean_one, mean_two, draw):
    """Returns the begins of stays in "one" and in "two", in turns, until SECONDS: a list of (begin, is_one)."""
    at, is_one, found = 0.0, random.random() < SHARE, []
    while at < SECONDS:
        found.append((at, is_one))
        at += draw(mean_one if is_one else mean_two)
        is_one = not is_one
    return found


def exponential(mean):
    return random.expovariate(1 / mean)


def heavy(mean):
    return mean * random.lognormvariate(-0.72, 1.2)


def switching(mean, draw=exponential):
    """Returns a kind of runs: stays of these mean lengths in seconds, so that SHARE is the mean share."""
    return lambda: stays(mean * SHARE, mean * (1 - SHARE), draw)


def periodic(period):
    def make():
        # The first period is cut at a random point.
        begin, found = -random.random() * period, []
        while begin < SECONDS:
            found.append((max(begin, 0), True))
            found.append((min(max(begin + SHARE * period, 0), SECONDS), False))
            begin += period
        return found
    return make


# Name, maker, least percent of runs with the truth in the within-run and in the between-run interval (None: the
# study states the number only).
KINDS = [
    ("stationary: stays of 0.2 ms", switching(0.0004), 93, 93),
    ("stationary: stays of 2 ms", switching(0.004), 93, 93),
    ("bursts of 20 ms", switching(0.04, heavy), 93, 93),
    ("bursts of 0.1 s", switching(0.2, heavy), 93, None),
    ("phases of 0.3 s, random", switching(0.6), 93, None),
    ("periodic, 50 ms", periodic(0.05), 93, 93),
    ("periodic, 0.6 s", periodic(0.6), 93, 93),
    ("periodic, 1 ms", periodic(0.001), None, None),
]


def simulate(path, found):
    """Writes a recording with samples each 1/RATE s; returns the share of "one" in its time."""
    begins = [begin for begin, _ in found] + [SECONDS]
    spent = sum(begins[i + 1] - begins[i] for i in range(len(found)) if found[i][1]) / SECONDS
    period = int(1e9 / RATE)
    first = 1000000000 + random.randrange(period)
    lines, at, last = [], 0, first
    for time in range(first, 1000000000 + int(SECONDS * 1e9), period):
        while begins[at + 1] * 1e9 + 1e9 <= time:
            at += 1
        lines.append(f"sample 0 1 {1 if found[at][1] else 2} 0 {time} {period} 0x401000")
        last = time
    head = ["event cpu-clock", f"span {first} {last}", "comm 1 1 one", "comm 1 2 two"]
    subprocess.run([RECORDING, path], input="\n".join(head + lines) + "\n", text=True, check=True)
    return spent


def intervals(path):
    """Returns the row of "one", by column."""
    text = subprocess.run([SPROF, "report", "-q", "-s", "comm", "--format", "csv", "-i", path], check=True,
                          capture_output=True, text=True).stdout
    for row in csv.DictReader(io.StringIO(text)):
        if row["comm"] == "one":
            return {name: float(row[name]) for name in ("self_low", "self_high", "self_between_low",
                                                         "self_between_high")}
    return None


def is_marked(path):
    text = subprocess.run([SPROF, "report", "-q", "-s", "comm", "-i", path], check=True, capture_output=True,
                          text=True).stdout
    return any("~" in line and "one" in line for line in text.splitlines())


def study(folder, name, make, runs):
    """Returns one line of results: counts of runs, and the width."""
    path, ratios = os.path.join(folder, "run.data"), []
    counts = {"runs": 0, "within": 0, "between": 0, "within_mean": 0, "marked": 0}
    for _ in range(runs):
        spent = simulate(path, make())
        row = intervals(path)
        if not row:
            continue
        counts["runs"] += 1
        counts["within"] += row["self_low"] <= spent <= row["self_high"]
        counts["within_mean"] += row["self_low"] <= SHARE <= row["self_high"]
        counts["between"] += row["self_between_low"] <= SHARE <= row["self_between_high"]
        counts["marked"] += is_marked(path)
        ratios.append((row["self_between_high"] - row["self_between_low"]) / (row["self_high"] - row["self_low"]))
    return [name] + [str(counts[key]) for key in counts] + [f"{statistics.median(ratios):.2f}"]


def main():
    folder, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 400
    os.makedirs(folder, exist_ok=True)
    good = True
    print(f"{'kind':30} runs  within  between  (by within)  marked  width")
    for number, (name, make, within, between) in enumerate(KINDS):
        random.seed(number)
        path = os.path.join(folder, f"{number}.{runs}.result")
        if not os.path.exists(path):
            line = "\t".join(study(folder, name, make, runs))
            with open(path + ".part", "w", encoding="utf-8") as file:
                file.write(line + "\n")
            os.rename(path + ".part", path)
        with open(path, encoding="utf-8") as file:
            fields = file.read().rstrip("\n").split("\t")
        count, held, held_between, by_within, marked = map(int, fields[1:6])
        missed = [what for what, got, least in (("within", held, within), ("between", held_between, between))
                  if least and 100 * got < least * count]
        good &= not missed
        print(f"{fields[0]:30} {count:4} {100 * held / count:6.1f}% {100 * held_between / count:7.1f}% "
              f"{100 * by_within / count:11.1f}% {100 * marked / count:6.1f}% {fields[6]:>6}"
              f"{'  too few: ' + ', '.join(missed) if missed else ''}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

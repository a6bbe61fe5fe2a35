# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the times of Python functions in reports with the programs' own timers.

python3 bench/python.py [-n RUNS] [-s SECONDS] [-o OPTIONS]... [PYTHON...]
                            records each program with each interpreter and each set of `record`'s options
python3 bench/python.py --run PROGRAM SECONDS     is such a program

A function's total time in a report has an interval of 95 %. The timers read the thread's CPU time, so that other
programs do not matter. Columns:

timer   mean share of the process's CPU time in the function, by the timers, in percent
error   mean difference of the report's share, and its standard error, in points
share   runs with the timer's share in the interval, of all
time    runs with the timer's ns in the interval times the reported CPU time, of all

SPROF names the binary (default: build/src/sprof); CC the compiler of an extension module.
"""
import asyncio
import csv
import functools
import getopt
import hashlib
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zlib

used = {}


def timed(function, *arguments):
    before = time.thread_time_ns()
    result = function(*arguments)
    add(function.__name__, before)
    return result


def add(name, before):
    used[name] = used.get(name, 0) + time.thread_time_ns() - before


def until(seconds, *calls):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for function, *arguments in calls:
            timed(function, *arguments)


def count(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


# Generators: resumed by Python, by functions of C, and by each other

def squares(n):
    for i in range(n):
        yield i * i


def words(n):
    for number in squares(n):
        yield str(number)


def add_squares(n):
    return sum(squares(n))


def join_words(n):
    return " ".join(words(n))


def blocks(n):
    for _ in range(n):
        before = time.thread_time_ns()
        total = 0
        for i in range(5000):
            total += i ^ n
        add("blocks", before)
        yield total


def from_blocks(n):
    yield from blocks(n)


def largest_block(n):
    return max(from_blocks(n))


def generators(seconds):
    until(seconds, (add_squares, 20000), (join_words, 10000), (count, 5000), (largest_block, 4))


# Threads: two that need the lock of the interpreter, and one that mostly does not

def fill_table(n):
    table = {}
    for i in range(n):
        table[i % 97] = str(i)


def sort_list(n):
    sorted((i * 7919 % n for i in range(n)), key=lambda x: -x)


def pack(data):
    zlib.compress(data, 6)


def threads(seconds):
    data = bytes(i * i % 251 for i in range(60000))
    parts = ((count, 20000), (fill_table, 10000), (sort_list, 5000), (pack, data))
    times = (0.4, 0.3, 0.2, 0.1)
    all_threads = [threading.Thread(target=until, args=(seconds * part, call))
                   for part, call in zip(times, parts)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


# Extensions: functions of C, and Python functions that they call

def digest(data):
    hashlib.sha256(data).digest()


def dump(tree):
    json.loads(json.dumps(tree))


def search(text):
    re.findall(r"\b(\w+)\s+\1", text)


def work_of_key(n):
    return timed(count_key, n)


def count_key(n):
    return sum(i & 7 for i in range(n))


def sort_by_key(n):
    sorted([n] * 8, key=work_of_key)


def replace_match(match):
    before = time.thread_time_ns()
    text = match.group(0)
    for _ in range(1000):
        text = text.upper()
    add("replace_match", before)
    return text


def replace_all(text):
    re.sub(r"\w+", replace_match, text)


def encode_object(thing):
    before = time.thread_time_ns()
    text = "".join([chr(97 + i % 26) for i in range(3000)])
    add("encode_object", before)
    return text


def encode_all(things):
    json.dumps(things, default=encode_object)


def add_pair(left, right):
    before = time.thread_time_ns()
    for i in range(2000):
        left += i & right
    add("add_pair", before)
    return left


def reduce_all(numbers):
    functools.reduce(add_pair, numbers)


def mix_in_c(n):
    python_calls.mix(n)


def called_from_c(n):
    before = time.thread_time_ns()
    total = 0
    while n:
        n -= 1
        total += n & 3
    add("called_from_c", before)
    return total


def call_through_c(n):
    python_calls.call(called_from_c, n)


def extensions(seconds):
    data = bytes(i * i % 251 for i in range(60000))
    tree = {str(i): [i, str(i), {"x": i / 3}] for i in range(1000)}
    text = "the quick brown fox jumps over over the lazy dog " * 200
    own = ((mix_in_c, 2000000), (call_through_c, 20000)) if python_calls else ()
    until(seconds, (pack, data), (digest, data * 4), (dump, tree), (search, text), *own)


def callbacks(seconds):
    until(seconds, (sort_by_key, 3000), (replace_all, "a few words of text to replace"),
          (encode_all, [object()] * 8), (reduce_all, list(range(30))))


# Coroutines: timers run between two points at which they are suspended

async def polish(n):
    for _ in range(2):
        before = time.thread_time_ns()
        total = 0
        for i in range(n):
            total += i * 3
        add("polish", before)
        await asyncio.sleep(0)


async def grind(n):
    before = time.thread_time_ns()
    total = 0
    for i in range(n):
        total ^= i
    add("grind_alone", before)
    await polish(n)


async def numbers(n):
    for i in range(n):
        before = time.thread_time_ns()
        text = [str(j) for j in range(3000)]
        add("numbers", before)
        yield len(text)
        await asyncio.sleep(0)


async def repeat(seconds, function, *arguments):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        timed(function, *arguments)
        await asyncio.sleep(0)


async def grind_often(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        await grind(20000)


async def iterate(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        async for _ in numbers(3):
            pass


async def all_of(seconds):
    await asyncio.gather(repeat(seconds, count, 10000), repeat(seconds, fill_table, 10000),
                         grind_often(seconds), iterate(seconds))


def coroutines(seconds):
    asyncio.run(all_of(seconds))


# Recursion by Python alone and through C, deeper than a call chain may be

def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def descend(depth):
    count(300)
    if depth:
        descend(depth - 1)


def fall(depth):
    return fall(depth - 1) if depth else timed(spin, 300000)


def spin(n):
    while n:
        n -= 1


def through_c(depth):
    count(300)
    if depth:
        list(map(through_c, [depth - 1]))


def recursion(seconds):
    sys.setrecursionlimit(10000)
    until(seconds, (fibonacci, 19), (descend, 400), (through_c, 60), (fill_table, 10000), (fall, 1500),
          (fall, 5000))


PROGRAMS = (generators, threads, extensions, callbacks, coroutines, recursion)


def run(name, seconds):
    program = next(p for p in PROGRAMS if p.__name__ == name)
    program(seconds)
    if "polish" in used:
        used["grind"] = used["polish"] + used.pop("grind_alone")
    print(json.dumps({"pid": os.getpid(), "all": time.process_time_ns(), "used": used}), flush=True)
    os._exit(0)  # the end is not in `all`


def record(sprof, options, python, program, seconds, folder):
    """Returns the program's timers, and the report's CPU time and rows: function, its share and interval."""
    data = os.path.join(folder, "data")
    recorded = subprocess.run(
        [sprof, "record", "-q", "-o", data, *shlex.split(options), "--", python, os.path.abspath(__file__),
         "--run", program, str(seconds)], stdout=subprocess.PIPE, check=True,
        env=dict(os.environ, PYTHONPATH=folder))
    timers = json.loads(recorded.stdout)
    report = json.loads(subprocess.run(
        [sprof, "report", "-i", data, "--format", "json", "-s", "dso,function", "--mode", "cpu",
         "--pid", str(timers["pid"]), "--percentage", "relative"],
        stdout=subprocess.PIPE, check=True).stdout)["events"][0]
    # Without samples of other processes, there is no shown_weight.
    report["weight"] = report.get("shown_weight", report["weight"])
    return timers, report


def total_of(report, function):
    """Returns the row of a function. Its name may state its file."""
    names = [row for row in report["rows"] if row["dso"] == "[python]" and
             row["function"].split(" (")[0] == function]
    if len(names) > 1:
        sys.exit("%d rows of %s" % (len(names), function))
    return names[0] if names else {"total": 0, "total_low": 0, "total_high": 0}


def build_extension(python, folder):
    """Compiles python_calls for an interpreter; without headers, `extensions` has no calls to it."""
    code = "import sysconfig; print(sysconfig.get_path('include'), sysconfig.get_config_var('EXT_SUFFIX'))"
    include, suffix = subprocess.check_output([python, "-c", code]).decode().split()
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_calls.c")
    done = os.path.exists(os.path.join(include, "Python.h")) and subprocess.call(
        [*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-I", include, source,
         "-o", os.path.join(folder, "python_calls" + suffix)]) == 0
    if not done:
        print("no extension module")


class Sums:
    def __init__(self):
        self.runs = self.share = self.time = 0

    def add(self, row, timer, timers, report):
        own = timer / timers["all"]
        low, high = row["total_low"], row["total_high"]
        self.runs += 1
        self.share += low <= own <= high
        self.time += low * report["weight"] <= timer <= high * report["weight"]

    def __str__(self):
        return "%4d/%-4d %4d/%-4d" % (self.share, self.runs, self.time, self.runs)


def study(sprof, options, python, program, runs, seconds, folder, everything):
    """Prints the rows of a program."""
    rows = {}
    cpu = []
    for _ in range(runs):
        timers, report = record(sprof, options, python, program, seconds, folder)
        cpu.append(100 * (report["weight"] / timers["all"] - 1))
        for function, timer in timers["used"].items():
            sums, owns, errors = rows.setdefault(function, (Sums(), [], []))
            row = total_of(report, function)
            owns.append(100 * timer / timers["all"])
            errors.append(100 * row["total"] - owns[-1])
            for each in (sums, everything):
                each.add(row, timer, timers, report)
    print("%-11s %-14s %6s %+6.2f +-%.2f %%" % (program, "CPU time", "", *mean(cpu)))
    for function, (sums, owns, errors) in rows.items():
        print("%-11s %-14s %6.2f %+6.2f +-%.2f  %s" % (program, function, statistics.mean(owns),
                                                       *mean(errors), sums), flush=True)


def mean(values):
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0
    return statistics.mean(values), error


def main(arguments):
    options, pythons = getopt.getopt(arguments, "n:s:o:p:")
    chosen = dict(options)
    runs, seconds = int(chosen.get("-n", 1)), float(chosen.get("-s", 4))
    sets = [value for name, value in options if name == "-o"] or [""]
    programs = chosen.get("-p", ",".join(p.__name__ for p in PROGRAMS)).split(",")
    sprof = os.environ.get("SPROF", "build/src/sprof")
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory() as folder:
            build_extension(python, folder)
            for options in sets:
                everything = Sums()
                print("\n%s, record %s" % (python, options))
                print("%-11s %-14s %6s %-13s %9s %9s" % ("program", "function", "timer", " error", "share",
                                                         "time"))
                for program in programs:
                    study(sprof, options, python, program, runs, seconds, folder, everything)
                print("%-11s %-14s %6s %-13s %s" % ("all", "", "", "", everything))


if sys.argv[1:2] == ["--run"]:
    try:
        import python_calls
    except ImportError:
        python_calls = None
    run(sys.argv[2], float(sys.argv[3]))
else:
    main(sys.argv[1:])

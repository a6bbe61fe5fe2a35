# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the shares of Python functions in reports with the programs' own timers.

python3 bench/python.py [-n TIMES] [PYTHON...]    records each program with each interpreter
python3 bench/python.py --run PROGRAM SECONDS     is such a program

The timers read the thread's CPU time, so that other programs do not matter. A share is that of the
process's CPU time, with its start. `missing` is the share of calls of the interpreter without Python
functions: it may belong to each row, which is "inside" if its interval and `missing` contain the timer's
share. SPROF names the binary (default: build/src/sprof).
"""
import asyncio
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import zlib

used = {}


def timed(function, *arguments):
    before = time.thread_time_ns()
    function(*arguments)
    name = function.__name__
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


# generators

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


def generators(seconds):
    until(seconds, (add_squares, 20000), (join_words, 10000), (count, 5000))


# threads

def fill_table(n):
    table = {}
    for i in range(n):
        table[i % 97] = str(i)


def sort_list(n):
    sorted((i * 7919 % n for i in range(n)), key=lambda x: -x)


def threads(seconds):
    parts = ((count, 20000), (fill_table, 10000), (sort_list, 5000))
    all_threads = [threading.Thread(target=until, args=(seconds / 3, part)) for part in parts]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()


# extensions: functions of C

def pack(data):
    zlib.compress(data, 6)


def digest(data):
    hashlib.sha256(data).digest()


def dump(tree):
    json.loads(json.dumps(tree))


def search(text):
    re.findall(r"\b(\w+)\s+\1", text)


def extensions(seconds):
    data = bytes(i * i % 251 for i in range(60000))
    tree = {str(i): [i, str(i), {"x": i / 3}] for i in range(1000)}
    text = "the quick brown fox jumps over over the lazy dog " * 200
    until(seconds, (pack, data), (digest, data * 4), (dump, tree), (search, text))


# coroutines

async def alternate(seconds, part):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        timed(*part)
        await asyncio.sleep(0)


async def both(seconds):
    await asyncio.gather(alternate(seconds, (count, 10000)), alternate(seconds, (fill_table, 10000)),
                         alternate(seconds, (add_squares, 3000)))


def coroutines(seconds):
    asyncio.run(both(seconds))


# deep recursion, by Python alone and through C

def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def descend(depth):
    count(300)
    if depth:
        descend(depth - 1)


def through_c(depth):
    count(300)
    if depth:
        list(map(through_c, [depth - 1]))


def recursion(seconds):
    until(seconds, (fibonacci, 17), (descend, 400), (through_c, 60), (fill_table, 10000))


PROGRAMS = (generators, threads, extensions, coroutines, recursion)


def run(name, seconds):
    program = next(p for p in PROGRAMS if p.__name__ == name)
    program(seconds)
    everything = time.process_time_ns()
    print(json.dumps({function: ns / everything for function, ns in used.items()}))


def compare(sprof, python, program, seconds):
    """Returns the missing share, and rows: function, timer's share, report's share and interval."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        recorded = subprocess.run(
            [sprof, "record", "-q", "-F", "997", "-e", "cpu-clock", "-o", data, python,
             os.path.abspath(__file__), "--run", program, str(seconds)],
            stdout=subprocess.PIPE, check=True)
        table = subprocess.run(
            [sprof, "report", "-i", data, "--format", "csv", "-s", "dso,function",
             "--no-interpreter-frames"], stdout=subprocess.PIPE, check=True)
    table = list(csv.DictReader(table.stdout.decode().splitlines()))
    rows = {row["function"]: row for row in table if row["dso"] == "[python]"}
    missing = sum(float(row["total"]) for row in table
                  if row["function"] == "_PyEval_EvalFrameDefault")
    none = {"total": 0, "total_low": 0, "total_high": 0}
    return missing, [(function, own, *(float(rows.get(function, none)[key]) for key in none))
                     for function, own in json.loads(recorded.stdout).items()]


def main(arguments):
    times = 1
    if arguments[:1] == ["-n"]:
        times = int(arguments[1])
        arguments = arguments[2:]
    sprof = os.environ.get("SPROF", "build/src/sprof")
    inside = strict = rows = 0
    print("%-11s %-12s %6s %6s %13s %7s  %s" % ("program", "function", "timer", "sprof", "interval",
                                                "missing", "inside"))
    for python in arguments or [sys.executable]:
        print(python)
        for program in [p.__name__ for p in PROGRAMS for _ in range(times)]:
            missing, shares = compare(sprof, python, program, 4)
            for function, own, share, low, high in shares:
                good = low <= own <= high + missing
                inside += good
                strict += low <= own <= high
                rows += 1
                print("%-11s %-12s %6.2f %6.2f %6.2f-%6.2f %7.2f  %s" % (
                    program, function, 100 * own, 100 * share, 100 * low, 100 * high, 100 * missing,
                    "yes" if good else "no: %+.2f" % (100 * (share - own))), flush=True)
    print("%d of %d inside, %d of them without `missing`" % (inside, rows, strict))


if sys.argv[1:2] == ["--run"]:
    run(sys.argv[2], float(sys.argv[3]))
else:
    main(sys.argv[1:])

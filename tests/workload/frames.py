# SPDX-License-Identifier: GPL-2.0-or-later
"""frames.py SECONDS: prints the share of each function in this thread's CPU time."""
import sys
import time


def squares(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


def mapped(n):
    return sum(map(triple, range(n)))


def triple(x):
    return x * 3


class Table:
    def fill(self, n):
        table = {}
        for i in range(n):
            table[i % 97] = str(i)
        return table


def main(seconds):
    used = {}
    table = Table()
    work = (("squares", lambda: squares(40000)), ("mapped", lambda: mapped(20000)),
            ("Table.fill", lambda: table.fill(20000)))
    while time.thread_time() < seconds:
        for name, function in work:
            before = time.thread_time()
            function()
            used[name] = used.get(name, 0) + time.thread_time() - before
    for name, share in used.items():
        print("share", name, round(100 * share / sum(used.values()), 2))
    print("line", "squares", squares.__code__.co_firstlineno)


main(float(sys.argv[1]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares sprof's names with other tools'.

compare.py FOLDER all|sample|LAYOUT...
                            builds the layouts in FOLDER and compares each. Prints a line for each: "ok NAME",
                            "not ok NAME" or "skip NAME: REASON"; further lines begin with "# ". The last are a
                            table of disagreements by rule
"""
import collections
import os
import subprocess
import sys

import layouts
import program
import rules
import tools

STEP = 16
# Distances from the borders of functions.
NEAR = (-4, -1, 0, 1, 4)
SHOWN = 6


def addresses_of(code, table):
    chosen = set()
    for _, start, end in code:
        chosen.update(range(start, end, STEP))
    borders = {symbol.start for symbol in table.all} | {symbol.start + symbol.size for symbol in table.all}
    for border in borders:
        chosen.update(border + distance for distance in NEAR)
    return sorted(address for address in chosen if any(start <= address < end for _, start, end in code))


def same_code(path, twin):
    def content(file):
        return [(section, subprocess.run(["objcopy", "-O", "binary", "-j", section[0], file, "/dev/stdout"],
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                         check=False).stdout)
                for section in tools.sections(file) if section[0] == ".text"]
    return content(path) == content(twin) or not tools.sections(path)


class Case:
    """One layout's answers, by tool; "TOOL of the twin" for the twin's."""

    def __init__(self, layout, ask):
        self.layout = layout
        self.twin = layout.twin if layout.twin and same_code(layout.path, layout.twin) else None
        self.code = tools.sections(layout.path) or tools.sections(layout.twin)

        def inside(names):
            return [os.path.join(layout.folder, name) for name in names]
        self.table = tools.Table(inside(layout.tables), inside(layout.dynamic), self.code)
        self.twin_table = tools.Table([self.twin] if self.twin else [], [], self.code)
        near = self.table if self.table.all else self.twin_table
        self.labels = {symbol.name for symbol in near.all if symbol.is_label}
        self.addresses = addresses_of(self.code, near)
        self.sprof = tools.ask_sprof(layout, layout.path, self.addresses)
        self.answers = {tool: ask[tool](layout, layout.path, self.addresses) for tool in ask}
        self.tools = list(ask)
        self.plt = [tools.read_plt(layout.path, self.code, self.table)]
        self.rows = None
        if self.twin:
            self.plt.append(tools.read_plt(self.twin, self.code, self.twin_table))
            for tool in ask:
                if tool != "perf":
                    self.answers[tool + " of the twin"] = ask[tool](layout, self.twin, self.addresses)


    def line_rows(self, address):
        """Files and lines of an address in all line tables, by readelf."""
        if self.rows is None:
            self.rows = tools.read_line_rows(self.layout.path)
        return [(file, line) for start, end, file, line in self.rows if start <= address < end]


def main(folder, wanted):
    ask = tools.installed()
    os.makedirs(os.path.join(folder, "sources"))
    os.makedirs(os.path.join(folder, "home"))
    program.write(os.path.join(folder, "sources"))
    builder = layouts.Builder(folder)
    counts = collections.OrderedDict()
    for layout in layouts.LAYOUTS:
        if wanted not in (["all"], ["sample"]) and layout.name not in wanted:
            continue
        if wanted == ["sample"] and not layout.sample:
            continue
        try:
            builder.build(layout)
        except layouts.Unavailable as reason:
            print("skip %s: %s" % (layout.name, reason))
            continue
        case = Case(layout, ask)
        verdict = rules.judge(case)
        counts[layout.name] = verdict
        print("%s %s" % ("not ok" if verdict.failures else "ok", layout.name))
        for text in verdict.failures[:SHOWN]:
            print("# " + text)
        if len(verdict.failures) > SHOWN:
            print("# and %d more" % (len(verdict.failures) - SHOWN))
        sys.stdout.flush()
    rules.print_table(counts)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2:])

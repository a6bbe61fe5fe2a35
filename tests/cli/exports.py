# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the stacks in an export, one a line: WEIGHT and the functions, outermost first.

exports.py json FILE        report --format json -g caller: weights are shares, up to 10 digits
exports.py pprof FILE [TYPE]
                            what `go tool pprof -raw` printed of a .pb.gz file; TYPE: only values of this type
exports.py speedscope FILE  a .speedscope.json[.gz] file

Equal stacks are added up, and lines are sorted, so that two exports can be compared by diff. The last
line is the number of samples, or "-" if the format has none.

Prints the functions, one a line: WEIGHT and NAME, without those of weight 0.

exports.py self FILE        of report --format json -g caller
exports.py total FILE       the same with callees
exports.py annotate FILE    what callgrind_annotate printed
"""
import gzip
import json
import re
import sys

stacks = {}


def add(functions, weight):
    key = ";".join(functions).replace("\n", "\ufffd")
    stacks[key] = stacks.get(key, 0) + weight


def open_text(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def read_json(path):
    with open_text(path) as file:
        report = json.load(file)
    for event in report["events"]:
        todo = [(node, ()) for node in event.get("tree", [])]
        while todo:
            node, above = todo.pop()
            functions = above + (node["function"],)
            if node["self"]:
                add(functions, round(node["self"] * event["weight"]))
            todo += [(child, functions) for child in node.get("children", [])]
    return sum(event["samples"] for event in report["events"])


def read_pprof(path, wanted=None):
    samples, locations, part, types = [], {}, None, []
    with open(path) as file:
        for line in file:
            line = line.rstrip("\n")
            if line in ("Samples:", "Locations", "Mappings"):
                part = line
            elif part == "Samples:":
                sample = re.fullmatch(r" *((?:\d+ +)+\d+): ([\d ]+?) *", line)
                types = types or [word.split("/")[0] for word in line.split()]
                if sample:
                    samples.append(([int(value) for value in sample[1].split()], sample[2]))
            elif part == "Locations":
                first = re.fullmatch(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)", line)
                if first:
                    lines = locations.setdefault(first[1], [])
                # The name that pprof shortened follows in parentheses, as it is in the file. So
                # does the linkage name of a function that has a source file in its name.
                name = re.fullmatch(r" *(.*?) \S*:\d+ s=\d+(?:\((.*)\))?", first[2] if first else line)
                whole = re.search(r" \([^() ]+\.\w+\)$", name[1])
                lines.append(name[1] if whole else name[2] or name[1])
    at = types.index(wanted) if wanted else 1
    for values, ids in samples:
        functions = [name for id in ids.split() for name in locations[id]]
        if values[at]:
            add(functions[::-1], values[at])
    return "-" if wanted else sum(values[0] for values, _ in samples)


def read_speedscope(path):
    with open_text(path) as file:
        profiles = json.load(file)
    frames = [frame["name"] for frame in profiles["shared"]["frames"]]
    for profile in profiles["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            add([frames[frame] for frame in stack], weight)
    return "-"


def read_functions(path, total):
    read_json(path)
    weights = {}
    for stack, weight in stacks.items():
        names = stack.split(";")
        for name in set(names) if total else names[-1:]:
            weights[name] = weights.get(name, 0) + weight
    return weights


def read_annotate(path):
    weights = {}
    with open(path) as file:
        for line in file:
            row = re.fullmatch(r" *([\d,]+) \( *[\d.]+%\) +[^ ]*?:(.*) \[.*\]\n", line)
            if row:
                weights[row[2]] = weights.get(row[2], 0) + int(row[1].replace(",", ""))
    return weights


kind, path = sys.argv[1:3]
if kind in ("self", "total", "annotate"):
    functions = read_annotate(path) if kind == "annotate" else read_functions(path, kind == "total")
    for name, weight in sorted(functions.items()):
        print(weight, name)
    sys.exit()
count = {"json": read_json, "pprof": read_pprof, "speedscope": read_speedscope}[kind](path, *sys.argv[3:])
for functions, weight in sorted(stacks.items()):
    print(weight, functions)
print(count)

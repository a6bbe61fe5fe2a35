# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the stacks in an export, one a line: WEIGHT and the functions, outermost first.

exports.py json FILE        report --format json -g caller: weights are shares, up to 10 digits
exports.py pprof FILE       what `go tool pprof -raw` printed of a .pb.gz file
exports.py speedscope FILE  a .speedscope.json[.gz] file

Equal stacks are added up, and lines are sorted, so that two exports can be compared by diff. The last
line is the number of samples, or "-" if the format has none.
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


def read_pprof(path):
    samples, locations, part = [], {}, None
    with open(path) as file:
        for line in file:
            line = line.rstrip("\n")
            if line in ("Samples:", "Locations", "Mappings"):
                part = line
            elif part == "Samples:":
                sample = re.fullmatch(r" *(\d+) +(\d+): ([\d ]+?) *", line)
                if sample:
                    samples.append(sample.groups())
            elif part == "Locations":
                first = re.fullmatch(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)", line)
                if first:
                    lines = locations.setdefault(first[1], [])
                # The name that pprof shortened follows in parentheses, as it is in the file.
                name = re.fullmatch(r" *(.*?) \S*:\d+ s=0(?:\((.*)\))?", first[2] if first else line)
                lines.append(name[2] or name[1])
    for count, weight, ids in samples:
        functions = [name for id in ids.split() for name in locations[id]]
        add(functions[::-1], int(weight))
    return sum(int(count) for count, _, _ in samples)


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


kind, path = sys.argv[1:]
count = {"json": read_json, "pprof": read_pprof, "speedscope": read_speedscope}[kind](path)
for functions, weight in sorted(stacks.items()):
    print(weight, functions)
print(count)

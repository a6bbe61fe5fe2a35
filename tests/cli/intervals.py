#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""intervals.py CSV JSON EXPLAINED TEXT: checks that views of one recording give each symbol the same intervals.

CSV, JSON and TEXT are of `report -s symbol`, EXPLAINED of `report --explain --format json`. TEXT rounds: "~" marks
intervals between runs, other ones are of this run. Prints the numbers of compared rows.
"""
import csv
import json
import re
import sys

KEYS = [f"self{between}_{end}" for between in ("", "_between") for end in ("low", "high")]


def lists(value, name):
    """Yields the members of all lists with a name."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from child if key == name else lists(child, name)
    elif isinstance(value, list):
        for child in value:
            yield from lists(child, name)


with open(sys.argv[1], encoding="utf-8") as file:
    rows = {row["symbol"]: row for row in csv.DictReader(file)}
compared = []
for path, name, symbol in ((sys.argv[2], "rows", "symbol"), (sys.argv[3], "hot", "function")):
    with open(path, encoding="utf-8") as file:
        found = list(lists(json.load(file), name))
    for row in found:
        for key in KEYS:
            wanted = rows[row[symbol]].get(key)
            assert (key in row) == bool(wanted), (path, row, key)
            assert not wanted or abs(row[key] - float(wanted)) < 1e-9, (path, row, key, wanted)
    compared.append(len(found))
texts = 0
with open(sys.argv[4], encoding="utf-8") as file:
    for line in file:
        match = re.match(r" *[\d.]+% +([~*]?) *([\d.]+)-([ \d.]+?) .* (\S+)$", line)
        if not match:
            continue
        mark, *shown, name = match.groups()
        names = KEYS[2:] if mark == "~" else KEYS[:2]
        for text, key in zip(shown, names):
            decimals = len(text.split(".")[1])
            assert abs(float(text) - 100 * float(rows[name][key])) <= 0.5000001 * 10 ** -decimals, (line, key)
        texts += 1
print(*compared, texts)

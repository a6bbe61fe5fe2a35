# SPDX-License-Identifier: GPL-2.0-or-later
"""html.py PAGE [REPORT | text | source]: reads the data of a page by src/html/html.c's description, and checks it.

Prints the sizes: bytes, samples, cells, nodes. With REPORT (`report -s dso,function --format json`), rows are
compared with it. With text, prints the head; with source, the source lines.
"""
import base64
import gzip
import json
import re
import sys


class Columns:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def column(self, count):
        values, data, at = [], self.data, self.at
        for _ in range(count):
            value = shift = 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            values.append(value)
        self.at = at
        return values


def block(text, name):
    found = re.findall(r'<script type="application/octet-stream" id="%s">([A-Za-z0-9+/=]*)</script>' % name, text)
    assert len(found) == 1, "%d blocks %s" % (len(found), name)
    return gzip.decompress(base64.b64decode(found[0], validate=True))


def read_tree(data):
    size = int.from_bytes(data[:4], "little")
    head = json.loads(data[4:4 + size].decode("utf-8"))
    columns = Columns(data, 4 + size)
    head["functions"] = [columns.column(head["functionCount"]) for _ in range(4)]
    for event in head["events"]:
        event["node"] = [columns.column(event["nodes"]) for _ in range(5)]
        event["row"] = [columns.column(event["rows"]) for _ in range(12)]
    assert columns.at == len(data), "bytes after the tree"
    return head


MARKS = "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"


def shown(text):
    """Returns a name without control characters and marks that reorder text."""
    return re.sub(MARKS, "\ufffd", text)


def check_tree(head):
    strings, functions = head["strings"], head["functions"]
    assert strings[0] == "" and len(set(strings)) == len(strings), "strings are not unique"
    for text in strings:
        assert text == shown(text), "control character"
    for column in functions[:3]:
        assert all(index < len(strings) for index in column)
    for event in head["events"]:
        distance, function = event["node"][:2]
        assert all(0 < distance[i] <= i for i in range(1, len(distance))), "a parent is not before its child"
        assert all(index < head["functionCount"] for index in function[1:] + event["row"][0])
        path = []
        for i in range(1, len(distance)):
            parent = i - distance[i]
            while path and path[-1] != parent:
                path.pop()
            assert parent == 0 or path, "a subtree is divided"
            path.append(i)


def check_cells(head, data):
    columns = Columns(data, 0)
    for event in head["events"]:
        bins, threads, sizes = (columns.column(event["groups"]) for _ in range(3))
        nodes, samples = columns.column(event["cells"]), columns.column(event["cells"])
        period = event["period"]
        weights = [n * period for n in samples] if period else columns.column(event["cells"])
        sums = [[0] * event["nodes"], [0] * event["nodes"]]
        assert sum(sizes) == event["cells"]
        at, now, last = 0, 0, None
        for bin_step, thread, size in zip(bins, threads, sizes):
            now += bin_step
            assert now < event["bins"] and thread < len(head["threads"])
            assert last is None or last < (now, thread), "groups are not in order"
            last = (now, thread)
            node = 0
            for i in range(size):
                assert i == 0 or nodes[at] > 0, "cells are not in order"
                node = nodes[at] if i == 0 else node + nodes[at]
                sums[0][node] += samples[at]
                sums[1][node] += weights[at]
                at += 1
        own = event["node"][3]
        own_weight = [n * period for n in own] if period else event["node"][4]
        assert sums[0] == own, "samples of cells are not those of nodes"
        assert sums[1] == own_weight, "weights of cells are not those of nodes"
        if event["cells"]:
            assert sum(own) == event["shownSamples"], "samples are missing"
            assert sum(own_weight) == event["shownWeight"], "weight is missing"
    assert columns.at == len(data), "bytes after the cells"


def check_report(head, report):
    for event, wanted in zip(head["events"], report["events"]):
        names, dsos = head["functions"][:2]
        row, strings = event["row"], head["strings"]
        got = []
        for i, function in enumerate(row[0]):
            got.append((strings[names[function]], strings[dsos[function]], row[2][i], row[3][i], row[4][i],
                        row[5][i]))
        rows = []
        for one in wanted["rows"]:
            name = one.get("function", one.get("symbol"))
            rows.append((shown(name), shown(one.get("dso", "")), one["self_samples"], one["self_weight"],
                         one.get("total_samples", one["self_samples"]),
                         one.get("total_weight", one["self_weight"])))
        assert sorted(got) == sorted(rows), "rows of %s differ" % event["name"]
    assert len(head["events"]) == len(report["events"])


with open(sys.argv[1], encoding="ascii") as page:
    whole = page.read()
tree = read_tree(block(whole, "tree"))
check_tree(tree)
check_cells(tree, block(whole, "cells"))
if sys.argv[2:] == ["source"]:
    if 'id="source"></script>' not in whole:
        json.dump(json.loads(block(whole, "source")), sys.stdout)
elif sys.argv[2:] == ["text"]:
    json.dump(tree, sys.stdout)
elif len(sys.argv) > 2:
    with open(sys.argv[2], encoding="utf-8") as given:
        check_report(tree, json.load(given))
print(len(whole), sum(event["shownSamples"] for event in tree["events"]),
      sum(event["cells"] for event in tree["events"]), max([event["nodes"] for event in tree["events"]] + [0]),
      len(tree["threads"]))

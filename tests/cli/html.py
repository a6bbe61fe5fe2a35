# SPDX-License-Identifier: GPL-2.0-or-later
"""html.py PAGE [REPORT [FOLDED] | text | source | states | pairs REPORT | bins FROM UNTIL | instructions LIST | changes TEXT [FOLDED]]: checks the data of a page by src/html/html.c's description.

Prints the sizes: bytes, samples, cells, nodes, threads. With REPORT (`report -s dso,function --format json`), rows,
findings and the tree's sums by function are compared with it. With FOLDED (`--format folded` of the first event), so
are call paths. With text, prints the head; with source, the source lines; with states, the states of threads; with
pairs, pairs of threads are compared with `report --wakers --format json`; with bins, begin and end of the bins that lie in a time, and the time in them in each state, in ns. With changes, a page of `sprof diff` is compared
with `sprof diff --all -q`, and with `--format folded`.
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
        count = 13 if head["mode"] == "cpu" else 15
        event["row"] = [columns.column(event["rows"]) for _ in range(count)]
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


STATES = ("running", "runnable", "blocked", "unknown")
LANE_UNITS = 127


def print_states(head):
    """Prints the time of each thread in each state in ms, rounded to 10."""
    for event in head["events"]:
        for thread, states in event["states"].items():
            for name, shares in zip(STATES, states):
                ms = sum(shares) / LANE_UNITS * event["binNs"] / 1e6
                if ms > 5:
                    print(head["threads"][thread]["tid"], name, round(ms, -1))


def states_of_nodes(head, event):
    """Returns the state of each node; nodes without one have the last."""
    distance, function = event["node"][:2]
    states = [len(STATES) - 1]
    for i in range(1, event["nodes"]):
        kind = head["functions"][3][function[i]]
        states.append((kind & 7) - 1 if kind & 64 else states[i - distance[i]])
    return states


def check_times(head, event, times):
    """A thread has no more time than a bin has; in mode latency, a process. Returns the shares of wall time, whose
    cells have all states."""
    of_process = head["mode"] == "latency"
    longest = {}
    for thread, states in times.items():
        one = head["threads"][thread]
        key = (one["recording"], one["pid"], None if of_process else one["tid"])
        sums = longest.setdefault(key, [0] * event["bins"])
        for i, in_bin in enumerate(zip(*states)):
            sums[i] += sum(in_bin)
    rounding = len(head["threads"]) if of_process else 0
    for key, sums in longest.items():
        assert max(sums) <= event["binNs"] + rounding, "%s has %d ns of %d" % (key, max(sums), event["binNs"])
    if head["mode"] != "wall" or head["filtered"]:
        return {}
    scale = LANE_UNITS / event["binNs"]
    return {thread: [[ns * scale for ns in bins] for bins in states] for thread, states in times.items()}


def print_bins(head, from_ns, until_ns):
    event, width = head["events"][0], head["events"][0]["binNs"]
    seconds, ns = event["begin"].split(".")
    begin = int(seconds) * 10 ** 9 + int(ns)
    first, end = -((begin - from_ns) // width), (until_ns - begin) // width
    sums = [sum(sum(states[i][first:end]) for states in event["times"].values()) for i in range(len(STATES))]
    print(begin + first * width, begin + end * width, *sums)


def check_cells(head, data):
    columns = Columns(data, 0)
    for event in head["events"] if "comparison" not in head else []:
        bins, threads, sizes = (columns.column(event["groups"]) for _ in range(3))
        nodes, samples = columns.column(event["cells"]), columns.column(event["cells"])
        period = event["period"]
        weights = [n * period for n in samples] if period else columns.column(event["cells"])
        sums = [[0] * event["nodes"], [0] * event["nodes"]]
        assert sum(sizes) == event["cells"]
        at, now, last, times, states = 0, 0, None, {}, states_of_nodes(head, event)
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
                bins_of_thread = times.setdefault(thread, [[0] * event["bins"] for _ in STATES])
                bins_of_thread[states[node]][now] += weights[at]
                event.setdefault("wakings", []).append((node, thread, samples[at], weights[at]))
                at += 1
        own = event["node"][3]
        own_weight = [n * period for n in own] if period else event["node"][4]
        assert sums[0] == own, "samples of cells are not those of nodes"
        assert sums[1] == own_weight, "weights of cells are not those of nodes"
        if event["cells"]:
            assert sum(own) == event["shownSamples"], "samples are missing"
            assert sum(own_weight) == event["shownWeight"], "weight is missing"
        event["times"] = times
        event["states"] = check_times(head, event, times) if event["exact"] else {}
        for thread in event["lanes"]:
            states = [columns.column(event["bins"]) for _ in STATES]
            event["states"][thread] = states
            assert max(map(sum, zip(*states))) <= LANE_UNITS + 2, "a bin has more than its time"
    assert columns.at == len(data), "bytes after the cells"


def check_pairs(head, report):
    """The list of pairs is the report's, and so are the sums of wake-ups by outermost function and thread."""
    names, strings, threads = head["functions"][0], head["strings"], head["threads"]
    for event, wanted in zip(head["events"], report["events"]):
        rows = sorted([row["waker"], row["wakee"], row["self_weight"]] +
                      [row["self_times"][key] for key in ("waits", "longest_wait_ns", "runnable_ns")]
                      for row in wanted["rows"])
        assert rows and sorted(event["pairs"]) == rows, "%s, not %s" % (event["pairs"], rows)
        sums = {}
        for node, thread, samples, weight in event["wakings"]:
            distance, function = event["node"][:2]
            while node - distance[node]:
                node -= distance[node]
            one = threads[thread]
            pair = (strings[names[function[node]]], "%s[%d]" % (strings[one["name"]], one["tid"]))
            sums[pair] = [a + b for a, b in zip(sums.get(pair, [0, 0]), (weight, samples))]
        assert sorted([*pair, *sums[pair]] for pair in sums) == [row[:4] for row in rows], "%s, not %s" % (sums, rows)


SHARES = ["self", "self_low", "self_high", "total", "total_low", "total_high", "self_between_low",
          "self_between_high", "total_between_low", "total_between_high"]


def wanted_row(one):
    """Returns a row of the JSON report: name, object, four counts, ten shares."""
    name = one.get("function", one.get("symbol"))
    full = {"total" + key[4:]: value for key, value in one.items() if key.startswith("self")}
    full.update(one)
    return ((shown(name), shown(one.get("dso", "")), one["self_samples"], one["self_weight"],
             full["total_samples"], full["total_weight"]), [full.get(key) for key in SHARES])


def shown_shares(one, marks):
    """Returns the six shares that the page shows: bounds are between-run where the mark is 1, "~"."""
    self_bounds = one[6:8] if marks & 3 == 1 else one[1:3]
    total_bounds = one[8:10] if marks >> 2 == 1 else one[4:6]
    return [one[0], *self_bounds, one[3], *total_bounds]


def check_report(head, report):
    assert [one["name"] for one in head["events"]] == [one["name"] for one in report["events"]], "events differ"
    texts = [(shown(one["text"]), shown(one.get("remedy", ""))) for one in report["findings"]]
    assert [(one["text"], one.get("remedy", "")) for one in head["findings"]] == texts, "findings differ"
    for event, wanted in zip(head["events"], report["events"]):
        names, dsos = head["functions"][:2]
        row, strings = event["row"], head["strings"]
        rows = sorted(wanted_row(one) for one in wanted["rows"])
        got = sorted(((strings[names[function]], strings[dsos[function]], *(row[k][i] for k in range(2, 6))),
                      [row[k][i] / 1e9 for k in range(6, 12)], row[12][i]) for i, function in enumerate(row[0]))
        assert [one[0] for one in got] == [one[0] for one in rows], "rows of %s differ" % event["name"]
        if head["mode"] != "cpu":
            times = [one["self_times"] for one in wanted["rows"]]
            for column, key in ((13, "waits"), (14, "longest_wait_ns")):
                assert sorted(row[column]) == sorted(one[key] for one in times), "%s differ" % key
        for (name, shares, marks), (_, others) in zip(got, rows):
            wanted_shares = shown_shares(others, marks)
            assert all(abs(a - b) <= 1e-9 for a, b in zip(shares, wanted_shares)), "shares of %s differ" % name[0]
        for name, other in (("samples", "samples"), ("weight", "weight"), ("lost", "lost"), ("lostOwn", "lost_own")):
            assert event[name] == wanted[other], "%s of %s differ" % (name, event["name"])
        assert event["idleThreads"] == wanted.get("idle_threads", 0), "idle threads of %s differ" % event["name"]
        for name in set(event["stacks"]) & set(wanted["stacks"]):
            assert event["stacks"][name] == wanted["stacks"][name], "stacks that are %s differ" % name


def weights(event):
    return [n * event["period"] for n in event["node"][3]] if event["period"] else event["node"][4]


def function_sums(event):
    """Returns each function's samples and weight in the tree: its own, and of stacks with it."""
    distance, function, _, samples = event["node"][:4]
    weight, count = weights(event), event["nodes"]
    totals = [list(samples), list(weight)]
    for total in totals:
        for i in range(count - 1, 0, -1):
            total[i - distance[i]] += total[i]
    sums, path, open_functions = {}, [], {}
    for i in range(1, count):
        while path and path[-1] != i - distance[i]:
            open_functions[function[path.pop()]] -= 1
        one = sums.setdefault(function[i], [0, 0, 0, 0])
        outermost = not open_functions.get(function[i])
        for k, value in enumerate((samples[i], weight[i], outermost * totals[0][i], outermost * totals[1][i])):
            one[k] += value
        open_functions[function[i]] = open_functions.get(function[i], 0) + 1
        path.append(i)
    return sums


def check_sums(head, event):
    """The tree has the sums that the function table has. A function counts once for each stack.
    Without some inner frames, this is so for functions above 1/100,000, and for libraries."""
    kinds, names = head["functions"][3], head["functions"][0]
    in_tree = set(event["node"][1]) if event["cells"] else ()
    if not in_tree or any(head["strings"][names[i]] == "(smaller)" for i in in_tree):
        return
    sums, least, libraries, rows = function_sums(event), event["shownWeight"] // 100000, {}, {}
    for function_index, *counts in zip(event["row"][0], *event["row"][2:6]):
        rows.setdefault(function_index, []).append(counts)
    for function_index, of_rows in rows.items():
        name, library = head["strings"][names[function_index]], head["functions"][1][function_index]
        got = sums.pop(function_index, [0, 0, 0, 0])
        counts = [sum(column) for column in zip(*of_rows)]
        libraries[library] = libraries.get(library, 0) + counts[1] - got[1]
        if event["partialWeight"] and counts[3] < least:
            continue
        assert got[:2] == counts[:2], \
            "the tree has other sums of %s: %s, not %s" % (name, got, counts)
        # Rows of one name may be of one stack.
        less = event["totalsDiffer"] or len(of_rows) > 1
        assert got[2:] == counts[2:] or (less and got[3] <= counts[3]), \
            "the tree has another total of %s: %s, not %s" % (name, got, counts)
    rest = [i for i in sums if not kinds[i] & (16 | 32)]
    for i in list(rest):
        if event["partialWeight"] and head["strings"][names[i]] == "(light functions)":
            libraries[head["functions"][1][i]] -= sums[i][1]
            rest.remove(i)
    assert not rest or event["rows"] >= 20000, "%d functions are not in the table" % len(rest)
    assert event["rows"] >= 20000 or not any(libraries.values()), "libraries have other sums"


def folded_name(head, function):
    """Returns the name that a folded stack has: functions without a name have their object's."""
    name, dso, _, kind = (column[function] for column in head["functions"])
    name, dso = head["strings"][name], head["strings"][dso]
    if kind & 8 and dso:
        name = "[%s]" % dso.strip("[]") if name.startswith("0x") else "%s [%s]" % (name, dso)
    return name.replace(";", ":")


def check_folded(head, event, lines):
    """Each line is COMM;FRAME;... SAMPLES; frames end in _[k] or _[i] where the code is the kernel's or inlined.
    In modes of time, it has weights instead of samples."""
    wanted, got, path = {}, {}, []
    for line in lines:
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        names = tuple(re.sub(r"_\[[ik]\]$", "", name) for name in stack.split(";")[1:])
        wanted[names] = wanted.get(names, 0) + int(count)
    distance, function, _, samples = event["node"][:4]
    if head["mode"] != "cpu":
        samples = weights(event)
    for i in range(1, event["nodes"]):
        while path and path[-1][0] != i - distance[i]:
            path.pop()
        path.append((i, folded_name(head, function[i])))
        names = tuple(name for _, name in path)
        if samples[i]:
            got[names] = got.get(names, 0) + samples[i]
    for names in set(got) | set(wanted):
        assert got.get(names) == wanted.get(names), "%s: %s, not %s" % (";".join(names), got.get(names),
                                                                      wanted.get(names))


def check_instructions(source, path):
    """Instructions of the program are at the places, and have the mnemonics, of a list: symbol, start, address,
    mnemonic. Mnemonics of AT&T's syntax may have a suffix for the size, which objdump leaves out."""
    known = {}
    with open(path, encoding="ascii") as given:
        for line in given:
            name, start, address, mnemonic = line.split()
            known["%s+%#x" % (name, int(address, 16) - int(start, 16))] = mnemonic
    names = {place.split("+")[0] for place in known}
    count = 0
    for row in source["events"][0]:
        if len(row) == 5 or row[5].split("+")[0] not in names:
            continue
        mnemonic = row[6].split()[0]
        assert row[5] in known, "no instruction at %s" % row[5]
        assert mnemonic[:2] == known[row[5]][:2], "%s: %s, not %s" % (row[5], mnemonic, known[row[5]])
        count += 1
    print("%d instructions" % count)


def check_rows(head, text):
    """Rows are those of the text, to the digit. Nodes have all weight."""
    event, strings, comparison = head["events"][0], head["strings"], head["comparison"]
    names, dsos, _, _ = head["functions"]
    rows = []
    for function, (verdict, change, interval, base, now) in zip(event["row"][0], comparison["rows"], strict=True):
        cells = [verdict] * (verdict != "" or comparison["total"] != "")
        name, dso = strings[names[function]], strings[dsos[function]]
        rows.append(" ".join([*cells, base, now, change, interval, name, dso if dso != name else ""]))
    wanted = [shown(line.rstrip("\n")) for line in text][1:]
    assert len(rows) == len(wanted), "%d rows, not %d" % (len(rows), len(wanted))
    for got, line in zip(rows, wanted):
        assert got.split() == line.split(), "row '%s', not '%s'" % (got, line)
    base, now = event["node"][3:]
    assert base and sum(base) == event["samples"] and sum(now) == event["weight"], "weight is missing"


def plain(text):
    """Returns a name without what the page and folded stacks replace by different characters."""
    return re.sub("[\ufffd ]", "?", shown(text))


def check_stacks(head, folded):
    """Nodes have the weight of the base as samples. Stacks are those of the folded ones."""
    event, strings = head["events"][0], head["strings"]
    names, dsos, _, _ = head["functions"]
    sums, path = {}, []
    distance, function, _, base, now = event["node"]
    for i in range(1, event["nodes"]):
        while path and path[-1][0] != i - distance[i]:
            path.pop()
        name, dso = strings[names[function[i]]], strings[dsos[function[i]]]
        path.append((i, "[%s]" % dso.strip("[]") if name[0] == "[" and dso else name.replace(";", ":")))
        stack = plain(";".join(one for _, one in path))
        both = sums.get(stack, (0, 0))
        if base[i] or now[i]:
            sums[stack] = (both[0] + base[i], both[1] + now[i])
    for line in folded:
        stack, *weights_of = line.rstrip("\n").rsplit(" ", 2)
        stack = plain(re.sub(r"_\[k\](;|$)", r"\1", stack))
        unit = 1000 if head["comparison"]["unit"] == "share" else 1
        got = [weight / unit for weight in sums.pop(stack, (0, 0))]
        assert all(abs(a - int(b)) <= 1 for a, b in zip(got, weights_of)), "%s: %s, not %s" % (stack, got, weights_of)
    assert not sums, "stacks that are not folded: %s" % list(sums)[:3]


with open(sys.argv[1], encoding="ascii") as page:
    whole = page.read()
tree = read_tree(block(whole, "tree"))
check_tree(tree)
check_cells(tree, block(whole, "cells"))
if sys.argv[2:] == ["source"]:
    if 'id="source"></script>' not in whole:
        json.dump(json.loads(block(whole, "source")), sys.stdout)
elif sys.argv[2:] == ["states"]:
    print_states(tree)
    sys.exit()
elif sys.argv[2:3] == ["pairs"]:
    with open(sys.argv[3], encoding="utf-8") as given:
        check_pairs(tree, json.load(given))
elif sys.argv[2:3] == ["bins"]:
    print_bins(tree, int(sys.argv[3]), int(sys.argv[4]))
    sys.exit()
elif sys.argv[2:3] == ["instructions"]:
    check_instructions(json.loads(block(whole, "source")), sys.argv[3])
elif sys.argv[2:3] == ["changes"]:
    with open(sys.argv[3], encoding="utf-8") as given:
        check_rows(tree, given)
    if len(sys.argv) > 4:
        with open(sys.argv[4], encoding="utf-8") as given:
            check_stacks(tree, given)
elif sys.argv[2:] == ["text"]:
    json.dump(tree, sys.stdout)
elif len(sys.argv) > 2:
    with open(sys.argv[2], encoding="utf-8") as given:
        check_report(tree, json.load(given))
    for one_event in tree["events"]:
        check_sums(tree, one_event)
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8", errors="replace") as given:
            check_folded(tree, tree["events"][0], given)
print(len(whole), sum(event["shownSamples"] for event in tree["events"]),
      sum(event["cells"] for event in tree["events"]), max([event["nodes"] for event in tree["events"]] + [0]),
      len(tree["threads"]))

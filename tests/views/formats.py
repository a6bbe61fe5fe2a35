# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of exports, each by the public description of its format.

Each returns its profiles as a list of Profile: sums by function that were made from the export's own stacks.
"""
import collections
import csv
import gzip
import json
import re

MARKS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def shown(text):
    """Returns a name without control characters and marks that reorder text."""
    return MARKS.sub("\ufffd", text)


class Profile:
    """Sums of one event in one unit: "samples" or "weight"."""

    def __init__(self, view, event, unit, key):
        self.view, self.event, self.unit = view, event, unit
        self.key = key      # what functions are known by: "dso" and name, "name", or "folded" name
        self.whole = 0      # of all stacks
        self.own = collections.Counter()
        self.total = collections.Counter()
        self.parts = {}     # by "tid" and "comm": sums, as far as the format has them
        self.addresses = None # sums by the innermost frame's file and address
        self.notes = []     # sentences about the recording
        self.slack = 0      # largest error of rounding in one sum

    def add(self, frames, value, **parts):
        """Adds a stack, the outermost function first. A function counts once."""
        if not value:
            return
        self.whole += value
        if frames:
            self.own[frames[-1]] += value
        for function in set(frames):
            self.total[function] += value
        for name, part in parts.items():
            self.parts.setdefault(name, collections.Counter())[part] += value


def open_json(path):
    with open(path, "rb") as file:
        data = file.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


class Files:
    """Names of files in the tables: the last parts of a path that distinguish it."""
    known = set()


def base(path):
    """Returns the name of a file as tables have it. Names in brackets are no paths."""
    parts = [path] if path.startswith("[") else path.split("/")
    names = [shown("/".join(parts[i:])) for i in range(len(parts))]
    return next((name for name in reversed(names) if name in Files.known), names[-1])


def tree_of(report):
    """report --format json -g caller: shares of 10 digits."""
    profiles = []
    for event in report["events"]:
        profile = Profile("tree", event["name"], "weight", "dso")
        whole, nodes = event["weight"], 0
        todo = [(node, ()) for node in event.get("tree", [])]
        while todo:
            node, above = todo.pop()
            nodes += 1
            function = (shown(node.get("dso", "")), shown(node["function"]))
            profile.own[function] += node["self"] * whole
            profile.whole += node["self"] * whole
            if function not in above:
                profile.total[function] += node["total"] * whole
            inside = above if function in above else above + (function,)
            todo += [(child, inside) for child in node.get("children", [])]
        profile.slack = nodes * (whole * 0.5e-9 + 1)
        profiles.append(profile)
    return profiles


def read_folded(path):
    """COMM;FRAME;... VALUE of one event (flamegraph.pl)."""
    profile = Profile("folded", None, None, "folded")
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().splitlines():
            stack, value = line.rsplit(" ", 1)
            comm, *frames = stack.split(";")
            names = [shown(re.sub(r"_\[[ik]\]$", "", name)) for name in frames]
            profile.add(names, int(value), comm=shown(comm))
    return [profile]


def fields(data):
    """Reads a protobuf message: (field, value) of varints, bytes and fixed numbers."""
    at, end = 0, len(data)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < end:
        tag = varint()
        size = {1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            yield tag >> 3, varint()
            continue
        if tag & 7 == 2:
            size = varint()
        yield tag >> 3, data[at:at + size]
        at += size


def numbers(value):
    """Reads a repeated number, which may be packed."""
    if isinstance(value, int):
        return [value]
    found, number, shift = [], 0, 0
    for byte in value:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    return found


class Pprof:
    """profile.proto."""

    def __init__(self, path):
        self.parts = collections.defaultdict(list)
        with gzip.open(path) as file:
            for field, value in fields(file.read()):
                self.parts[field].append(value)
        self.strings = [text.decode("utf-8", "replace") for text in self.parts[6]]
        self.types = [self.string(dict(fields(one)).get(1, 0)) for one in self.parts[1]]
        self.mappings = [dict(fields(one)) for one in self.parts[3]]
        self.files = {one[1]: self.string(one.get(5, 0)) for one in self.mappings}
        functions = {one[1]: shown(self.string(one.get(2, 0)))
                     for one in (dict(fields(part)) for part in self.parts[5])}
        self.frames, self.addresses = {}, {}
        for part in self.parts[4]:
            at, lines = {}, []
            for field, value in fields(part):
                if field == 4:
                    lines.append(functions[dict(fields(value))[1]])
                else:
                    at[field] = value
            dso = base(self.files.get(at.get(2), ""))
            # Lines begin with the innermost of the inlined functions.
            self.frames[at[1]] = [(dso, name) for name in reversed(lines)]
            self.addresses[at[1]] = at.get(3, 0)

    def string(self, index):
        return self.strings[index]

    def samples(self):
        """Yields location ids (the innermost first), values and labels."""
        for part in self.parts[2]:
            ids, values, labels = [], [], {}
            for field, value in fields(part):
                if field == 1:
                    ids += numbers(value)
                elif field == 2:
                    values += numbers(value)
                else:
                    label = dict(fields(value))
                    labels[self.string(label[1])] = \
                        shown(self.string(label[2])) if 2 in label else label.get(3, 0)
            yield ids, values, labels


def read_pprof(path, events, timed):
    """Values are samples and weight of each event; of time: on a CPU, all, off CPU."""
    pprof = Pprof(path)
    if timed:
        made = [(pprof.types.index(events[0]), Profile("pprof", events[0], "weight", "dso"))]
    else:
        made = [(2 * i + j, Profile("pprof", event, unit, "dso"))
                for i, event in enumerate(events) for j, unit in enumerate(("samples", "weight"))]
    addresses = [collections.Counter() for _ in made]
    for ids, values, labels in pprof.samples():
        frames = [frame for one in reversed(ids) for frame in pprof.frames[one]]
        parts = {}
        if "tid" in labels:
            parts["tid"] = labels["tid"]
        for (at, profile), sums in zip(made, addresses):
            profile.add(frames, values[at], **parts)
            if ids and pprof.addresses[ids[0]]:
                sums[frames[-1][0], pprof.addresses[ids[0]]] += values[at]
    notes = [pprof.string(value) for field in pprof.parts[13] for value in numbers(field)]
    for (_, profile), sums in zip(made, addresses):
        profile.notes, profile.addresses = notes, sums
    return [profile for _, profile in made], pprof


def read_speedscope(path, events):
    """Profiles of type "sampled", one for each thread and event: NAME TID [EVENT]."""
    data = open_json(path)
    frames = [shown(frame["name"]) for frame in data["shared"]["frames"]]
    made = {event: Profile("speedscope", event, "weight", "name") for event in events}
    for one in data["profiles"]:
        event, name = events[0], one["name"]
        if len(events) > 1:
            event = next(e for e in sorted(events, key=len, reverse=True) if name.endswith(" " + e))
            name = name[:-len(event) - 1]
        tid = int(name.rsplit(" ", 1)[1])
        if sum(one["weights"]) != one["endValue"] - one["startValue"]:
            raise ValueError("speedscope: weights of %s are not its length" % one["name"])
        sums = collections.Counter()
        for stack, weight in zip(one["samples"], one["weights"], strict=True):
            sums[tuple(stack)] += weight
        for stack, weight in sums.items():
            made[event].add([frames[i] for i in stack], weight, tid=tid)
    for profile in made.values():
        profile.notes = data["name"].split("; ")
    return list(made.values())


def read_firefox(path):
    """Processed profile of version 66: one event; samples, or weights in ms."""
    data = open_json(path)
    shared = data["shared"]
    stacks, frames, functions = shared["stackTable"], shared["frameTable"], shared["funcTable"]
    strings, resources = shared["stringArray"], shared["resourceTable"]

    def function(index):
        of = resources["name"][functions["resource"][index]] if functions["resource"][index] >= 0 else None
        return shown("" if of is None else strings[of]), shown(strings[functions["name"][index]])

    names = [function(i) for i in range(functions["length"])]
    frames_of = []
    for i in range(stacks["length"]):
        offset = stacks["prefixOffset"][i]
        above = frames_of[i - offset] if offset else None
        frames_of.append((above, names[frames["func"][stacks["frame"][i]]]))

    def unfold(stack):
        found = []
        while stack:
            stack, name = stack
            found.append(name)
        return found[::-1]

    timed = any(one["samples"].get("weightType") == "tracing-ms" for one in data["threads"])
    weighted = any(one["samples"].get("weight") for one in data["threads"])
    profile = Profile("firefox", None, "weight" if weighted else "samples", "dso")
    for thread in data["threads"]:
        samples, sums = thread["samples"], collections.Counter()
        weights = samples.get("weight") or [1] * samples["length"]
        for stack, weight in zip(samples["stack"], weights, strict=True):
            sums[stack] += round(weight * 1e6) if timed else weight
        for stack, weight in sums.items():
            frames_in = unfold(frames_of[stack]) if stack is not None else []
            profile.add(frames_in, weight, tid=int(str(thread["tid"]).split(".")[0]))
    for part in data["meta"].get("extra", []):
        for entry in part["entries"]:
            profile.notes.append("%s: %s" % (entry["label"], entry["value"]))
            if entry["label"] == "Event":
                profile.event = entry["value"]
    return [profile]


def read_callgrind(path, events):
    """Callgrind's profile format 1: the calls to a function are its inclusive cost."""
    made = [Profile("callgrind", event, "weight", "dso") for event in events]
    names = {"fn": {}, "ob": {}, "fl": {}}
    now, called, calls, roots = {"ob": "", "fn": ""}, {}, False, set()

    def name(kind, text):
        number = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if not number:
            return text
        if number[2] is not None:
            names[kind][number[1]] = number[2]
        return names[kind][number[1]]

    def function(where):
        dso = where["ob"]
        return ("" if dso == "???" else base(dso)), shown(where["fn"])

    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file.read().split("\n"):
            key, sign, value = line.partition("=")
            if sign and key in ("fn", "ob", "fl", "fi", "fe", "cfn", "cob", "cfi", "cfl"):
                kind = {"fi": "fl", "fe": "fl"}.get(key[-2:], key[-2:])
                (called if key[0] == "c" else now)[kind] = name(kind, value)
            elif sign and key == "calls":
                calls = True
            elif re.match(r"[\d+*-]", line):
                costs = [int(cost) for cost in line.split()[1:]]
                costs += [0] * (len(made) - len(costs))
                target = function({**now, **called}) if calls else function(now)
                for profile, cost in zip(made, costs, strict=True):
                    if calls:
                        profile.total[target] += cost
                        profile.whole += cost if now["fn"] == "[root]" else 0
                    elif cost:
                        profile.own[target] += cost
                if calls:
                    called, calls = {}, False
            elif line.startswith("desc: Note: "):
                for profile in made:
                    profile.notes.append(line[12:])
            elif line.startswith("events: ") and len(line.split()) - 1 != len(made):
                raise ValueError("callgrind: %s, not of %s" % (line, events))
    return made


def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="replace") as file:
        return list(csv.DictReader(file))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""agree.py [--names N] [--page SOURCES] SPROF FOLDER RECORDING [OPTION]...: compares all views of one report.

Makes each export of `sprof report OPTION... -i RECORDING` in FOLDER, and compares every number that two of them
share. OPTION selects what is reported, such as --mode wall. With --page, the page's own code in SOURCES
(src/html) reads the page, and N names are searched in it.

Prints differences, and then for each view the numbers that were compared. The exit status is 1 if any differs.
"""
import collections
import json
import os
import re
import subprocess
import sys

import formats
from formats import shown

LIGHT_PART = 100000     # the page may lack functions below this part of an event's weight


class Checks:
    """Counts comparisons by view, and keeps the differences."""

    def __init__(self):
        self.count, self.faults = collections.Counter(), collections.defaultdict(list)

    def equal(self, view, what, got, wanted, slack=0):
        self.count[view] += 1
        if got != wanted and not (slack and abs(got - wanted) <= slack):
            self.faults[view].append("%s: %s, not %s" % (what, got, wanted))

    def true(self, view, what, is_true):
        self.count[view] += 1
        if not is_true:
            self.faults[view].append(what)

    def print(self):
        for view, faults in self.faults.items():
            for fault in faults[:8]:
                print("%s: %s" % (view, fault))
            if len(faults) > 8:
                print("%s: %d more differences" % (view, len(faults) - 8))
        print("compared " + " ".join("%s=%d" % one for one in sorted(self.count.items())))
        return 1 if self.faults else 0


class Reference:
    """One event of the JSON report, with the rows of functions."""

    def __init__(self, event, tree=None, exact=True):
        self.event, self.name, self.timed = event, event["name"], "times" in event
        self.exact, self.part = exact, 0
        self.tree = tree
        # Frames that are no code have no file: states of threads, missing callers, tasks that were woken.
        self.marks = {name: total for (dso, name), total in tree.total.items() if not dso} if tree else {}
        self.rows, self.by_name, self.by_folded = {}, collections.Counter(), collections.Counter()
        for row in event["rows"] if "function" in (event["rows"] or [{}])[0] else []:
            function = shown(row["dso"]), shown(row["function"])
            # Functions of one name in one file, such as static ones, are one sum; totals are not added.
            of = self.rows.setdefault(function, {"rows": 0, "folded": folded_name(row)})
            of["rows"] += 1
            for key in ("self_samples", "self_weight", "total_samples", "total_weight"):
                of[key] = of.get(key, 0) + row[key]
            self.by_name[function[1]] += 1

    def name_folded(self, names):
        """Chooses each function's name in folded stacks: with the file, where several have the name."""
        for (dso, _), row in self.rows.items():
            longer = "%s [%s]" % (row["folded"], dso.strip("[]"))
            row["folded"] = longer if longer in names else row["folded"]
            self.by_folded[row["folded"]] += row["rows"]

    def whole(self, unit):
        """Returns the sum of all stacks. In modes of time, the event's samples are those of idle threads, too."""
        if unit == "samples" and self.timed:
            return sum(row["self_samples"] for row in self.rows.values())
        return self.event.get("shown_" + unit, self.event[unit])

    def slack(self, samples, unit="weight"):
        """Returns the largest difference of a weight in two reports. Samples of a clock are scaled to the
        threads' CPU time: then each thread's stack is rounded, and threads of the report divide them by chance."""
        if self.exact or unit == "samples":
            return 0
        return 4 * samples + 16 + self.part * samples * self.event["weight"] / (self.event["samples"] or 1)

    def sums(self, unit, key):
        """Returns self and total by the key of a view; totals only of single rows."""
        own, total = collections.Counter(), {}
        for function, row in self.rows.items():
            name = {"dso": function, "name": function[1], "folded": row["folded"]}[key]
            own[name] += row["self_" + unit]
            rows = {"dso": row["rows"], "name": self.by_name[function[1]],
                    "folded": self.by_folded[row["folded"]]}[key]
            total[name] = row["total_" + unit] if rows == 1 and row["rows"] == 1 else None
        return own, total


def folded_name(row):
    """Returns the name that a folded stack has: functions without a name have their file's."""
    name, dso = shown(row["function"]), shown(row["dso"])
    if "name_source" in row:
        name = "%s [%s]" % (name, dso.strip("[]"))
    elif name.startswith("0x"):
        name = "[%s]" % dso.strip("[]")
    return name.replace(";", ":")


def compare_profile(checks, profile, event):
    """A view's own sums are those of the table."""
    view, slack = profile.view, profile.slack
    what = "%s %s" % (profile.event, profile.unit)
    if profile.key == "folded":
        event.name_folded(set(profile.total))
    own, total = event.sums(profile.unit, profile.key)
    slack += event.slack(event.event["samples"], profile.unit)
    checks.equal(view, "%s of all" % what, profile.whole, event.whole(profile.unit), slack)
    for function in set(own) | set(+profile.own):
        if function in own or name_of(function) not in event.marks:
            checks.equal(view, "%s, self of %s" % (what, function), profile.own[function], own[function], slack)
    for function in set(total) | set(+profile.total):
        wanted = total.get(function)
        if function not in total:
            name = name_of(function)
            checks.true(view, "%s: %s is not in the table" % (what, function), name in event.marks)
            wanted = event.marks.get(name) if profile.unit == "weight" else None
        if wanted is not None:
            checks.equal(view, "%s, total of %s" % (what, function), profile.total[function], wanted,
                         slack if function in total else slack + event.tree.slack)


def name_of(function):
    return function[1] if isinstance(function, tuple) else function


def compare_parts(checks, profile, part, report, reference):
    """Sums by thread or by command are those of -s tid and -s comm."""
    if part not in profile.parts:
        return
    event = next(one for one in report["events"] if one["name"] == profile.event)
    wanted = collections.Counter()
    for row in event["rows"]:
        wanted[shown(row[part]) if part == "comm" else row[part]] += row["self_" + profile.unit]
    for name in set(wanted) | set(profile.parts[part]):
        checks.equal(profile.view, "%s of %s %s" % (profile.unit, part, name), profile.parts[part][name],
                     wanted[name], reference.slack(reference.event["samples"], profile.unit))


def compare_addresses(checks, profile, report, reference):
    """Sampled addresses have the sums of -s addr. Code without a file has none."""
    event = next(one for one in report["events"] if one["name"] == profile.event)
    files, wanted = {dso for dso, _ in profile.addresses}, collections.Counter()
    for row in event["rows"]:
        address = re.match(r"0x([0-9a-f]+) ", row.get("addr", ""))
        if address and shown(row["dso"]) in files:
            wanted[shown(row["dso"]), int(address[1], 16)] += row["self_" + profile.unit]
    for at in set(+wanted) | set(+profile.addresses):
        checks.equal(profile.view, "%s at %#x of %s" % (profile.unit, at[1], at[0]), profile.addresses[at],
                     wanted[at], reference.slack(reference.event["samples"], profile.unit))


def lost_in(notes, event):
    """Returns the lost samples in an export's notes about an event."""
    for note in notes:
        found = re.match(r"Lost samples: (\d+)", note) or \
            re.search(r"(?:^|, )%s: \d+ samples.*, (\d+) samples lost" % re.escape(event), note)
        if found:
            return int(found[1])
    return 0


def compare_notes(checks, profile, event, report):
    """Losses are the target's, and the findings are the report's."""
    if not profile.notes:
        return
    checks.equal(profile.view, "%s, lost" % profile.event, lost_in(profile.notes, profile.event),
                 event.event["lost_own"])
    if profile.view == "speedscope":
        return
    text = shown("\n".join(profile.notes))
    for finding in report["findings"]:
        checks.true(profile.view, "finding '%s' is missing" % finding["text"], shown(finding["text"]) in text)


def is_rounded(text, share, slack):
    """Returns whether text is the percentage of a share with two decimals."""
    slack = 100 * slack + 1e-7
    if text.startswith("<"):
        return 0 < 100 * share < float(text[1:]) + slack
    return abs(float(text) - 100 * share) <= 0.005 + slack


def digits(text):
    return int(text.replace(",", ""))


def text_rows(text, names):
    """Returns rows by event, and what the heads of the events say."""
    sections, now = collections.defaultdict(list), names[0] if len(names) == 1 else None
    counts, lost = {}, {}
    for line in text.split("\n"):
        head = re.match(r"([\d,]+|no) (?:branches from [\d,]+ )?samples? of (.+?)(?:, |$)", line)
        if head and head[2] in names:
            now = head[2]
            counts[now] = digits(head[1].replace("no", "0"))
        found = re.search(r"\babout ([\d,]+) of them this|\b([\d,]+) lost \(", line)
        if found and now not in lost:
            lost[now] = digits(found[1] or found[2])
        row = re.match(r" *(<?[\d.]+)% +(?:(<?[\d.]+)% +)?([\d,]+) +([\d,]+)(?:  (.*)|$)", line)
        if row and now:
            function = re.match(r"(.*?) +\[.\] (.*?)(?: \(inlined\))?$", row[5] or "")
            name = (function[1], shown(function[2])) if function else ()
            sections[now].append((name, digits(row[4]), digits(row[3]), row[1], row[2] or row[1]))
    return sections, counts, lost


def compare_text(checks, text, references):
    """Text has the rows of JSON, with rounded shares."""
    sections, counts, lost = text_rows(text, [event.name for event in references])
    for event in references:
        name, named = event.name, "function" in (event.event["rows"] or [{}])[0]
        if name in counts:
            checks.equal("text", "samples of %s" % name, counts[name], event.event["samples"])
        checks.equal("text", "lost of %s" % name, lost.get(name, 0), event.event["lost_own"])

        def key(row):
            share = 0.001 if row[4].startswith("<") else float(row[4])
            return (row[0] if named else (), row[1], row[2], share)

        wanted = sorted((((shown(row["dso"]), shown(row["function"])) if named else (), row["self_weight"],
                          row["self_samples"], row["total"], row["self"]) for row in event.event["rows"]))
        got = sorted(sections[name], key=key)
        checks.equal("text", "rows of %s" % name, len(got), len(wanted))
        for row, (function, weight, samples, total, own) in zip(got, wanted):
            if named:
                checks.equal("text", "name in %s" % name, row[0], function)
            slack = event.slack(event.event["samples"])
            checks.equal("text", "weight of %s" % (function,), row[1], weight, slack)
            checks.equal("text", "samples of %s" % (function,), row[2], samples)
            for shown_share, share in zip(row[3:], (own, total)):
                checks.true("text", "%s, %s%% is not %s" % (function, shown_share, share),
                            is_rounded(shown_share, share, slack / (event.event["weight"] or 1)))


def compare_default_text(checks, text, report):
    """The first screen: shown rows, and the share of the others, are all of the event."""
    shares, now, rest = collections.Counter(), None, {}
    names = [event["name"] for event in report["events"]]
    for line in text.split("\n"):
        head = re.match(r"([\d,]+) samples? of (.+?)(?:, |$)", line)
        now = head[2] if head and head[2] in names else now
        row = re.match(r" *([\d.]+)% ", line)
        shares[now] += float(row[1]) if row else 0
        others = re.search(r"more rows?, ([\d.]+)% in all", line)
        if others:
            rest[now] = float(others[1])
    for event in report["events"]:
        name = event["name"]
        if name in rest:
            count = len(event["rows"])
            checks.equal("text", "rows of %s and the others" % name, shares[name] + rest[name], 100,
                         0.05 + 0.005 * count)


def compare_csv(checks, table, references):
    """CSV has the numbers of JSON, digit by digit."""
    only = references[0].name if references else ""

    def key(row, event):
        names = [shown(row.get(name, "")) for name in ("dso", "function", "dso_from", "symbol_from", "symbol_to")]
        return [event, *names, float(row["self_weight"]), float(row["total_weight"]), float(row["self_samples"])]

    wanted = sorted(((key(row, one.name), one, row) for one in references for row in one.event["rows"]),
                    key=lambda row: row[0])
    got = sorted(table, key=lambda row: key(row, row.get("event", only)))
    checks.equal("csv", "rows", len(got), len(wanted))
    for row, (_, reference, other) in zip(got, wanted):
        checks.equal("csv", "event", row.get("event", reference.name), reference.name)
        slack = reference.slack(other["total_samples"])
        for name, value in other.items():
            if name not in row or isinstance(value, dict):
                continue
            what = "%s of %s" % (name, other.get("function"))
            if isinstance(value, str):
                checks.equal("csv", what, shown(row[name]), shown(value))
            elif name.endswith("samples"):
                checks.equal("csv", what, int(row[name]), value)
            else:
                whole = 1 if name.endswith("weight") else reference.event["weight"] / 2
                checks.equal("csv", what, float(row[name]), value, slack / whole)


def page_rows(checks, what, rows, event, light):
    """Rows of the page by function; those that `light` excuses are held by file."""
    own, files, wanted = collections.Counter(), collections.Counter(), event.rows
    for row in rows:
        function = tuple(row["function"])
        own[function] += row["selfWeight"]
        if row.get("missing") and function[1] not in ("(light functions)",):
            continue
        files[function[0]] += row["selfWeight"]
        if function not in wanted:
            checks.true("page", "%s: %s is not in the table" % (what, function), row.get("missing"))
            continue
        of = wanted[function]
        if of["total_weight"] < light:
            continue
        same = sum(other["function"] == row["function"] for other in rows) if of["rows"] > 1 else 1
        # The page counts no samples without weight, such as wake-ups that ended no wait.
        keys = [("totalWeight", "total_weight")] + [("totalSamples", "total_samples")] * (not event.timed)
        for key, other in keys if of["rows"] == 1 and same == 1 else []:
            checks.equal("page", "%s, %s of %s" % (what, key, function), row[key], of[other],
                         event.slack(of["total_samples"], other[6:]))
    for function, of in wanted.items():
        if of["total_weight"] >= light or not light:
            checks.equal("page", "%s, self of %s" % (what, function), own[function], of["self_weight"],
                         event.slack(of["self_samples"]))
        files[function[0]] -= of["self_weight"]
    for name, rest in files.items():
        checks.equal("page", "%s, functions of %s with the light ones" % (what, name), rest, 0,
                     event.slack(event.event["samples"]))


def compare_page(checks, page, references, run, names):
    for event, got in zip(references, page["events"], strict=True):
        name = event.name
        light = event.whole("weight") / LIGHT_PART if got.get("partialWeight") else 0
        for key, other in (("samples", "samples"), ("weight", "weight"), ("lost", "lost"), ("lostOwn", "lost_own")):
            checks.equal("page", "%s of %s" % (key, name), got.get(key), event.event[other])
        for unit in ("samples", "weight"):
            slack = event.slack(event.event["samples"], unit)
            checks.equal("page", "%s of %s's tree" % (unit, name), got["whole"][unit], event.whole(unit), slack)
            if got["threads"]:
                checks.equal("page", "%s of %s's threads" % (unit, name),
                             sum(thread[unit] for thread in got["threads"]), event.whole(unit), slack)
        if got.get("partialWeight"):
            share = 100 * got.get("partialWeight") / event.event["weight"]
            checks.true("page", "%.2f%% of %s lacks frames: that is not shown" % (share, name),
                        any("%.2f%% of %s " % (share, name) in text for text in page["partial"]))
        page_rows(checks, "table of %s" % name, got["table"], event, 0)
        page_rows(checks, "tree of %s" % name, got["sums"], event, light)
        callers = [{"function": row["function"], "missing": row["missing"], "selfWeight": row["weight"]}
                   for row in got["callers"]]
        own = collections.Counter()
        for row in callers:
            own[tuple(row["function"])] += row["selfWeight"]
        for function, of in event.rows.items():
            if of["total_weight"] >= light or not light:
                checks.equal("page", "callers of %s" % (function,), own[function], of["self_weight"],
                             event.slack(of["self_samples"]))
        compare_found(checks, got, event, run, light)
        for part in got["ranges"]:
            compare_range(checks, part, got, name, run, light, event.exact)
        checks.true("page", "no name of %s was searched" % name, got["found"] or not names or not event.rows)


def compare_found(checks, got, event, run, light):
    """Search, Only, and Callers of a name have its total; its callers are those of --callers."""
    for index, found in enumerate(got["found"]):
        name = found["name"]
        wanted = next(of for (_, one), of in event.rows.items() if one == name)
        if wanted["total_weight"] < light:
            continue
        for unit in ("samples", "weight"):
            total, slack = wanted["total_" + unit], event.slack(wanted["total_samples"], unit)
            checks.equal("page", "search of %s" % name, found["search"][unit], total, slack)
            checks.equal("page", "only %s" % name, found["only"][unit], total, slack)
            for wing in found["wings"]:
                checks.equal("page", "callers or callees of %s" % name, wing[unit], total, slack)
        if index >= 3 or light:
            continue
        report = run("--callers", "/^%s$/" % re.escape(name), "-s", "dso,function")
        own = {(shown(row["dso"]), shown(row["function"])): row["self_weight"]
               for one in report["events"] if one["name"] == event.name for row in one["rows"]}
        calls = {tuple(row["function"]): row["weight"] for row in found["calls"]}
        for function in set(own) & set(event.rows) | set(calls) & set(event.rows):
            checks.equal("page", "calls of %s by %s" % (name, function), calls.get(function, 0), own.get(function, 0),
                         event.slack(wanted["total_samples"]))


def file_in(files, name):
    """Returns a file's name among fewer files, which has fewer parts of its path."""
    return name if name in files else next((file for file in files if name.endswith("/" + file)), name)


def compare_range(checks, part, got, name, run, light, exact):
    """A range has the functions of report --time."""
    seconds, ns = got["begin"].split(".")
    begin = int(seconds) * 10**9 + int(ns)
    bounds = [begin + part["from"] * got["binNs"], begin + (part["to"] + 1) * got["binNs"] - 1]
    time = ",".join("%d.%09d" % divmod(bound, 10**9) for bound in bounds)
    report = run("-s", "dso,function", "--time", time)
    events = [event for event in report["events"] if event["name"] == name] if report else []
    if not events:
        checks.equal("page", "samples from %s" % time, part["samples"], 0)
        return
    # Time without samples is of the whole.
    events[0]["rows"] = [row for row in events[0]["rows"] if row["function"] != "[not recorded]"]
    files = {shown(row["dso"]) for row in events[0]["rows"]}
    rows = [{**row, "function": [file_in(files, row["function"][0]), row["function"][1]]}
            for row in part["rows"] if row["function"][1] != "[not recorded]"]
    event = Reference(events[0], exact=exact)
    # CPU time of a range is that of its switches, in the page a part of the whole time.
    event.part = 0 if exact else 1
    for unit in ("samples", "weight"):
        # Threads may be idle in a part of the time only.
        if not event.timed or (unit == "weight" and not event.event["idle_threads"]):
            checks.equal("page", "%s from %s" % (unit, time), part[unit], event.whole(unit),
                         event.slack(event.event["samples"], unit))
    # Of time, only the sum is exact: the stacks of a step are estimates.
    if not event.timed:
        page_rows(checks, "range %s" % time, rows, event, light)


def chosen_names(event, count):
    """Returns names of one row each: the heaviest, and others of all weights."""
    folded = collections.Counter(name.lower() for _, name in event.rows)
    rows = sorted(event.rows.items(), key=lambda one: -one[1]["total_weight"])
    names = [name for (_, name), of in rows if folded[name.lower()] == 1 and of["rows"] == 1 and
             len(name) < 90 and "\ufffd" not in name and not name.startswith("[")]
    return names[:count // 4] + names[count // 4::max(1, len(names) * 4 // (count * 3 or 1))][:count - count // 4]


class Report:
    """Makes exports of one recording."""

    def __init__(self, sprof, folder, recording, options):
        self.sprof, self.folder, self.recording, self.options = sprof, folder, recording, options
        self.reports = {}

    def run(self, *options):
        """Returns the output of `sprof report`; None if it refuses."""
        return self.run_command("report", *self.options, *options)

    def run_command(self, command, *options):
        environment = {**os.environ, "COLUMNS": "100000"}
        done = subprocess.run([self.sprof, command, "-i", self.recording, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, check=False)
        if done.returncode and not re.search(b"no sample is in|which speedscope cannot read", done.stderr):
            raise SystemExit("sprof %s %s: %s" % (command, " ".join(options), done.stderr.decode()))
        return None if done.returncode else done.stdout

    def json(self, *options):
        if options not in self.reports:
            text = self.run("--format", "json", *options)
            self.reports[options] = json.loads(text.decode("utf-8", "replace")) if text else None
        return self.reports[options]

    def are_exact(self, events):
        """Returns for each event whether its weight is the sum of the samples' recorded periods."""
        if "times" in events[0] or "-b" in self.options:
            return ["-b" in self.options] * len(events)
        periods, whole = collections.Counter(), Report(self.sprof, self.folder, self.recording, ["--mode", "cpu"])
        for line in whole.run_command("script", "-F", "event,period").decode().split("\n"):
            found = re.match(r" *(\d+) +(\S+):|(\S+): *(\d+)", line)
            if found:
                periods[found[2] or found[3]] += int(found[1] or found[4])
        weights = {event["name"]: event["weight"] for event in whole.json("-s", "event")["events"]}
        return [sum(periods[part] for part in event.get("added_up", [event["name"]])) ==
                weights.get(event["name"]) for event in events]

    def export(self, name, *options):
        path = os.path.join(self.folder, name)
        return path if self.run("-o", path, *options) is not None else None


def heaviest(references, name):
    """Returns the event of a view that has room for one; None if a heavier one counts the same."""
    event = next(one for one in references if one.name == name)
    kind = re.sub(r"^[a-z_]+/(.*)/", r"\1/", name)
    same = [one for one in references if re.sub(r"^[a-z_]+/(.*)/", r"\1/", one.name) == kind]
    return event if event.event["weight"] == max(one.event["weight"] for one in same) else None


def choose_event(checks, profile, references):
    """Returns the event of a view that has room for one. Folded stacks do not name it, nor their unit: their
    sum has to be that of an event. Sets profile.event and profile.unit."""
    found = [(one.name, unit) for one in references for unit in ("samples", "weight")
             if abs(one.whole(unit) - profile.whole) <= one.slack(one.event["samples"], unit)]
    if profile.event is None:
        checks.true(profile.view, "%d is the sum of no event" % profile.whole, found)
        if not found:
            return None
        profile.event, profile.unit = found[0]
    checks.true(profile.view, "an event like %s has more weight" % profile.event,
                heaviest(references, profile.event))
    return next(one for one in references if one.name == profile.event)


def compare_exports(checks, report, references, wanted):
    events = [event.name for event in references]
    timed = "times" in wanted["events"][0]
    by_part = {part: report.json("-s", part) for part in ("tid", "comm")}
    profiles, pprof = formats.read_pprof(report.export("all.pb.gz"), events, timed)
    profiles += [event.tree for event in references]
    path = report.export("all.speedscope.json")
    if path:
        profiles += formats.read_speedscope(path, events)
    else:
        # Stacks of more than 300 MB.
        checks.true("speedscope", "", True)
    profiles += formats.read_callgrind(report.export("callgrind.all"), events)
    profiles += formats.read_folded(report.export("all.folded"))
    profiles += formats.read_firefox(report.export("all.firefox.json"))
    for profile in profiles:
        event = choose_event(checks, profile, references) if profile.view in ("folded", "firefox") else \
            next(one for one in references if one.name == profile.event)
        if event:
            # With one period, weights are proportional to samples, which are written instead.
            if profile.view == "firefox" and profile.whole == event.whole("samples"):
                profile.unit = "samples"
            compare_profile(checks, profile, event)
            compare_notes(checks, profile, event, wanted)
            for part, of in by_part.items():
                compare_parts(checks, profile, part, of, event)
            # Waits were sampled in the kernel's scheduler, whatever function waits.
            if profile.addresses is not None and not timed and "--no-interpreter-frames" not in report.options:
                compare_addresses(checks, profile, report.json("-s", "dso,addr"), event)
    checks.equal("pprof", "names of values", sorted(set(pprof.types)), sorted(pprof.types))
    libraries = [re.search(r"\.so\b|^\[|^$", formats.base(file)) for file in pprof.files.values()]
    if libraries and not all(libraries):
        checks.true("pprof", "the first mapping, %s, is no program" % list(pprof.files.values())[0],
                    not libraries[0])


def make_references(report, key, stacks):
    """Returns the JSON report and its events, and takes the names of its files for those of exports."""
    wanted = report.json("-s", key)
    formats.Files.known |= {shown(row.get("dso", "")) for event in wanted["events"] for row in event["rows"]}
    trees = formats.tree_of(report.json("-g", "caller")) if stacks else [None] * len(wanted["events"])
    exact = report.are_exact(wanted["events"])
    return wanted, [Reference(*one) for one in zip(wanted["events"], trees, exact, strict=True)]


def compare_folded(checks, report, other):
    """Leaving out the interpreter's frames changes no sum of a thread, nor of all."""
    for part in ("tid", "comm"):
        for one, two in zip(report.json("-s", part)["events"], other.json("-s", part)["events"], strict=True):
            for key in ("samples", "weight"):
                checks.equal("text", "%s without the interpreter's frames" % key, two[key], one[key])
            sums = [{row[part]: (row["self_samples"], row["self_weight"]) for row in event["rows"]}
                    for event in (one, two)]
            checks.equal("text", "sums by %s without the interpreter's frames" % part, sums[1], sums[0])


def main(arguments):
    names, sources = 20, None
    while arguments[0].startswith("--"):
        if arguments[0] == "--names":
            names = int(arguments[1])
        else:
            sources = arguments[1]
        arguments = arguments[2:]
    sprof, folder, recording, *options = arguments
    sys.setrecursionlimit(100000) # deep trees in JSON
    report = Report(sprof, folder, recording, options)
    checks = Checks()
    stacks = "-b" not in options
    key = "dso,function" if stacks else "dso_from,symbol_from,symbol_to"
    columns = "overhead,%ssample,period,%s" % ("overhead_children," if stacks else "", key)
    wanted, references = make_references(report, key, stacks)
    # Text and pages leave out the interpreter's frames, unless an option chooses.
    folds = not set(options) & {"--interpreter-frames", "--no-interpreter-frames"}
    view = Report(sprof, folder, recording, options + ["--no-interpreter-frames"] * folds)
    viewed, view_references = wanted, references
    if folds and report.json("-s", key)["events"] != view.json("-s", key)["events"]:
        viewed, view_references = make_references(view, key, stacks)
        compare_folded(checks, report, view)
        text = report.run("-F", columns, "--percent-limit", "0", "--interpreter-frames")
        compare_text(checks, text.decode("utf-8", "replace"), references)
    compare_csv(checks, formats.read_csv(report.export("all.csv", "-s", key)), references)
    text = report.run("-F", columns, "--percent-limit", "0").decode("utf-8", "replace")
    compare_text(checks, text, view_references)
    if stacks:
        compare_exports(checks, report, references, wanted)
    compare_default_text(checks, report.run("--format", "text", "-s", key).decode("utf-8", "replace"), viewed)
    if sources and stacks:
        searched = [chosen_names(event, names) for event in view_references]
        with open(os.path.join(folder, "names.json"), "w", encoding="utf-8") as file:
            json.dump(searched, file)
        page = subprocess.run(["node", os.path.join(os.path.dirname(__file__), "page.js"), sources,
                               report.export("all.html"), file.name], stdout=subprocess.PIPE, check=True)
        page = json.loads(page.stdout)
        compare_page(checks, page, view_references, view.json, names)
    views = ["csv", "text"] + (["tree", "pprof", "speedscope", "callgrind", "folded", "firefox"] if stacks else [])
    for view in views + (["page"] if sources and stacks else []):
        if not checks.count[view]:
            checks.true(view, "nothing was compared", False)
    return checks.print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

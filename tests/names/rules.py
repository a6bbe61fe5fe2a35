# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of disagreement between sprof and another tool.

Each disagreement must meet a rule's condition, and one of the rule's witnesses must give sprof's answer
there, unless a witness is not installed. Witnesses are other tools, asked about the file or about its twin: the same code in a file that was not
changed afterwards, or whose debug information is not split.
"""
import collections
import functools
import re
import subprocess

import layouts
import tools

ASPECTS = ("function", "inlines", "lines")


@functools.lru_cache(maxsize=None)
def plain(name):
    """A name without what compilers and linkers append to names of clones and parts."""
    if name is None or "@" in name or name.startswith("."):
        return name
    return name.split(".")[0]


@functools.lru_cache(maxsize=None)
def demangled(name):
    return subprocess.run(["c++filt", "-p", name], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()


@functools.lru_cache(maxsize=None)
def base(name):
    """The last part of a name, without scopes, parameters and template arguments."""
    name = plain(name)
    if name is None:
        return None
    if name.startswith("_Z"):
        name = demangled(name)
    if name.endswith("operator()"):
        return "operator()"
    while re.search(r"<[^<>]*>|\([^()]*\)", name):
        name = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    return name.split("::")[-1]


def same_function(a, b):
    """Debug information spells names without a scope where there is no linkage name."""
    if a == b or plain(a) == plain(b):
        return True
    if a is None or b is None:
        return False
    return not (a.startswith("_Z") and b.startswith("_Z")) and base(a) == base(b)


def outermost(frames):
    return frames[-1][0] if frames else None


def inlined(frames):
    return [base(frame[0]) for frame in frames[:-1]]


def lines(frames):
    return [frame[1:] for frame in frames]


def has_debug(frames):
    return any(frame[1] for frame in frames)


def agree(aspect, ours, them):
    if aspect == "function":
        return same_function(outermost(ours), outermost(them))
    return inlined(ours) == inlined(them) if aspect == "inlines" else lines(ours) == lines(them)


class Point:
    """What was answered at an address."""

    def __init__(self, case, at):
        self.case, self.at = case, at
        self.section = case.table.section(at)
        self.ours = case.sprof.get(at, [])
        self.name = outermost(self.ours)
        self.symbols = case.table.at(at)
        self.names = [symbol.name for symbol in self.symbols]
        self.table = case.table if case.table.enclosing(at) else case.twin_table
        self.enclosing = self.table.enclosing(at)
        self.answers = {tool: answers.get(at, []) for tool, answers in case.answers.items()}

    def agrees(self, tool, aspect):
        if tool == "nm":
            return aspect == "function" and (self.name in self.names or not (self.name or self.names))
        if tool == "objdump":
            return aspect == "function" and any(self.name in plt.get(self.at, ()) for plt in self.case.plt)
        if tool == "perf" and aspect != "function":
            return False
        if tool == "readelf":
            return aspect == "lines" and self.ours and self.ours[0][1:] in self.case.line_rows(self.at)
        return agree(aspect, self.ours, self.answers.get(tool, []))

    def tools(self):
        return ["nm"] + list(self.case.tools)


def is_plt(point, tool, aspect, them):
    return aspect == "function" and point.section and point.section[0].startswith(tools.PLT)


def is_alias(point, tool, aspect, them):
    return aspect == "function" and point.name in point.names and \
        any(same_function(name, outermost(them)) for name in point.names)


def is_padding(point, tool, aspect, them):
    return not point.names and not has_debug(point.ours) and not point.name


def is_label(point, tool, aspect, them):
    return aspect == "function" and (point.names or not point.name) and \
        any(name in point.case.labels for name in point.names + [outermost(them), point.name])


def is_nested(point, tool, aspect, them):
    if aspect != "function" or not point.enclosing:
        return False
    outer = point.enclosing[0]
    inside = point.table.starting_in(outer)
    return any(symbol.start > outer.start for symbol in inside) and \
        (not outermost(them) or any(same_function(outermost(them), symbol.name) for symbol in inside))


def is_without_symbol(point, tool, aspect, them):
    return aspect == "function" and tool in ("nm", "perf") and not (point.names or outermost(them)) and point.name


def is_similar(ours, them):
    """Whether only frames are missing or too many."""
    a, b = ({place for place in lines(frames) if place[0]} for frames in (ours, them))
    return a <= b or b <= a


def is_addr2line_chain(point, tool, aspect, them):
    return tool == "addr2line" and has_debug(point.ours) and is_similar(point.ours, them)


def is_eu_chain(point, tool, aspect, them):
    return tool == "eu-addr2line" and has_debug(point.ours) and is_similar(point.ours, them)


def is_unread(point, tool, aspect, them):
    """Of a changed file, the tool knows less."""
    layout = point.case.layout
    known = sum(1 for place in lines(point.ours) if place[0])
    less = not outermost(them) or sum(1 for name, file, _ in them if name and file) < known
    return (layout.after or layout.twin_flags) and (point.name or known) and less


def is_dropped(point, tool, aspect, them):
    return layouts.LARGE in point.case.layout.flags and point.answers.get(tool + " of the twin") != them


def is_detached(point, tool, aspect, them):
    return aspect != "function" and len(point.ours) == 1 and has_debug(point.ours) and len(them) > 1


def is_folded(point, tool, aspect, them):
    return "icf" in point.case.layout.link


Rule = collections.namedtuple("Rule", "name text condition witnesses")
ALWAYS = ("nm", "objdump", "readelf")
ANY = ("perf", "llvm-symbolizer", "addr2line", "eu-addr2line")
RULES = [
    Rule("plt", "Entries of procedure linkage tables are named after the function that they jump to.",
         is_plt, ("objdump", "perf")),
    Rule("alias", "Several symbols have one start.", is_alias, ANY + ("nm",)),
    Rule("padding", "No symbol contains the address; some tools show the function before it.",
         is_padding, ("nm", "perf", "llvm-symbolizer")),
    Rule("label", "A label without a size names code only outside of functions, and not if it is hidden.",
         is_label, ANY),
    Rule("nested", "A function within another: some tools show the other one.", is_nested,
         ("nm", "eu-addr2line")),
    Rule("debug-only", "No symbol, but debug information has the function.", is_without_symbol,
         ("llvm-symbolizer", "addr2line", "eu-addr2line")),
    Rule("dropped", "The tool shows a function that the linker dropped.", is_dropped, ANY + ("nm",)),
    Rule("folded", "The linker folded equal bodies: each tool shows names and lines of another one.",
         is_folded, ANY + ("nm", "readelf")),
    Rule("unread", "The tool does not read the debug information in this place or format.", is_unread, ANY + ("nm",)),
    Rule("addr2line", "addr2line shows symbols as names of inlined calls, or leaves calls out.",
         is_addr2line_chain, ("llvm-symbolizer", "eu-addr2line", "perf")),
    Rule("eu-addr2line", "eu-addr2line finds units by .debug_aranges alone, and leaves out calls of local classes.",
         is_eu_chain, ("llvm-symbolizer", "addr2line", "perf", "readelf")),
    Rule("detached", "Inlined calls outside of their function's ranges (BOLT moves these) are not shown.",
         is_detached, ("eu-addr2line", "readelf")),
]


class Verdict:
    def __init__(self):
        self.compared = 0
        self.by_rule = collections.Counter()
        self.failures = []


def rule_of(point, tool, aspect, them):
    for rule in RULES:
        if not rule.condition(point, tool, aspect, them):
            continue
        for witness in rule.witnesses:
            for asked in (witness, witness + " of the twin"):
                if asked != tool and (asked in point.answers or asked in ALWAYS) and \
                        point.agrees(asked, aspect):
                    return rule
        if not all(witness in point.case.tools + list(ALWAYS) for witness in rule.witnesses):
            return rule
    return None


def describe(point, tool, aspect, them):
    return "%s of %s: %#x in %s: sprof %s, it %s; symbols %s; others %s" % (
        aspect, tool, point.at, point.section and point.section[0], point.ours, them, point.names,
        {other: answer for other, answer in point.answers.items() if other != tool})


def judge(case):
    verdict = Verdict()
    for at in case.addresses:
        point = Point(case, at)
        verdict.compared += 1
        for tool in point.tools():
            them = [] if tool == "nm" else point.answers[tool]
            for aspect in ASPECTS:
                if aspect != "function" and tool in ("nm", "perf") or point.agrees(tool, aspect):
                    continue
                rule = rule_of(point, tool, aspect, them)
                if rule:
                    verdict.by_rule[rule.name] += 1
                else:
                    verdict.failures.append(describe(point, tool, aspect, them))
    return verdict


def print_table(verdicts):
    print("# %-22s %9s %s" % ("layout", "addresses", " ".join("%12s" % rule.name for rule in RULES) + "      no rule"))
    for name, verdict in verdicts.items():
        print("# %-22s %9d %s %12d" % (name, verdict.compared, " ".join(
            "%12d" % verdict.by_rule[rule.name] for rule in RULES), len(verdict.failures)))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of addresses by each tool.

An answer is a list of frames, innermost first: (NAME or None, FILE or None, LINE). Files have no folder.
"""
import bisect
import os
import re
import shutil
import subprocess


def run(command, text=None, env=None, check=False):
    return subprocess.run(command, input=text, env=env, check=check, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


def hex_lines(addresses):
    return "".join("%#x\n" % address for address in addresses)


def sections(path):
    """Executable sections with bytes, as (NAME, START, END)."""
    found = []
    for line in run(["readelf", "-SW", path]).splitlines():
        field = re.sub(r"^ *\[ *\d+\] *", "", line).split()
        if len(field) > 7 and field[1] == "PROGBITS" and "X" in field[6]:
            found.append((field[0], int(field[2], 16), int(field[2], 16) + int(field[4], 16)))
    return found


def segments(path):
    """Executable segments, as (OFFSET, START, SIZE)."""
    found = []
    for line in run(["readelf", "-lW", path]).splitlines():
        field = line.split()
        if field and field[0] == "LOAD" and "E" in "".join(field[6:-1]):
            found.append((int(field[1], 16), int(field[2], 16), int(field[4], 16)))
    return found


class Symbol:
    def __init__(self, name, start, size, is_label, is_resolver):
        self.name, self.start, self.size = name, start, size
        self.is_label, self.is_resolver = is_label, is_resolver


def symbols(path, dynamic=False):
    """Symbols of code, by nm. Labels have no type or no size."""
    found = {}
    for line in run(["nm", "-f", "sysv"] + (["-D"] if dynamic else []) + [path]).splitlines():
        field = [part.strip() for part in line.split("|")]
        if len(field) == 7 and field[2] in tuple("tTwWiu") and field[1]:
            name, start, size = field[0].split("@")[0], int(field[1], 16), int(field[4] or "0", 16)
            found[name, start] = Symbol(name, start, size, size == 0 or field[3] == "NOTYPE", field[2] == "i")
    return list(found.values())


def read_frames(text, column=False):
    """What the tools print of addresses, with addresses, names and lines on lines of their own."""
    answers, frames, name = {}, [], None
    for line in text.splitlines():
        if re.match(r"0x[0-9a-f]+$", line) and name is None:
            frames = answers.setdefault(int(line, 16), [])
        elif not line:
            continue
        elif name is None:
            name = re.sub(r" inlined at .*", "", line)
        else:
            place = re.sub(r" \(discriminator \d+\)$", "", line)
            if column:
                place = re.sub(r"(:\d+):\d+$", r"\1", place)
            file, _, number = place.rpartition(":")
            number = int(number) if number.isdigit() else 0
            known = bool(number) and not file.startswith("??")
            frames.append((None if name.startswith("??") else name,
                           os.path.basename(file) if known else None, number if known else 0))
            name = None
    return answers


def ask_sprof(layout, path, addresses):
    program = os.environ.get("NAMES_SYMBOLIZE", "bench/symbolize")
    command = [program, "-a", "-r"] + (
        ["-d", layout.debug_path] if layout.debug_path else []) + [path]
    return read_frames(run(command, hex_lines(addresses)))


def ask_llvm(layout, path, addresses):
    command = ["llvm-symbolizer", "--obj=" + path, "--inlines", "--no-demangle", "--functions=linkage", "-a"]
    if layout.debug_path:
        command.append("--debug-file-directory=" + layout.debug_path)
    return read_frames(run(command, hex_lines(addresses)), column=True)


def ask_addr2line(layout, path, addresses):
    return read_frames(run(["addr2line", "-a", "-f", "-i", "-e", path], hex_lines(addresses)))


def ask_eu(layout, path, addresses):
    command = ["eu-addr2line", "-a", "-f", "-i", "-e", path]
    if layout.debug_path:
        command.append("--debuginfo-path=" + layout.debug_path)
    return read_frames(run(command, hex_lines(addresses)), column=True)


# Symbols before an address that may contain it.
NESTED = 64
PLT = (".plt", ".iplt")
BIAS = 0x555500000000


def ask_perf(layout, path, addresses):
    """Names of samples at the addresses: perf reads no lines here."""
    folder = layout.folder
    code = segments(path)
    bias = BIAS if layout.is_pie else 0
    lines = ["event cpu-clock", "comm 7 7 demo"]
    for offset, start, size in code:
        lines.append("mmap 7 %#x %#x %#x %s" % ((bias + start) & ~0xfff, size + (start & 0xfff),
                                                offset & ~0xfff, path))
    asked = [address for address in addresses if any(start <= address < start + size for _, start, size in code)]
    for i, address in enumerate(asked):
        lines.append("sample 0 7 7 0 %d 1 %#x" % (1000 + i, bias + address))
    data = os.path.join(folder, "perf.data")
    run([os.environ.get("NAMES_RECORDING", "tests/cli/recording"), data], "\n".join(lines) + "\n")
    env = dict(os.environ, HOME=layout.home, PERF_CONFIG="/dev/null", DEBUGINFOD_URLS="")
    text = run(["perf", "script", "-f", "-i", data, "-F", "ip,sym", "--no-demangle"], env=env)
    names = [line.split(None, 1) for line in text.splitlines() if line.strip()]
    return {int(field[0], 16) - bias: [(None if len(field) < 2 or field[1] == "[unknown]" else field[1].strip(),
                                        None, 0)]
            for field in names}


class Table:
    """The symbol table: the symbols that contain an address, and of these the nearest starts."""

    def __init__(self, files, dynamic, code):
        self.all = [symbol for path in files for symbol in symbols(path)]
        self.all += [symbol for path in dynamic for symbol in symbols(path, True)]
        self.all.sort(key=lambda symbol: symbol.start)
        self.starts = [symbol.start for symbol in self.all]
        self.code = code

    def section(self, address):
        return next((s for s in self.code if s[1] <= address < s[2]), None)

    def at(self, address):
        """Symbols that start nearest below and contain the address; those without a size reach the next."""
        section = self.section(address)
        below = bisect.bisect_right(self.starts, address) - 1
        nearest = self.starts[below] if below >= 0 else None
        found = []
        for symbol in reversed(self.all[max(0, below - NESTED):below + 1]):
            if found and symbol.start != found[0].start or not section or symbol.start < section[1]:
                break
            if address < symbol.start + symbol.size or not symbol.size and symbol.start == nearest:
                found.append(symbol)
        return found

    def starting_in(self, symbol):
        """Symbols that start in another one, with itself."""
        return self.all[bisect.bisect_left(self.starts, symbol.start):
                        bisect.bisect_left(self.starts, symbol.start + symbol.size)]

    def enclosing(self, address):
        """Symbols whose sizes contain the address, and of equal starts one."""
        below = bisect.bisect_right(self.starts, address)
        return list({symbol.start: symbol for symbol in self.all[max(0, below - NESTED):below]
                     if address < symbol.start + symbol.size}.values())


def read_slots(path, table):
    """Names of the functions whose addresses relocations write, by readelf; a resolver may have several."""
    slots = {}
    for line in run(["readelf", "-rW", path]).splitlines():
        field = line.split()
        if len(field) > 3 and re.match("R_X86_64_(JUMP_SLO|GLOB_DAT|IRELATIV)", field[2]):
            if len(field) > 4:
                names = [field[4].split("@")[0]]
            else:
                found = [symbol for symbol in table.all if symbol.start == int(field[3], 16)]
                names = [symbol.name for symbol in found if symbol.is_resolver] or \
                    [symbol.name for symbol in found]
            slots[int(field[0], 16)] = names
    return slots


def read_plt(path, code, table):
    """Names of addresses in procedure linkage tables, by objdump and readelf: sets."""
    answers, slots = {}, None
    for section, start, end in code:
        if not section.startswith(PLT):
            continue
        slots = slots if slots is not None else read_slots(path, table)
        last, entries = None, []
        for line in run(["objdump", "-d", "--no-show-raw-insn", "-j", section, path]).splitlines():
            found = re.match(r" *([0-9a-f]+):\t(.*)", line)
            if not found:
                continue
            jump = re.search(r"jmp .*# ([0-9a-f]+)", found.group(2))
            if jump and int(jump.group(1), 16) in slots:
                at = last if last is not None else int(found.group(1), 16)
                names = slots[int(jump.group(1), 16)] or ["offset_%#x" % at]
                entries.append((at, {name + "@plt" for name in names}))
            last = int(found.group(1), 16) if found.group(2).startswith("endbr") else None
        starts = [at for at, _ in entries]
        for address in range(start, end):
            below = bisect.bisect_right(starts, address) - 1
            answers[address] = entries[below][1] if below >= 0 else {".plt"}
    return answers


def read_line_rows(path):
    """Rows of line tables, as (START, END, FILE, LINE), by readelf."""
    rows, last = [], None
    for line in run(["readelf", "-WwL", path]).splitlines():
        found = re.match(r"(\S+) +(\d+|-) +(?:0x)?([0-9a-f]+)( |$)", line)
        if not found:
            continue
        at = int(found.group(3), 16)
        if last:
            rows.append((last[0], at, os.path.basename(last[1]), last[2]))
        last = None if found.group(2) == "-" else (at, found.group(1), int(found.group(2)))
    return rows


TOOLS = {"perf": ("perf", ask_perf), "llvm-symbolizer": ("llvm-symbolizer", ask_llvm),
         "addr2line": ("addr2line", ask_addr2line), "eu-addr2line": ("eu-addr2line", ask_eu)}


def installed():
    return {name: ask for name, (program, ask) in TOOLS.items() if shutil.which(program)}

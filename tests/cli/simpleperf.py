# SPDX-License-Identifier: GPL-2.0-or-later
"""
Names of simpleperf's recordings, by its own formula (AOSP's dso.cpp, IpToVaddrInFile()):

	simpleperf.py FILE <SCRIPT

SCRIPT is of `sprof script --show-mmap-events -F comm,pid,tid,time,ip,sym,dso`. Each frame in a
file of which feature FILE has symbols must have the name that the formula leads to. Prints the
number of frames compared, and those that differ.
"""
import bisect
import re
import struct
import subprocess
import sys

FEATURES_AT = 72
FILE = 128
KERNEL, KERNEL_MODULE, ELF, DEX = range(4)
MMAP = re.compile(r"PERF_RECORD_MMAP2? +(-?\d+)/-?\d+: \[0x(\w+)\(0x(\w+)\) @ (\w+)[^]]*\]: \S+ (.*)$")
FRAME = re.compile(r"\t\s*(\w+) (.*) \((.*)\)$")


class File:
    def __init__(self, entry):
        end = entry.index(0)
        self.path = entry[:end].decode()
        self.type, self.lowest, count = struct.unpack_from("<IQI", entry, end + 1)
        at = end + 17
        self.symbols = []
        for _ in range(count):
            vaddr, size = struct.unpack_from("<QI", entry, at)
            end = entry.index(0, at + 12)
            self.symbols.append((vaddr, vaddr + size, entry[at + 12:end].decode()))
            at = end + 1
        self.symbols.sort()
        self.starts = [symbol[0] for symbol in self.symbols]
        self.offset = None
        if self.type == ELF and at < len(entry):
            self.offset, = struct.unpack_from("<Q", entry, at)

    def vaddr(self, ip, mapping):
        start, _, offset, _ = mapping
        if self.type == KERNEL or "jit_app_cache:" in self.path:
            return ip
        if self.type == DEX:
            return ip - start + offset
        if self.offset is None:
            return ip - start + self.lowest
        return ip - start + offset - self.offset + self.lowest

    def name(self, vaddr):
        index = bisect.bisect_right(self.starts, vaddr) - 1
        found = index >= 0 and vaddr < self.symbols[index][1]
        return demangled(self.symbols[index][2]) if found else "[unknown]"


def read_files(path):
    data = open(path, "rb").read()
    data_at, data_size = struct.unpack_from("<QQ", data, 40)
    bits = int.from_bytes(data[FEATURES_AT:FEATURES_AT + 32], "little")
    at = data_at + data_size + 16 * bin(bits & (1 << FILE) - 1).count("1")
    files = {}
    if not bits >> FILE & 1:
        return files
    at, size = struct.unpack_from("<QQ", data, at)
    end = at + size
    while at < end:
        size, = struct.unpack_from("<I", data, at)
        file = File(data[at + 4:at + 4 + size])
        files.setdefault(file.path, file)
        at += 4 + size
    return files


demangled_names = {}


def demangled(name):
    if name not in demangled_names:
        demangled_names[name] = subprocess.run(["c++filt", "-p", name], check=True, text=True,
                                               capture_output=True).stdout.strip()
    return demangled_names[name]


def put(maps, new):
    """Maps `new` over what is there."""
    rest = []
    for start, end, offset, name in maps:
        if start < new[0]:
            rest.append((start, min(end, new[0]), offset, name))
        if end > new[1]:
            first = max(start, new[1])
            rest.append((first, end, offset + first - start, name))
    maps[:] = rest + [new]


def expected(files, maps, ip, dso, exact):
    file = files.get(dso)
    mapping = next((m for m in maps if m[0] <= ip < m[1] and m[3] == dso), None)
    if not file or (not mapping and file.type != KERNEL):
        return None
    return file.name(file.vaddr(ip if exact or file.type == DEX else ip - 1, mapping or (0,) * 4))


def main():
    files = read_files(sys.argv[1])
    maps, compared, differ = {}, 0, []
    pid, exact = None, True
    for line in sys.stdin:
        mmap, frame = MMAP.search(line), FRAME.match(line)
        if mmap:
            start, size, offset = (int(mmap[i], 16) for i in (2, 3, 4))
            put(maps.setdefault(int(mmap[1]), []), (start, start + size, offset, mmap[5]))
        elif not frame:
            task = re.search(r" (-?\d+)/-?\d+ ", line)
            pid, exact = int(task[1]) if task else None, True
        else:
            ip = int(frame[1], 16)
            shown = re.sub(r"\+0x\w+$", "", frame[2])
            name = expected(files, maps.get(pid, []), ip, frame[3], exact)
            # What the kernel interrupted is no call.
            exact = ip >> 63
            compared += name is not None
            if name is not None and shown != name:
                differ.append(f"{ip:x} {frame[3]}: {shown}, not {name}")
    print(compared)
    print("".join(line + "\n" for line in differ), end="")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands for `sprof` in a test of agree.py: runs $REAL_SPROF, and makes a number of the view $SPOILED wrong."""
import base64
import gzip
import json
import os
import re
import subprocess
import sys

NAMES = {"csv": ".csv", "folded": ".folded", "pprof": ".pb.gz", "addresses": ".pb.gz", "speedscope": ".speedscope.json",
         "firefox": ".firefox.json", "callgrind": "callgrind.all", "page": ".html"}


def add_one(text, pattern):
    """Adds 1 to the number that is the pattern's last group."""
    found = re.search(pattern, text, re.MULTILINE)
    at = found.span(found.lastindex)
    return "%s%d%s" % (text[:at[0]], int(found[found.lastindex]) + 1, text[at[1]:])


def spoil_pprof(data):
    """Repeats the first sample: fields of protobuf messages may stand anywhere."""
    plain = gzip.decompress(data)
    begin, _, end = next(one for one in fields_of(plain) if plain[one[0]] == 2 << 3 | 2)
    return gzip.compress(plain + plain[begin:end])


def spoil_addresses(data):
    """Repeats all locations with another address: the last value of a field counts."""
    plain = gzip.decompress(data)
    for begin, content, end in list(fields_of(plain)):
        if plain[begin] == 4 << 3 | 2:
            part = plain[content:end] + b"\x18\x01"
            if len(part) < 128:
                plain += bytes([plain[begin], len(part)]) + part
    return gzip.compress(plain)


def fields_of(plain):
    """Yields where fields of a protobuf message begin, where their content begins, and where they end."""
    at = 0
    while at < len(plain):
        tag, size, shift, begin = plain[at], 0, 0, at + 1
        while True:
            size |= (plain[begin] & 127) << shift
            shift, begin = shift + 7, begin + 1
            if plain[begin - 1] < 128:
                break
        end = begin + size if tag & 7 == 2 else begin
        yield at, begin, end
        at = end


def spoil_speedscope(data):
    profile = json.loads(data)
    profile["profiles"][0]["weights"][0] += 1
    profile["profiles"][0]["endValue"] += 1
    return json.dumps(profile).encode()


def spoil_firefox(data):
    profile = json.loads(data)
    samples = profile["threads"][0]["samples"]
    samples["stack"][0] = next(stack for stack in samples["stack"] if stack != samples["stack"][0])
    return json.dumps(profile).encode()


def spoil_page(data):
    """Adds 1 to the samples of an event in the head of the tree."""
    block = re.search(rb'id="tree">([^<]*)<', data)
    plain = gzip.decompress(base64.b64decode(block[1]))
    size = int.from_bytes(plain[:4], "little")
    head = add_one(plain[4:4 + size].decode(), r'"lostOwn": (\d+)').encode()
    plain = len(head).to_bytes(4, "little") + head + plain[4 + size:]
    return data[:block.start(1)] + base64.b64encode(gzip.compress(plain)) + data[block.end(1):]


def spoil(view, data):
    binary = {"pprof": spoil_pprof, "addresses": spoil_addresses, "speedscope": spoil_speedscope, "firefox": spoil_firefox, "page": spoil_page}
    if view in binary:
        return binary[view](data)
    pattern = {"csv": r"^[\d.]+,[\d.]+,[\d.]+,(\d+),", "folded": r" (\d+)$", "callgrind": r"^calls=.*\n\d+ (\d+)",
               "text": r"^ *[\d.]+% +[\d.]+% +\d*?(\d) +[\d,]+ "}[view]
    return add_one(data.decode(), pattern).encode()


def main(arguments):
    view = os.environ["SPOILED"]
    done = subprocess.run([os.environ["REAL_SPROF"], *arguments], stdout=subprocess.PIPE, check=False)
    output = done.stdout
    if view == "text" and "--percent-limit" in arguments:
        output = spoil(view, output)
    path = arguments[arguments.index("-o") + 1] if "-o" in arguments else ""
    if view in NAMES and path.endswith(NAMES[view]) and not done.returncode:
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(spoil(view, data))
    sys.stdout.buffer.write(output)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

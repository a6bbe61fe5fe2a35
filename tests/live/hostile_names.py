#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hostile_names.py RECORDING: replaces a stored function's name by one with control characters."""
import struct
import sys
import zlib

HEAD = 56


def records(chunks):
    """Yields (kind, bytes) of each record."""
    at = 0
    while at < len(chunks):
        size = struct.unpack_from("<H", chunks, at + 6)[0]
        yield chunks[at + 8:at + 16], chunks[at:at + size]
        at += size


def record(kind, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", 78, 0, 24 + len(body)) + kind + bytes(8) + body


def main(path):
    with open(path, "rb") as file:
        whole = file.read()
    size = struct.unpack("<Q", whole[-8:])[0]
    packed = b""
    for kind, bytes_ in records(whole[-size:]):
        if kind == b"sprofchk":
            chunk, _, raw_size, packed_size, _ = struct.unpack_from("<IIQQQ", bytes_, 24)
            assert chunk == 1
            packed += bytes_[HEAD:]
    packed = packed[:packed_size]
    names = zlib.decompress(packed) if packed_size != raw_size else packed
    hostile = names.replace(b"compress\0", b"\x1b[2J\x07\r\xff<\0")
    assert hostile != names and len(hostile) < 60000
    chunks = record(b"sprofchk", struct.pack("<IIQQQ", 1, 0, len(hostile), len(hostile), 0) + hostile)
    chunks += record(b"sprofend", struct.pack("<Q", len(chunks) + 32))
    with open(path, "wb") as file:
        file.write(whole[:-size] + chunks)


main(sys.argv[1])

"""Reads a mapped file of counters without the library: python3 reader.py FILE

The layout is that of format.md. Each line is a counter: its name, its labels, its sum.
"""
import os
import struct
import sys

PAGE, SEGMENT, OWNERS, PACES = 4096, 8192, 64 * 512, 16384 * 64
COUNTER = 1


def read(path):
    """Yields the name, the labels and the sum of each counter."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    header = os.pread(file, 128, 0)
    magic, version, page = struct.unpack_from("<8sII", header, 0)
    plain, locked, columns, table, length = struct.unpack_from("<IIIIQ", header, 16)
    if (magic, version, page, length) != (b"windrowM", 1, PAGE, os.fstat(file).st_size):
        raise ValueError("not a whole file of version 1")
    rows = plain + locked
    segments = PAGE + -(-table // PAGE) * PAGE + OWNERS + PACES
    (end,) = struct.unpack("<Q", os.pread(file, 8, 64))
    used, columns = end & 0xFFFF_FFFF, end >> 32
    entries = os.pread(file, used, PAGE)

    sums = [0] * columns
    for first in range(0, columns, SEGMENT):
        count = min(SEGMENT, columns - first)
        for row in range(rows):
            at = segments + (first // SEGMENT * rows + row) * SEGMENT * 8
            cells = struct.unpack(f"<{count}Q", os.pread(file, count * 8, at))
            for column, cell in enumerate(cells):
                sums[first + column] = (sums[first + column] + cell) % 2**64
    os.close(file)

    at = 0
    while at < used:
        size, column, _, text, kind = struct.unpack_from("<IIIHB", entries, at)
        name, *labels = entries[at + 16 : at + 16 + text].decode().split("\0")
        if kind == COUNTER:
            yield name, dict(zip(labels[::2], labels[1::2])), sums[column]
        at += size


if __name__ == "__main__":
    for name, labels, total in read(sys.argv[1]):
        print(name, *(f"{label}={value}" for label, value in labels.items()), total)

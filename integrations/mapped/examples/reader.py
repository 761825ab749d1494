"""Reads a mapped file of metrics without the library: python3 reader.py FILE. See format.md."""
import fcntl, os, struct, sys

PAGE, SEGMENT, PACES, OFD_GETLK, LOCK = 4096, 8192, 64 * 16384, 36, "hhqqi4x"
up = lambda size: -(-size // PAGE) * PAGE
word = lambda file, at: struct.unpack("<Q", os.pread(file, 8, at))[0]


def owner(file, state, slot, gauges):
    """Returns whether the owner of a slot lives, and its values; zeros if it had none."""
    ask = struct.pack(LOCK, fcntl.F_WRLCK, os.SEEK_SET, state, 1, 0)
    is_locked = lambda: struct.unpack(LOCK, fcntl.fcntl(file, OFD_GETLK, ask))[0] != fcntl.F_UNLCK
    while True:
        before, lives = word(file, state), is_locked()
        values = struct.unpack(f"<{gauges}q", os.pread(file, gauges * 8, slot + 8))
        lives = lives or is_locked()
        if word(file, state) == before:  # otherwise another process has taken the slot
            return lives, values if before and before % 2 == 0 else (0,) * gauges


def read(path):
    """Yields the name, the labels and the value of each metric."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    magic, version, page, plain, locked, _, table, length, slots, gauges = struct.unpack(
        "<8sIIIIIIQII", os.pread(file, 48, 0))
    if (magic, version, page, length) != (b"windrowM", 1, PAGE, os.fstat(file).st_size):
        raise ValueError("not a whole file of version 1")
    states, rows, slot = PAGE + up(table), plain + locked, (gauges + 1) * 8
    segments = (first := states + up(slots * 8)) + up(slots * slot) + PACES
    used, columns = struct.unpack("<II", os.pread(file, 8, 64))
    entries = os.pread(file, used, PAGE)
    cells = []  # of each column those of all rows
    for begin in range(0, columns, SEGMENT):
        count, at = min(SEGMENT, columns - begin), segments + begin * rows * 8
        parts = [os.pread(file, count * 8, at + row * SEGMENT * 8) for row in range(rows)]
        cells.extend(zip(*(struct.unpack(f"<{count}Q", part) for part in parts)))
    at, gauge, owners = 0, 0, [owner(file, states + n * 8, first + n * slot, gauges) for n in range(slots)]
    while at < used:
        size, column, count, text, kind = struct.unpack_from("<IIIHB", entries, at)
        if size < 16 + text: raise ValueError(f"entry of {size} bytes")
        name, *labels = entries[at + 16 : at + 16 + text].decode().split("\0")
        own, value = cells[column : column + count], "none"
        sums, greatest = [sum(row) % 2**64 for row in own], [max(row) for row in own]
        if kind == 1:  # a counter
            value = sums[0]
        elif kind in (2, 3) and any(greatest):  # a maximum, or a minimum's complement
            value = greatest[0] if kind == 2 else 2**64 - 1 - greatest[0]
        elif kind == 4:  # a histogram
            value = f"count={sum(sums[1:]) % 2**64} sum={sums[0]}"
        elif kind in (5, 6):  # a gauge, or operations in progress
            value = " ".join(f"{what}={sum(values[gauge] for is_live, values in owners if is_live == lives)}"
                             for what, lives in (("live", True), ("dead", False)))
        if kind in range(1, 7):  # a pace, or a kind to come, is passed over
            yield name, dict(zip(labels[::2], labels[1::2])), value
        at, gauge = at + size, gauge + (kind in (5, 6))


if __name__ == "__main__":
    for name, labels, value in read(sys.argv[1]):
        print(name, *(f"{label}={of}" for label, of in labels.items()), value)

"""Loads two copies of the shared object into one Python process, adds through both from threads of
Python, closes one while the threads live, forks, and runs everything inside. Every total must be
exact.

python3 python.py OBJECT COPY TIMES
"""

import ctypes
import _ctypes
import os
import sys
import threading

THREADS = 6
CALLS = 40


def load(path):
    copy = ctypes.CDLL(path)
    copy.wild_add.argtypes = [ctypes.c_uint64]
    copy.wild_run.argtypes = [ctypes.c_uint64]
    copy.wild_sum.restype = ctypes.c_uint64
    return copy


def exact(what, found, added):
    if found != added:
        print(f"NOT EXACT: {what}: {found}, and {added} was added", flush=True)
        os._exit(1)  # threads may wait for this one


def main():
    paths, times = sys.argv[1:3], int(sys.argv[3])
    copies = [load(path) for path in paths]
    added, closed, over = (threading.Barrier(THREADS + 1) for _ in range(3))
    lost = int(os.environ.get("WILD_LOSE", "") == "host")

    def work(number):
        for call in range(CALLS):
            for copy in copies:
                copy.wild_add(times - (lost if (number, call) == (0, 0) else 0))
        added.wait()
        closed.wait()
        for _ in range(CALLS):  # the other copy is in use while the first is closed
            copies[1].wild_add(times)
        over.wait()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    added.wait()
    total = THREADS * CALLS * times
    for copy in copies:
        exact("a copy", copy.wild_sum(), total)

    # The threads have added through the copy, and live on.
    _ctypes.dlclose(copies[0]._handle)
    closed.wait()
    over.wait()
    for thread in threads:
        thread.join()
    exact("the other copy", copies[1].wild_sum(), 2 * total)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split()[-1] for line in maps if ".so" in line}
    if os.path.realpath(paths[0]) not in mapped:
        print("NOT SAFE: the closed copy was unmapped while threads lived that had used it")
        sys.exit(1)

    # Open again, it is the same copy, with the same numbers.
    copies[0] = load(paths[0])
    copies[0].wild_add(1)
    exact("the copy that was closed", copies[0].wild_sum(), total + 1)

    child = os.fork()
    if child == 0:
        sums = [copy.wild_sum() for copy in copies]
        for copy in copies:
            copy.wild_add(times)
        now = [copy.wild_sum() for copy in copies]
        os._exit(0 if now == [number + times for number in sums] else 33)
    exact("a forked child's status", os.waitpid(child, 0)[1], 0)

    for copy in copies:
        if copy.wild_run(times) != 0:
            sys.exit(1)
    strategies = [copy.wild_strategy() for copy in copies]
    print(f"Python {sys.version.split()[0]}: two copies, strategies {strategies}, {THREADS} threads")


main()

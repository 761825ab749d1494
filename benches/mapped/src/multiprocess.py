"""Times a scrape of Python's multiprocess mode: python3 multiprocess.py FOLDER PROCESSES COUNTERS

Each process of the folder has its own file, in which it has added to each counter once. Prints the
milliseconds of CPU time of each of some scrapes.
"""
import os
import sys
import time

folder, processes, counters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
from prometheus_client import CollectorRegistry, Counter, generate_latest, multiprocess

calls = Counter("calls", "Calls by route", ["route"])
for _ in range(processes):
    child = os.fork()
    if child == 0:
        for route in range(counters):
            calls.labels(route=f"/{route}").inc()
        os._exit(0)
    os.waitpid(child, 0)

for _ in range(11):
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    begun = time.process_time_ns()
    text = generate_latest(registry)
    print((time.process_time_ns() - begun) / 1e6)
    assert text.count(f" {processes}.0\n".encode()) == counters, text

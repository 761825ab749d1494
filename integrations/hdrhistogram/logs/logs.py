"""Writes and reads interval logs: logs.py write FILE, logs.py read FILE."""

import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader, HistogramLogWriter

INTERVALS = [[1_000, 2_000_000, 5_000_000_000], [], [7]]
GREATEST = 2**63 - 1

way, name = sys.argv[1:]
if way == "write":
    with open(name, "w") as file:
        log = HistogramLogWriter(file)
        log.output_log_format_version()
        log.output_legend()
        for number, values in enumerate(INTERVALS):
            histogram = HdrHistogram(1, 3_600_000_000_000, 3)
            for value in values:
                histogram.record_value(value)
            start = 1_700_000_000 + number
            log.output_interval_histogram(histogram, start, start + 1)
else:
    log = HistogramLogReader(name, HdrHistogram(1, GREATEST, 3))
    while histogram := log.get_next_interval_histogram():
        print(histogram.get_total_count(), histogram.get_max_value())

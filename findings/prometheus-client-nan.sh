#!/bin/sh
# prometheus_client 0.26.0 (PyPI), a histogram and a summary that are given a NaN
#
# Guess: both treat it alike: it is refused, or it is counted above all bounds.
# What happens: the summary counts it; the histogram does not, for a NaN is below no bound, not
# even +Inf. Both add it to their sum, which stays NaN until the process ends.
# Seen: of 1 and NaN the summary has 2 values, the histogram has 1; both sums are NaN.
# What it means: one 0/0 in a program blanks all its averages for good, and the count does not show
# that a value was lost. Check values before they are recorded.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet prometheus_client==0.26.0

cat > record.py <<'END'
from prometheus_client import CollectorRegistry, Histogram, Summary

for kind in Summary, Histogram:
    registry = CollectorRegistry()
    metric = kind("x", "Ratio", registry=registry)
    for value in float("nan"), 1.0:
        metric.observe(value)
    print(kind.__name__, registry.get_sample_value("x_count"), registry.get_sample_value("x_sum"))
END
env/bin/python record.py | tee found

cat > expected <<'END'
Summary 2.0 nan
Histogram 1.0 nan
END
diff expected found

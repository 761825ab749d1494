#!/bin/sh
# prometheus_client 0.26.0 (PyPI), a histogram whose lowest bound is negative
#
# Guess: `_bucket`, `_count` and `_sum`, as for each other histogram.
# What happens: `_sum` is not written. A sum that can fall is no counter, so OpenMetrics forbids it
# here; the library leaves it out of the text format, too, and says nothing.
# Seen: temperatures of -3 and 20 with bounds of -10, 0 and 30: a count of 2, and no sum. With
# bounds of 0 and 30 the same two values have a sum.
# What it means: `rate(x_sum) / rate(x_count)` answers nothing, without an error, as soon as
# somebody adds a negative bound. Clock skew and differences of balances are such values.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet prometheus_client==0.26.0

cat > record.py <<'END'
from prometheus_client import CollectorRegistry, Histogram, generate_latest

for bounds in ([-10, 0, 30], [0, 30]):
    registry = CollectorRegistry()
    degrees = Histogram("degrees", "Celsius", buckets=bounds, registry=registry)
    degrees.observe(-3)
    degrees.observe(20)
    for line in generate_latest(registry).decode().splitlines():
        if line.startswith("degrees") and "_created" not in line:
            print(line)
END
env/bin/python record.py | tee found

cat > expected <<'END'
degrees_bucket{le="-10.0"} 0.0
degrees_bucket{le="0.0"} 1.0
degrees_bucket{le="30.0"} 2.0
degrees_bucket{le="+Inf"} 2.0
degrees_count 2.0
degrees_bucket{le="0.0"} 1.0
degrees_bucket{le="30.0"} 2.0
degrees_bucket{le="+Inf"} 2.0
degrees_count 2.0
degrees_sum 17.0
END
diff expected found

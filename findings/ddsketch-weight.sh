#!/bin/sh
# ddsketch 3.0.1 (PyPI), values with a weight below one
#
# Guess: weights scale everything alike: 1 and 100 at a weight of 0.25 each have the quantiles of 1
# and 100.
# What happens: the rank of a quantile is q * (count - 1). Below a count of one it is negative, and
# a negative rank is looked up among the negative values, of which there are none.
# Seen: every quantile above 0 is -0.99, the first negative cell, although no value was below 1.
# At a weight of 1 the quantiles are 0.99 and 100.49.
# What it means: sketches whose weights fade with time, or are fractions of samples, answer with a
# number of the wrong sign as soon as traffic is low. Scale weights so that the count stays above 1.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet ddsketch==3.0.1

cat > weigh.py <<'END'
from ddsketch import DDSketch

for weight in 1, 0.25:
    sketch = DDSketch(0.01)
    for value in 1, 100:
        sketch.add(value, weight)
    quantiles = [round(sketch.get_quantile_value(q), 2) for q in (0, 0.25, 0.5, 0.99, 1)]
    print(weight, sketch.count, sketch.sum, quantiles)
END
env/bin/python weigh.py | tee found

cat > expected <<'END'
1 2.0 101.0 [0.99, 0.99, 0.99, 0.99, 100.49]
0.25 0.5 25.25 [0.99, -0.99, -0.99, -0.99, -0.99]
END
diff expected found

#!/bin/sh
# tdigest 0.5.2.2 (PyPI), the quantiles of a few values
#
# Guess: a quantile lies between the smallest and the largest value.
# What happens: between the two lowest values the line goes on to the left, past the minimum; only
# 0 and 100 are cut to the extremes.
# Seen: of 1 and 100 the 10th percentile is -28.7, and the 25th is 1.
# What it means: a latency below zero on the panel of an endpoint with little traffic. Clamp what
# the digest answers to the minimum and the maximum, which a counter has to keep anyway.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet tdigest==0.5.2.2

cat > ask.py <<'END'
from tdigest import TDigest

digest = TDigest()
for value in 1, 100:
    digest.update(value)
for percent in 0, 5, 10, 25, 50, 90, 100:
    print(percent, round(digest.percentile(percent), 2))
END
env/bin/python ask.py | tee found

cat > expected <<'END'
0 1.0
5 -38.6
10 -28.7
25 1.0
50 50.5
90 100.0
100 100.0
END
diff expected found

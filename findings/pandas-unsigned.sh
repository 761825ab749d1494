#!/bin/sh
# pandas 3.1.1 with numpy 2.4.6 (PyPI), differences of unsigned counters
#
# Guess: `diff` of a uint64 column is signed or real, as its first row is NaN anyway: 7 to 3 is -4.
# What happens: the difference is taken in uint64, wraps, and only then becomes a float.
# Seen: 7 to 3 is 1.8446744073709552e+19. The usual mend, `diff().clip(lower=0)`, lets it through,
# and so does the test for a restart, `diff() < 0`. In an int64 column both work.
# What it means: each restart of a counted process is a peak of 1.8e19, which no test for negative
# differences finds. Convert totals to int64 (or float64) first.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet pandas==3.1.1 numpy==2.4.6

cat > difference.py <<'END'
import pandas

for kind in "uint64", "int64":
    added = pandas.Series([5, 7, 3, 4], dtype=kind).diff()
    restarts = int((added < 0).sum())
    print(kind, added.dtype, added.tolist()[1:], restarts, added.clip(lower=0).sum())
END
env/bin/python difference.py | tee found

cat > expected <<'END'
uint64 float64 [2.0, 1.8446744073709552e+19, 1.0] 0 1.8446744073709552e+19
int64 float64 [2.0, -4.0, 1.0] 1 3.0
END
diff expected found

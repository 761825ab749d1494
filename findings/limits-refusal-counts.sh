#!/bin/sh
# limits 5.8.0 (PyPI), the library below flask-limiter and slowapi
#
# Guess: a request that is refused takes nothing from the limit.
# What happens: in a fixed window it takes its whole cost, as the counter is raised before it is
# compared. In a moving window it takes nothing.
# Seen: of 5 an hour, requests that cost 4, 3 and 1 are admitted, refused, refused by the fixed
# window; the other windows admit the last. One request for 6, which could never be admitted,
# closes the fixed window to all requests for an hour.
# What it means: with costs (bytes, tokens, rows) one large refusal locks out the small requests
# behind it. Ask `test` with the cost before `hit`, or take a moving window.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet limits==5.8.0

cat > ask.py <<'END'
from limits import parse, strategies
from limits.storage import MemoryStorage

for kind in "FixedWindow", "SlidingWindowCounter", "MovingWindow":
    for costs in (4, 3, 1), (6, 1):
        limiter = getattr(strategies, kind + "RateLimiter")(MemoryStorage())
        answers = [limiter.hit(parse("5/hour"), "client", cost=cost) for cost in costs]
        print(kind, costs, answers)
END
env/bin/python ask.py | tee found

cat > expected <<'END'
FixedWindow (4, 3, 1) [True, False, False]
FixedWindow (6, 1) [False, False]
SlidingWindowCounter (4, 3, 1) [True, False, True]
SlidingWindowCounter (6, 1) [False, True]
MovingWindow (4, 3, 1) [True, False, True]
MovingWindow (6, 1) [False, True]
END
diff expected found

#!/bin/sh
# pyrate-limiter 4.5.1 (PyPI)
#
# Guess: the name in `try_acquire(name)` is the key of a limit, so that each name has its own.
# What happens: a `Limiter` that is made of rates has one bucket for all names. A name is kept with
# each entry, and decides nothing.
# Seen: at two a minute, "alice" and "bob" are admitted, and "carol", who never came before, is
# refused. With a `BucketFactory` of one's own, which picks a bucket by name, each has two.
# What it means: a limit by client that passes the client as the name is one limit for all of them,
# and one busy client shuts out the rest.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet pyrate-limiter==4.5.1

cat > names.py <<'END'
from pyrate_limiter import BucketFactory, Duration, InMemoryBucket, Limiter
from pyrate_limiter import MonotonicClock, Rate, RateItem

RATE = Rate(2, Duration.MINUTE)


class ByName(BucketFactory):
    def __init__(self):
        self.clock, self.buckets = MonotonicClock(), {}

    def wrap_item(self, name, weight=1):
        return RateItem(name, self.clock.now(), weight=weight)

    def get(self, item):
        if item.name not in self.buckets:
            self.buckets[item.name] = self.create(InMemoryBucket, [RATE])
        return self.buckets[item.name]


names = "alice", "bob", "carol", "carol", "carol"
for what in RATE, ByName():
    limiter = Limiter(what)
    answers = [limiter.try_acquire(name, blocking=False) for name in names]
    print(type(what).__name__, answers)
END
env/bin/python names.py | tee found

cat > expected <<'END'
Rate [True, True, False, False, False]
ByName [True, True, True, True, False]
END
diff expected found

#!/bin/sh
# prometheus_client 0.26.0 (PyPI), its decorators on a coroutine
#
# Guess: `time` and `count_exceptions` also work on an `async def`, or refuse it.
# What happens: they wrap the call that makes the coroutine, not the coroutine's run. That call
# takes microseconds and never fails.
# Seen: a coroutine sleeps 200 ms and raises. No exception is counted, and its time is in the
# bucket of at most 50 ms.
# What it means: an error rate of 0 and a p99 of microseconds, for handlers that fail and are slow.
# Inside a coroutine, use the same objects as context managers: `with failed.count_exceptions():`.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet prometheus_client==0.26.0

cat > serve.py <<'END'
import asyncio
from prometheus_client import CollectorRegistry, Counter, Histogram

registry = CollectorRegistry()
failed = Counter("failed", "Exceptions", registry=registry)
took = Histogram("took", "Seconds", buckets=[0.05, 1], registry=registry)

async def work():
    await asyncio.sleep(0.2)
    raise ValueError

@failed.count_exceptions()
@took.time()
async def decorated():
    await work()

async def inside():
    with failed.count_exceptions(), took.time():
        await work()

for serve in decorated, inside:
    try:
        asyncio.run(serve())
    except ValueError:
        value = registry.get_sample_value
        quick = value("took_bucket", {"le": "0.05"})
        print(serve.__name__, value("failed_total"), value("took_count"), quick)
END
env/bin/python serve.py | tee found

cat > expected <<'END'
decorated 0.0 1.0 1.0
inside 1.0 2.0 1.0
END
diff expected found

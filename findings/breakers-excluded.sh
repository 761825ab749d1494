#!/bin/sh
# pybreaker 1.4.1 and circuitbreaker 2.1.3 (PyPI), exceptions that are not failures
#
# Guess: an excluded exception is ignored: it is neither a failure nor a success.
# What happens: it is a success. It sets the count of failures to zero, and closes a breaker that
# tries whether the service is back.
# Seen: with a limit of 3, nine calls of which six fail with OSError never open either breaker,
# because each third call raises the excluded ValueError. An open pybreaker is closed by one.
# What it means: a client that sends a bad request now and then keeps the breaker closed for all
# others while the backend is down. Count failures in a window, not in a row.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet pybreaker==1.4.1 circuitbreaker==2.1.3

cat > call.py <<'END'
import circuitbreaker
import pybreaker

def failing(error):
    raise error

def call(breaker, *errors):
    for error in errors:
        try:
            breaker.call(failing, error)
        except Exception:
            pass

pattern = [OSError, OSError, ValueError] * 3
for errors in pattern, [OSError] * 3:
    one = pybreaker.CircuitBreaker(fail_max=3, reset_timeout=60, exclude=[ValueError])
    other = circuitbreaker.CircuitBreaker(failure_threshold=3, expected_exception=OSError)
    call(one, *errors)
    call(other, *errors)
    print(len(errors), one.current_state, other.state)

tried = pybreaker.CircuitBreaker(fail_max=1, reset_timeout=0, exclude=[ValueError])
call(tried, OSError)
print(tried.current_state)
call(tried, ValueError)
print(tried.current_state)
END
env/bin/python call.py | tee found

cat > expected <<'END'
9 closed closed
3 open open
open
closed
END
diff expected found

#!/bin/sh
# prometheus 2.42.0+ds-5+deb12u1 (Debian 12), `increase` of a counter with a NaN among its samples
#
# Guess: the answer is NaN, as `sum_over_time` has it, or the NaN is left out.
# What happens: a restart is a sample that is smaller than the one before it. No comparison with a
# NaN is true, so a NaN between the two hides the restart. The answer is the last sample less the
# first, and may be negative.
# Seen: 10, 20, NaN, 3, 4 has an increase of -6 and no resets. 10, 20, 3, 4, 5 has 15 and one.
# What it means: the rate of a counter is below zero, and everything that was counted since the
# restart is taken off. Never export a NaN as a counter; leave the sample out.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download prometheus=2.42.0+ds-5+deb12u1
dpkg -x prometheus_*.deb .

cat > asked.yml <<'END'
evaluation_interval: 15s
tests:
  - interval: 15s
    input_series:
      - { series: 'hidden', values: '10 20 NaN 3 4' }
      - { series: 'plain', values: '10 20 3 4 5' }
    promql_expr_test:
      - { expr: 'increase(hidden[1m])', eval_time: 1m, exp_samples: [{ value: -6 }] }
      - { expr: 'resets(hidden[1m])', eval_time: 1m, exp_samples: [{ value: 0 }] }
      - { expr: 'increase(plain[1m])', eval_time: 1m, exp_samples: [{ value: 15 }] }
      - { expr: 'resets(plain[1m])', eval_time: 1m, exp_samples: [{ value: 1 }] }
END
./usr/bin/promtool test rules asked.yml

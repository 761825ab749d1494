#!/bin/sh
# opentelemetry-sdk 1.45.2 (PyPI) and @opentelemetry/sdk-metrics 2.12.1 (npm), delta temporality
#
# Guess: an observed counter that falls has been restarted, as by Prometheus' rule: the new value
# is what was added since.
# What happens: JavaScript does so. Python sends the difference, below zero, in a sum that it calls
# monotonic.
# Seen: totals of 20, 5 and 9 are 20, -15 and 4 in Python, and 20, 5 and 4 in JavaScript.
# What it means: a backend that adds up deltas forgets 20 events; one that refuses a negative delta
# in a monotonic sum loses the point. Observe totals that nobody drains.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet opentelemetry-sdk==1.45.2
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-metrics@2.12.1

cat > fall.py <<'END'
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider, ObservableCounter
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader

delta = {ObservableCounter: AggregationTemporality.DELTA}
reader = InMemoryMetricReader(preferred_temporality=delta)
totals = iter([20, 5, 9])
meter = MeterProvider([reader]).get_meter("m")
meter.create_observable_counter("done", [lambda _: [Observation(next(totals))]])
for _ in range(3):
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0].data
    print("Python", data.data_points[0].value, "monotonic" if data.is_monotonic else "")
END
cat > fall.js <<'END'
const { AggregationTemporality, MeterProvider, MetricReader } =
    require('@opentelemetry/sdk-metrics');
class Reader extends MetricReader {
    async onShutdown() {}
    async onForceFlush() {}
}
const reader = new Reader({ aggregationTemporalitySelector: () => AggregationTemporality.DELTA });
const totals = [20, 5, 9];
const meter = new MeterProvider({ readers: [reader] }).getMeter('m');
meter.createObservableCounter('done').addCallback((result) => result.observe(totals.shift()));
(async () => {
    for (let turn = 0; turn < 3; turn++) {
        const { resourceMetrics } = await reader.collect();
        const [metric] = resourceMetrics.scopeMetrics[0].metrics;
        console.log('JavaScript', metric.dataPoints[0].value, metric.isMonotonic && 'monotonic');
    }
})();
END
{ env/bin/python fall.py; node fall.js; } | tee found

cat > expected <<'END'
Python 20 monotonic
Python -15 monotonic
Python 4 monotonic
JavaScript 20 monotonic
JavaScript 5 monotonic
JavaScript 4 monotonic
END
diff expected found

#!/bin/sh
# opentelemetry-sdk 1.45.2 (PyPI) and @opentelemetry/sdk-metrics 2.12.1 (npm)
#
# Guess: a callback that observes the same attributes twice has said two things of one moment; both
# libraries keep one of them.
# What happens: JavaScript keeps the last. Python adds them up, although each is a total.
# Seen: 10 and then 7 are 17 in Python, 7 in JavaScript.
# What it means: a callback that visits two sources with equal labels (two pools, both called
# "main") shows a sum here and one of the two there. Add up before you observe, and observe each
# set of attributes once.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet opentelemetry-sdk==1.45.2
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-metrics@2.12.1

cat > twice.py <<'END'
from opentelemetry.metrics import Observation
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

reader = InMemoryMetricReader()
meter = MeterProvider([reader]).get_meter("pools")
both = [Observation(10, {"pool": "main"}), Observation(7, {"pool": "main"})]
meter.create_observable_counter("taken", [lambda _: both])
metric = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0]
print("Python", [point.value for point in metric.data.data_points])
END
cat > twice.js <<'END'
const { MeterProvider, MetricReader } = require('@opentelemetry/sdk-metrics');
class Reader extends MetricReader {
    async onShutdown() {}
    async onForceFlush() {}
}
const reader = new Reader();
const meter = new MeterProvider({ readers: [reader] }).getMeter('pools');
meter.createObservableCounter('taken').addCallback((result) => {
    result.observe(10, { pool: 'main' });
    result.observe(7, { pool: 'main' });
});
reader.collect().then(({ resourceMetrics }) => {
    const [metric] = resourceMetrics.scopeMetrics[0].metrics;
    console.log('JavaScript', JSON.stringify(metric.dataPoints.map((point) => point.value)));
});
END
{ env/bin/python twice.py; node twice.js; } | tee found

cat > expected <<'END'
Python [17]
JavaScript [7]
END
diff expected found

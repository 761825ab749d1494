#!/bin/sh
# @opentelemetry/sdk-metrics 2.12.1 (npm), a limit of series with cumulative temporality
#
# Guess: with a limit of 3 a counter never exports more than 3 series; what comes later is counted
# in the series of the overflow.
# What happens: the limit holds between two collections. The totals that a cumulative reader keeps
# have no limit: each collection may add two series more, and none ever leaves.
# Seen: a counter sees four new values at each collection, and exports 3, 5, 7 and then 9 series.
# A delta reader exports 3 each time.
# What it means: the limit slows down the growth of memory and of what is sent, and does not end
# it. Where the number of series must be bounded, use delta temporality or bound the attributes.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund @opentelemetry/api@1.9.1 @opentelemetry/sdk-metrics@2.12.1

cat > grow.js <<'END'
const { AggregationTemporality, MeterProvider, MetricReader } =
    require('@opentelemetry/sdk-metrics');
class Reader extends MetricReader {
    async onShutdown() {}
    async onForceFlush() {}
}

async function sizes(temporality) {
    const reader = new Reader({
        aggregationTemporalitySelector: () => temporality,
        cardinalitySelector: () => 3,
    });
    const seen = new MeterProvider({ readers: [reader] }).getMeter('m').createCounter('seen');
    const sizes = [];
    for (let client = 0; client < 16; client++) {
        seen.add(1, { client });
        if (client % 4 === 3) {
            const { resourceMetrics } = await reader.collect();
            sizes.push(resourceMetrics.scopeMetrics[0].metrics[0].dataPoints.length);
        }
    }
    return sizes.join(' ');
}

(async () => {
    console.log('cumulative', await sizes(AggregationTemporality.CUMULATIVE));
    console.log('delta', await sizes(AggregationTemporality.DELTA));
})();
END
node grow.js | tee found

cat > expected <<'END'
cumulative 3 5 7 9
delta 3 3 3 3
END
diff expected found

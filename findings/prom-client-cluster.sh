#!/bin/sh
# prom-client 15.1.3 (npm), a summary in the processes of a cluster
#
# Guess: quantiles cannot be added up, so that a cluster's page leaves them out or averages them.
# What happens: they are added up, like counts. Each process that works as the others do raises the
# median by its own.
# Seen: two processes, each with 1 to 100 ms, show a median of 101 ms and a p99 of 199 ms. No value
# was above 100 ms.
# What it means: a p99 on such a page grows with the number of processes. Export a histogram, whose
# counts may be added, and compute the quantile from the sum.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund prom-client@15.1.3

cat > cluster.js <<'END'
const { AggregatorRegistry, Registry, Summary } = require('prom-client');

// What one process sends to the one that answers the scrape.
async function one() {
    const registry = new Registry();
    const took = new Summary({
        name: 'took', help: 'Milliseconds', percentiles: [0.5, 0.99], registers: [registry],
    });
    for (let value = 1; value <= 100; value++) took.observe(value);
    return JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()));
}

(async () => {
    const all = AggregatorRegistry.aggregate([await one(), await one()]);
    console.log((await all.metrics()).trim());
})();
END
node cluster.js | tee found

cat > expected <<'END'
# HELP took Milliseconds
# TYPE took summary
took{quantile="0.5"} 101
took{quantile="0.99"} 199
took_sum 10100
took_count 200
END
diff expected found

#!/bin/sh
# opossum 9.0.0 (npm), a threshold that is just reached
#
# Guess: `errorThresholdPercentage: 100` opens the breaker once every call fails, and 50 once one
# of two does.
# What happens: the part of failures has to exceed the threshold. No part exceeds 100 %, so that
# such a breaker never opens.
# Seen: 100 failures of 100 calls, and a closed breaker; at 99 the first failure opens it, and the
# other 99 calls are turned away. Three failures of six do not reach a threshold of 50.
# What it means: "only when everything fails" turns the breaker off. Compare with the rule of
# another library before you move a threshold: resilience4j opens at the threshold itself.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund opossum@9.0.0

cat > fail.js <<'END'
const CircuitBreaker = require('opossum');

async function run(errorThresholdPercentage, volumeThreshold, calls) {
    const fails = async (failing) => {
        if (failing) throw new Error('no');
    };
    const breaker = new CircuitBreaker(fails, {
        errorThresholdPercentage, volumeThreshold, timeout: false, resetTimeout: 600000,
    });
    for (const failing of calls) await breaker.fire(failing).catch(() => {});
    const { failures, fires } = breaker.stats;
    console.log(errorThresholdPercentage, `${failures} of ${fires}`, breaker.opened);
    breaker.shutdown();
}

(async () => {
    await run(100, 0, Array(100).fill(true));
    await run(99, 0, Array(100).fill(true));
    await run(50, 6, [false, false, false, true, true, true]);
    await run(49, 6, [false, false, false, true, true, true]);
    process.exit();
})();
END
node fail.js | tee found

cat > expected <<'END'
100 100 of 100 false
99 1 of 100 true
50 3 of 6 false
49 3 of 6 true
END
diff expected found

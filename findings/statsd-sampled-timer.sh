#!/bin/sh
# statsd 0.9.0 (npm), timers that a client sends with a sample rate
#
# Guess: a sample rate applies to all that a timer becomes, as it does to a counter.
# What happens: only the count is divided by the rate. The sum, its parts by percentile and the
# count of a percentile are those of the samples that arrived.
# Seen: of 100 ms and 300 ms at a rate of 0.1, the count is 20, the sum 400, the mean 200: the sum
# divided by the count is 20. The counter that was sent with them is 10, as its rate says.
# What it means: a mean over several timers, the sum of sums by the sum of counts, is wrong by the
# rate, and nothing shows it. Send timers unsampled, or divide the sums by the rate as well.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund statsd@0.9.0

cat > shown.js <<'END'
const { writeFileSync } = require('fs');

exports.init = (begun, config, events) => {
    events.on('flush', (time, metrics) => {
        if (!metrics.timers.took) return;
        const { count, sum, mean, count_90, sum_90 } = metrics.timer_data.took;
        const { asked } = metrics.counters;
        const seen = { count, sum, mean, count_90, sum_90, asked };
        writeFileSync('found', `${JSON.stringify(seen)}\n`);
        process.exit();
    });
    return true;
};
END

cat > send.js <<'END'
const { spawn } = require('child_process');
const { createSocket } = require('dgram');
const { writeFileSync } = require('fs');

// On a port that is free now.
const probe = createSocket('udp4').bind(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close();
    const backends = [`${process.cwd()}/shown.js`];
    const config = { port, address: '127.0.0.1', mgmt_port: 0, flushInterval: 1000, backends };
    writeFileSync('config.js', JSON.stringify(config));
    const server = spawn(process.execPath, ['node_modules/statsd/stats.js', 'config.js']);
    process.on('exit', () => server.kill());
    const lines = 'took:100|ms|@0.1\ntook:300|ms|@0.1\nasked:1|c|@0.1';
    const socket = createSocket('udp4');
    // One packet, which is one flush's, at a time: until the server has read one.
    const sending = setInterval(() => socket.send(lines, port, '127.0.0.1'), 3000);
    server.on('exit', () => { clearInterval(sending); socket.close(); });
});
END
timeout 60 node send.js
cat found

echo '{"count":20,"sum":400,"mean":200,"count_90":2,"sum_90":400,"asked":10}' > expected
diff expected found

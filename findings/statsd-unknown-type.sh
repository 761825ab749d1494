#!/bin/sh
# statsd 0.9.0 (npm), the types and the packed values that other servers know
#
# Guess: a line whose type the server does not know is a bad line, and is dropped.
# What happens: a type that is not ms, g or s is a counter. A histogram's (h) and a distribution's
# (d) values are added up as counts. Of packed values the last one counts, the others are bad.
# Seen: took:250|h and took:30|h are a counter of 280; size:9|d one of 9; packed:1:2:3|c one of 3,
# and two bad lines.
# What it means: a client library with the types of DogStatsD fills counters with milliseconds,
# which grow like traffic, and no error is counted. Send latencies as ms, one value a line.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund statsd@0.9.0

cat > send.js <<'END'
const { spawn } = require('child_process');
const { createSocket } = require('dgram');
const { connect, createServer } = require('net');
const { writeFileSync } = require('fs');

const free = () => new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => done(port));
    });
});
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const ask = (port, command) => new Promise((done, failed) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\n`));
    socket.on('error', failed).on('data', (data) => {
        text += data;
        if (text.includes('END')) socket.end();
    }).on('close', () => done(text));
});

(async () => {
    const [port, mgmt_port] = [await free(), await free()];
    writeFileSync('config.js', JSON.stringify({
        port, mgmt_port, address: '127.0.0.1', mgmt_address: '127.0.0.1', flushInterval: 600000,
    }));
    const server = spawn(process.execPath, ['node_modules/statsd/stats.js', 'config.js']);
    process.on('exit', () => server.kill());
    for (let left = 100; left > 0; left--) {
        await pause(100);
        if (await ask(mgmt_port, 'counters').catch(() => '')) break;
    }
    const lines = ['took:250|h', 'took:30|h', 'size:9|d', 'packed:1:2:3|c', 'known:5|ms'];
    const socket = createSocket('udp4');
    for (const line of lines) socket.send(line, port, '127.0.0.1');
    await pause(2000);
    for (const kind of ['counters', 'timers']) {
        const text = await ask(mgmt_port, kind);
        console.log(kind, text.replace('END', '').trim());
    }
    server.kill();
    socket.close();
})();
END
node send.js | tee found

cat > expected <<'END'
counters {
  'statsd.bad_lines_seen': 2,
  'statsd.packets_received': 5,
  'statsd.metrics_received': 5,
  took: 280,
  size: 9,
  packed: 3
}
timers { known: [ 5 ] }
END
diff expected found

#!/bin/sh
# prom-client 15.1.3 (npm), a counter with two labels
#
# Guess: two series whose label values differ are two series.
# What happens: the key of a series is its names and values, joined by ":" and ",". A value with a
# comma and a colon in it can spell the key of another series. The two become one, under the labels
# that came first; the other is not exported at all.
# Seen: seen{filter="host:db,state:up"} 2, where 1 and 1 were counted. So it is, too, where both
# calls give both labels.
# What it means: a label that takes text from outside (a filter, a path, a query) can move counts
# from one series to another. Map such text to a fixed set of values before it becomes a label.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund prom-client@15.1.3

cat > count.js <<'END'
const { Counter, register } = require('prom-client');
const seen = new Counter({ name: 'seen', help: 'Searches', labelNames: ['filter', 'state'] });
seen.inc({ filter: 'host:db,state:up' });
seen.inc({ filter: 'host:db', state: 'up' });
seen.inc({ filter: 'a,state:b', state: 'c' });
seen.inc({ filter: 'a', state: 'b,state:c' });
register.metrics().then((text) => console.log(text.trim()));
END
node count.js | tee found

cat > expected <<'END'
# HELP seen Searches
# TYPE seen counter
seen{filter="host:db,state:up"} 2
seen{filter="a,state:b",state="c"} 2
END
diff expected found

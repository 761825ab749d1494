#!/bin/sh
# prometheus-node-exporter 1.5.0-1+b6 (Debian 12), its textfile collector
#
# Guess: a file with another HELP text for the same metric does no harm, or its file is refused and
# `node_textfile_scrape_error` says so.
# What happens: the second file's series of that metric are dropped. The answer is a 200, and
# `node_textfile_scrape_error` stays 0. Only a total of errors, in the next scrape, has it.
# Seen: two files with jobs_total, "Jobs" and "Jobs done"; one series arrives. The other metric of
# the second file arrives as well. With equal texts both series do.
# What it means: while a new version with a better text is rolled out, one of two counts is missing
# and nothing on the usual panels says so. Alert on promhttp_metric_handler_errors_total as well.
set -eu
here=$(mktemp -d)
agent=
trap 'test -z "$agent" || kill "$agent"; rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download prometheus-node-exporter=1.5.0-1+b6
dpkg -x prometheus-node-exporter_*.deb .

mkdir texts
write() { # FILE HELP
    printf '# HELP jobs_total %s\n# TYPE jobs_total counter\njobs_total{by="%s"} 1\nup_%s 1\n' \
        "$2" "$1" "$1" > "texts/$1.prom"
}
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0));
print(s.getsockname()[1])')
scrape() {
    python3 - "$port" <<'END'
import re, sys, time, urllib.request
for attempt in range(100):
    try:
        answer = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics")
        break
    except OSError:
        time.sleep(0.1)
print(answer.status)
wanted = "(jobs|up|node_textfile_scrape_error|promhttp_metric_handler_errors_total.*gathering)"
for line in answer.read().decode().splitlines():
    if re.match(wanted, line):
        print(line)
END
}

./usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.textfile \
    --collector.textfile.directory=texts --web.disable-exporter-metrics \
    --web.listen-address="127.0.0.1:$port" 2> log &
agent=$!
write a 'Jobs'
write b 'Jobs done'
{ scrape; scrape | tail -n 4; write b 'Jobs'; scrape | grep jobs; } | tee found

cat > expected <<'END'
200
jobs_total{by="a"} 1
node_textfile_scrape_error 0
promhttp_metric_handler_errors_total{cause="gathering"} 0
up_a 1
up_b 1
node_textfile_scrape_error 0
promhttp_metric_handler_errors_total{cause="gathering"} 1
up_a 1
up_b 1
jobs_total{by="a"} 1
jobs_total{by="b"} 1
END
diff expected found

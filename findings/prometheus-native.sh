#!/bin/sh
# prometheus 2.42.0+ds-5+deb12u1 (Debian 12), --enable-feature=native-histograms,exemplar-storage
#
# Guess: native histograms are stored beside the classic ones, with all their exemplars; quantiles of
# positive values are positive; and a histogram keeps its form.
# What happens: the classic series are gone. The exemplar of the lowest bucket alone is kept. If all
# values are in the zero bucket, its lower end is taken for negative. A histogram without a value,
# whose zero threshold is 0, is stored as a classic one until its first value.
# Seen: `below`, ten values of at most 512, has a 10th percentile of -409.6; one of two exemplars
# remains; `empty` has the series empty_bucket, and `tiny`, with a threshold of 2^-128, has none.
# What it means: ask in both forms, joined by `or`. Write a small threshold, not 0, and count what is
# too small to tell apart in a positive bucket.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

apt-get -o APT::Sandbox::User=root -qq download prometheus=2.42.0+ds-5+deb12u1
dpkg -x prometheus_*.deb .

cat > asked.py <<'END'
import http.server, json, socket, struct, subprocess, threading, time, urllib.parse, urllib.request

def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
def number(tag, n): return varint(tag << 3) + varint(n)
def double(tag, x): return varint(tag << 3 | 1) + struct.pack("<d", x)
def part(tag, body): return varint(tag << 3 | 2) + varint(len(body)) + body

# The messages of io.prometheus.client's metrics.proto.
def exemplar(value): return part(1, part(1, b"id") + part(2, b"x")) + double(2, value)
def family(name, threshold, zeros, buckets):
    count = zeros + buckets
    body = number(1, count) + double(2, 0.0) + number(5, 2 * 3) + double(6, threshold)  # schema 3
    body += number(7, zeros) + part(12, number(1, 2 * 73) + number(2, buckets))
    body += b"".join(number(13, 2 * delta) for delta in [1, 0][:buckets])
    for at, bound in enumerate([600.0, 1000.0, float("inf")]):
        classic = number(1, zeros + min(at + 1, buckets)) + double(2, bound)
        body += part(3, classic + (part(3, exemplar(bound - 1)) if 0 < buckets and at < 2 else b""))
    body = part(1, name) + number(3, 4) + part(4, part(7, body))
    return varint(len(body)) + body
SCRAPE = (family(b"below", 512.0, 10, 0) + family(b"two", 512.0, 0, 2)
    + family(b"empty", 0.0, 0, 0) + family(b"tiny", 2.0**-128, 0, 0))

class Target(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/vnd.google.protobuf; "
            "proto=io.prometheus.client.MetricFamily; encoding=delimited")
        self.end_headers()
        self.wfile.write(SCRAPE)
    def log_message(self, *_): pass
target = http.server.HTTPServer(("127.0.0.1", 0), Target)
threading.Thread(target=target.serve_forever, daemon=True).start()
open("own.yml", "w").write("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: a, "
    f"static_configs: [{{targets: ['127.0.0.1:{target.server_port}']}}]}}]\n")
free = socket.create_server(("127.0.0.1", 0)); port = free.getsockname()[1]; free.close()
server = subprocess.Popen(["./usr/bin/prometheus", "--config.file=own.yml", "--storage.tsdb.path=d",
    f"--web.listen-address=127.0.0.1:{port}", "--log.level=error",
    "--enable-feature=native-histograms,exemplar-storage"])
def ask(what, query):
    url = f"http://127.0.0.1:{port}/api/v1/{what}?start=0&end=9e9&query={urllib.parse.quote(query)}"
    try: return json.load(urllib.request.urlopen(url))["data"]
    except OSError: return {"result": []}
try:
    while not ask("query", "up == 1")["result"]: time.sleep(0.1)
    names = ask("query", '{__name__=~"(below|two|empty|tiny).*"}')["result"]
    print(*sorted({one["metric"]["__name__"] for one in names}))
    print(ask("query", "histogram_quantile(0.1, below)")["result"][0]["value"][1])
    print([one["value"] for of in ask("query_exemplars", "two") for one in of["exemplars"]])
finally: server.kill()
END
python3 asked.py | tee found
printf '%s\n' 'below empty_bucket empty_count empty_sum tiny two' -409.6 "['599']" | diff - found

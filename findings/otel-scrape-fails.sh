#!/bin/sh
# opentelemetry-exporter-prometheus 0.66b2 with opentelemetry-sdk 1.45.2 (PyPI)
#
# Guess: an exponential histogram is exported as a native one, or left out with a warning.
# What happens: the first value that it records makes each later scrape fail, with all metrics of
# the process in it. Up to then scrapes work.
# Seen: 200, then HTTP Error 500 (an AttributeError in the log), for the counter beside it, too.
# What it means: a view that suits an OTLP exporter takes away a process's whole page. A target
# that goes down right after its first request looks like a crash of the service.
set -eu
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"

python3 -m venv env
env/bin/pip install --quiet opentelemetry-exporter-prometheus==0.66b2 opentelemetry-sdk==1.45.2 \
    prometheus_client==0.26.0

cat > scrape.py <<'END'
from urllib.error import HTTPError
from urllib.request import urlopen
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.view import ExponentialBucketHistogramAggregation, View
from prometheus_client import start_http_server

view = View(instrument_name="took", aggregation=ExponentialBucketHistogramAggregation())
meter = MeterProvider([PrometheusMetricReader()], views=[view]).get_meter("m")
done, took = meter.create_counter("done"), meter.create_histogram("took")
server, _ = start_http_server(0, addr="127.0.0.1")

def scrape(when):
    try:
        text = urlopen(f"http://127.0.0.1:{server.server_port}/metrics").read().decode()
        print(when, 200, "with the counter" if "\ndone_total{" in text else "without the counter")
    except HTTPError as error:
        print(when, error.code)

done.add(1)
scrape("before")
took.record(3)
scrape("after")
scrape("again")
server.shutdown()
END
env/bin/python scrape.py 2> log | tee found
tail -n 1 log | tee -a found

cat > expected <<'END'
before 200 with the counter
after 500
again 500
AttributeError: 'ExponentialHistogramDataPoint' object has no attribute 'value'
END
diff expected found

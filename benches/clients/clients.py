"""Calls each address as one of PyPI's clients does, as its documentation shows, and says when a call
has ended: clients.py CLIENT ADDRESS CASE..."""

import asyncio
import json
import os
import sys
import threading
import traceback


def call_urllib3(base, case):
    import urllib3

    urllib3.PoolManager().request("GET", f"{base}/urllib3/{case}")


def call_tenacity(base, case):
    import urllib.request

    import tenacity

    stop, wait = tenacity.stop_after_attempt(4), tenacity.wait_exponential()
    for attempt in tenacity.Retrying(stop=stop, wait=wait):
        with attempt:
            urllib.request.urlopen(f"{base}/tenacity/{case}").read()


def call_openai(base, case):
    import openai

    openai.OpenAI(api_key="none", base_url=f"{base}/openai-python/{case}").models.list()


def call_aiohttp_retry(base, case):
    import aiohttp
    from aiohttp_retry import ExponentialRetry, RetryClient

    async def get():
        options = ExponentialRetry(attempts=4, statuses={429})
        untimed = aiohttp.ClientTimeout(total=None)
        async with RetryClient(retry_options=options, timeout=untimed) as client:
            await client.get(f"{base}/aiohttp-retry/{case}")

    asyncio.run(get())


def call_httpx_retries(base, case):
    import httpx
    from httpx_retries import RetryTransport

    httpx.Client(transport=RetryTransport()).get(f"{base}/httpx-retries/{case}")


def export_by(exporter):
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    reader = PeriodicExportingMetricReader(exporter, export_interval_millis=1e8)
    provider = MeterProvider([reader])
    provider.get_meter("m").create_counter("c").add(1)
    provider.force_flush(300_000)


def call_otlp_http(base, case):
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    export_by(OTLPMetricExporter(f"{base}/otlp-python-http/{case}"))


def call_otlp_grpc(base, case):
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter

    name = (("case", f"otlp-python-grpc/{case}"),)
    export_by(OTLPMetricExporter(f"http://{base}", insecure=True, headers=name))


def call_grpcio(base, case):
    import grpc

    policy = {
        "maxAttempts": 4,
        "initialBackoff": "0.5s",
        "maxBackoff": "1s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["RESOURCE_EXHAUSTED", "UNAVAILABLE"],
    }
    config = {"methodConfig": [{"name": [{"service": "Case"}], "retryPolicy": policy}]}
    options = [("grpc.service_config", json.dumps(config)), ("grpc.channel_id", case)]
    with grpc.insecure_channel(base, options) as channel:
        channel.unary_unary("/Case/Call")(b"", metadata=[("case", f"grpcio/{case}")])


CLIENTS = {
    "urllib3": call_urllib3,
    "tenacity": call_tenacity,
    "openai-python": call_openai,
    "aiohttp-retry": call_aiohttp_retry,
    "httpx-retries": call_httpx_retries,
    "otlp-python-http": call_otlp_http,
    "otlp-python-grpc": call_otlp_grpc,
    "grpcio": call_grpcio,
}


def run(call, base, case):
    try:
        call(base, case)
    except Exception:
        if "SHOW" in os.environ:
            traceback.print_exc()
    print(case, flush=True)


client, base, *cases = sys.argv[1:]
runs = [threading.Thread(target=run, args=(CLIENTS[client], base, case)) for case in cases]
for thread in runs:
    thread.start()
for thread in runs:
    thread.join()

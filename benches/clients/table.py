"""Refuses the first call of each client, sees when the client comes back, and prints two tables:
table.py SOURCES FOLDER, by run.sh. `table.py SOURCES FOLDER CLIENT...` runs some of them."""

import collections
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from google.protobuf.any_pb2 import Any
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

TIMES = [2, 8, 20, 45, 61, 90, 125, 3600]
PATIENCE = 135  # a client that is still waiting then, waits

HTTP = ["none", "limit-9"] + [f"after-{seconds}" for seconds in TIMES]
GRPC = ["none"] + [f"{by}-{time}" for by in ("push", "details", "bare") for time in [0, *TIMES]]

NODE = ["node_modules/.bin/node", "clients.mjs"]
PYTHON = [sys.executable, f"{sys.argv[1]}/clients.py"]

# A client's name, as it is shown, and how to run it.
CLIENTS = {
    "undici": ("undici 8.12.4, `RetryAgent`", NODE),
    "got": ("got 16.1.0", NODE),
    "ky": ("ky 2.1.0", NODE),
    "axios-retry": ("axios-retry 4.5.0", NODE),
    "superagent": ("superagent 10.4.2, `retry`", NODE),
    "openai": ("openai 7.55.0 of npm", NODE),
    "openai-python": ("openai 3.57.0 of PyPI", PYTHON),
    "urllib3": ("urllib3 2.8.0", PYTHON),
    "httpx-retries": ("httpx-retries 0.6.0", PYTHON),
    "aiohttp-retry": ("aiohttp-retry 2.9.1", PYTHON),
    "tenacity": ("tenacity 9.2.1", PYTHON),
    "reqwest-retry": ("reqwest-retry 0.9.1", ["rust/target/debug/comes-back"]),
    "curl": ("curl 7.88.1, `--retry 3`", None),
    "wget": ("wget 1.21.3, `--retry-on-http-error`", None),
    "fetch": ("`fetch` of Node 22.23.3", NODE),
    "connect": ("connect 2.2.0", NODE),
    "otlp-js": ("OTLP over HTTP, npm 0.301.0", NODE),
    "otlp-python-http": ("OTLP over HTTP, PyPI 1.45.2", PYTHON),
    "grpcio": ("grpcio 1.85.1, a retry policy", PYTHON),
    "grpc-js": ("grpc-js 1.14.7, a retry policy", NODE),
    "otlp-python-grpc": ("OTLP over gRPC, PyPI 1.45.2", PYTHON),
}
BY_GRPC = ["grpcio", "grpc-js", "otlp-python-grpc"]

calls = collections.defaultdict(list)  # by client and case: the times of its calls
ended = {}  # when the client has returned


def is_first(name):
    calls[name].append(time.monotonic())
    return len(calls[name]) == 1


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        client, case = self.path.split("?")[0].split("/")[1:3]
        by, _, seconds = case.partition("-")
        is_refused = is_first(f"{client}/{case}")
        status = 503 if client.startswith("otlp") else 429  # OTLP for Python gives up on 429
        body = b"" if client.startswith("otlp") else b'{"data": []}'
        self.send_response(status if is_refused else 200)
        if is_refused and by == "after":
            self.send_header("retry-after", seconds)
        if is_refused and by == "limit":
            self.send_header("ratelimit-policy", '"a";q=1;w=9')
            self.send_header("ratelimit", f'"a";r=0;t={seconds}')
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def answer_grpc(_, context):
    name = dict(context.invocation_metadata())["case"]
    by, _, seconds = name.split("/")[1].partition("-")
    if not is_first(name):
        return b""
    fields = []
    if by == "push":
        fields = [("grpc-retry-pushback-ms", str(1000 * int(seconds)))]
    if by in ("details", "bare"):
        info, detail = RetryInfo(), Any()
        info.retry_delay.FromSeconds(int(seconds))
        detail.Pack(info)
        status = Status(code=8, message="over the limit", details=[detail])
        fields = [("grpc-status-details-bin", status.SerializeToString())]
        if by == "bare":
            fields = [("google.rpc.retryinfo-bin", info.SerializeToString())]
    context.set_trailing_metadata(fields)
    context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "over the limit")


class Handler(grpc.GenericRpcHandler):
    def service(self, _):
        return grpc.unary_unary_rpc_method_handler(answer_grpc)


def commands(client, base, cases):
    """Returns the command of a client, or one for each case."""
    if client == "curl":
        for case in cases:
            yield [case], ["curl", "-s", "--retry", "3", f"{base}/curl/{case}"]
    elif client == "wget":
        for case in cases:
            retry = ["--tries=4", "--retry-on-http-error=429", "-qO", "/dev/null"]
            yield [case], ["wget", *retry, f"{base}/wget/{case}"]
    elif client == "reqwest-retry":
        yield cases, [*CLIENTS[client][1], base, *cases]
    else:
        yield cases, [*CLIENTS[client][1], client, base, *cases]


def watch(client, command, cases):
    process = subprocess.Popen(command, cwd=sys.argv[2], stdout=subprocess.PIPE, text=True)
    threading.Timer(PATIENCE + 30, process.kill).start()
    if client not in ("curl", "wget"):
        for line in process.stdout:
            ended[f"{client}/{line.strip()}"] = time.monotonic()
    process.wait()
    for case in cases:
        ended.setdefault(f"{client}/{case}", time.monotonic())


def outcome(client, case):
    """Returns the seconds until the client came back, or what it did instead."""
    times = calls.get(f"{client}/{case}", [])
    if not times:
        return "?"
    if len(times) > 1:
        return times[1] - times[0]
    is_over = f"{client}/{case}" in ended and ended[f"{client}/{case}"] < times[0] + PATIENCE
    return "gives up" if is_over else "waits"


def cell(client, by):
    """Returns up to which of the times a client heeds a field, and what it does beyond."""
    longest, beyond = None, None
    for seconds in TIMES:
        seen = outcome(client, f"{by}-{seconds}")
        is_in_time = isinstance(seen, float) and -0.1 < seen - seconds < 0.25 * seconds + 0.5
        if is_in_time or seen == "waits" and seconds > PATIENCE:
            longest = seconds
        elif beyond is None:
            beyond = f"at {seconds} s: " + (
                seen if isinstance(seen, str) else f"after {seen:.1f} s".replace(".0 s", " s")
            )
    if longest is None:
        return "no", beyond.partition(": ")[2]
    return (f"{longest} s" if longest < 3600 else "yes"), beyond or "-"


def shown(seen):
    return seen if isinstance(seen, str) else f"after {seen:.1f} s"


def main():
    chosen = sys.argv[3:] or list(CLIENTS)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    http.daemon_threads = True
    threading.Thread(target=http.serve_forever, daemon=True).start()
    server = grpc.server(ThreadPoolExecutor(64), handlers=[Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    watches = []
    for client in chosen:
        base = f"127.0.0.1:{port}" if client in BY_GRPC else f"http://127.0.0.1:{http.server_port}"
        cases = GRPC if client in BY_GRPC else HTTP
        for some, command in commands(client, base, cases):
            watches.append(threading.Thread(target=watch, args=(client, command, some), daemon=True))
            watches[-1].start()
        time.sleep(2)  # so that they do not start all at once
    until = time.monotonic() + PATIENCE + 5
    for watch_of_one in watches:
        watch_of_one.join(max(0, until - time.monotonic()))

    for client in chosen:
        for case in GRPC if client in BY_GRPC else HTTP:
            print(f"{client} {case}: {shown(outcome(client, case))}", file=sys.stderr)
    print("| client | told nothing | `Retry-After`, up to | beyond it | `RateLimit` with `t=9` |")
    print("|---|---|---|---|---|")
    for client in (name for name in chosen if name not in BY_GRPC):
        longest, beyond = cell(client, "after")
        none, limit = outcome(client, "none"), outcome(client, "limit-9")
        heeds = "heeds it" if isinstance(limit, float) and abs(limit - 9) < 1.5 else "no"
        print(f"| {CLIENTS[client][0]} | {shown(none)} | {longest} | {beyond} | {heeds} |")
    print("\n| client | told nothing | pushback, up to | details, up to | bare, up to |")
    print("|---|---|---|---|---|")
    for client in (name for name in chosen if name in BY_GRPC):
        both = [cell(client, by) for by in ("push", "details", "bare")]
        both = [longest if past == "-" else f"{longest}; {past}" for longest, past in both]
        none = shown(outcome(client, "none"))
        print(f"| {CLIENTS[client][0]} | {none} | {' | '.join(both)} |")
    for client in (name for name in chosen if name in BY_GRPC):
        print(f"{client}, a pushback of 0: {shown(outcome(client, 'push-0'))}")


main()

#!/bin/sh
# Prints which clients come back when a refusal tells them to: the tables of README.md here.
#
# Installs the clients, each in a pinned version, in a temporary folder, and runs them against a
# server that refuses the first call of each. Takes some five minutes, and needs the registries of
# the packages, python3, npm, cargo, curl and wget.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv python
python/bin/pip install --quiet urllib3==2.8.0 tenacity==9.2.1 openai==3.57.0 aiohttp-retry==2.9.1 \
    httpx-retries==0.6.0 grpcio==1.85.1 googleapis-common-protos opentelemetry-sdk==1.45.2 \
    opentelemetry-exporter-otlp-proto-http==1.45.2 opentelemetry-exporter-otlp-proto-grpc==1.45.2

echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --legacy-peer-deps node@22.23.3 undici@8.12.4 got@16.1.0 \
    axios@1.21.1 axios-retry@4.5.0 openai@7.55.0 ky@2.1.0 superagent@10.4.2 @grpc/grpc-js@1.14.7 \
    @connectrpc/connect@2.2.0 @connectrpc/connect-node@2.2.0 @bufbuild/protobuf@2.17.0 \
    @opentelemetry/api@1.10.0 @opentelemetry/sdk-metrics@2.12.1 \
    @opentelemetry/exporter-metrics-otlp-proto@0.301.0
cp "$here/clients.mjs" .

cp -r "$here/rust" rust
cargo build --quiet --manifest-path rust/Cargo.toml

python/bin/python "$here/table.py" "$here" "$folder"

#!/bin/sh
# Prints which library reads whose interval log of HdrHistogram: the table of ../README.md.
#
# Installs the libraries, each in a pinned version, in a temporary folder. Needs the registries of
# the packages, python3, npm, cargo, a JDK, and Debian's libhdrhistogram-java.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cargo build --quiet --manifest-path "$here/../Cargo.toml" --example logs
target=$(cargo metadata --manifest-path "$here/../Cargo.toml" --no-deps --format-version 1 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv python
python/bin/pip install --quiet hdrhistogram==0.10.8
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund hdr-histogram-js@3.0.1
cp "$here/logs.cjs" "$here/logs.py" "$here/Logs.java" .
ln -s "$target/debug/examples/logs" rust

python/bin/python "$here/table.py"

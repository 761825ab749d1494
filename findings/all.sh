#!/bin/sh
# Runs each finding and says whether it still holds; `findings/all.sh NAME...` runs some of them.
#
# Needs the registries of the packages, and python3, node, npm, cargo, apt-get and dpkg.
set -eu
cd "$(dirname "$0")"
test $# -gt 0 || set -- $(ls *.sh | grep -vx all.sh)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

number=0
changed=0
for script; do
    name=$(basename "$script" .sh)
    number=$((number + 1))
    printf '%2d/%d %-26s ' "$number" "$#" "$name"
    if "./$name.sh" > "$log" 2>&1 < /dev/null; then
        echo ok
    else
        echo changed
        tail -n 20 "$log" | sed 's/^/      /'
        changed=$((changed + 1))
    fi
done
test "$changed" -eq 0 || { echo "$changed of $number changed"; exit 1; }

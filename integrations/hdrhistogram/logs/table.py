"""Lets each library write a log, and each read all of them, and prints a table: by run.sh."""

import subprocess
import sys

JAR = "/usr/share/java/hdrhistogram-2.1.11.jar"

COMMANDS = {
    "Java 2.1.11": ["java", "-cp", JAR, "Logs.java"],
    "Python 0.10.8": [sys.executable, "logs.py"],
    "JavaScript 3.0.1": ["node", "logs.cjs"],
    "Rust 7.6.0": ["./rust"],
}

# A log's writer, its command, and the greatest value in its first interval.
GREAT = 2**63 - 1
LOGS = {
    "windrow, `V2DeflateSerializer`": (["./rust", "write", "deflate"], 5_000_000_000),
    "windrow, with a value of 2^64 - 1": (["./rust", "write", "great"], GREAT),
    "windrow, `V2Serializer`": (["./rust", "write", "v2"], 5_000_000_000),
    "Rust's `hdrhistogram`, with that value": (["./rust", "write", "plain"], 2**64 - 1),
    "Java": ([*COMMANDS["Java 2.1.11"], "write"], 5_000_000_000),
    "Python": ([*COMMANDS["Python 0.10.8"], "write"], 5_000_000_000),
    "JavaScript": ([*COMMANDS["JavaScript 3.0.1"], "write"], 5_000_000_000),
    "JavaScript, without `outputStartTime`": (["node", "logs.cjs", "untimed"], 5_000_000_000),
}


def seen(command, file, greatest):
    """Returns which of the three intervals a library reads."""
    run = subprocess.run([*command, "read", file], capture_output=True, text=True)
    count = 4 if greatest >= GREAT else 3
    wanted = [(count, greatest), (0, 0), (1, 7)]
    found = [tuple(map(float, line.split())) for line in run.stdout.splitlines()]
    right = [
        any(one[0] == count and abs(one[1] - most) <= most * 0.05 for one in found)
        for count, most in wanted
    ]
    print(f"{command[-1]} {file}: {found} {run.stderr[-400:]}", file=sys.stderr)
    if all(right) and run.returncode == 0 and len(found) == 3:
        return "yes"
    if run.returncode == 0 and [int(one[0]) for one in found] == [3, 0, 1]:
        return "without that value"
    error = "" if run.returncode == 0 else ", then an error"
    return f"{sum(right)} of 3{error}" if any(right) else f"no{error.replace(', then', ':')}"


print(f"| log of | {' | '.join(COMMANDS)} |")
print("|---|---|---|---|---|")
for number, (name, (command, greatest)) in enumerate(LOGS.items()):
    file = f"{number}.hlog"
    subprocess.run([*command, file], check=True)
    cells = [seen(COMMANDS[reader], file, greatest) for reader in COMMANDS]
    print(f"| {name} | {' | '.join(cells)} |")

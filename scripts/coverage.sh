#!/bin/sh
# Prints the line coverage of Sources/BreakerStore as the last `swift test --enable-code-coverage` left it,
# the files with the most lines not run first. Fails under the minimum.
# usage: scripts/coverage.sh [minimum in percent]
set -eu

python3 - "$(swift test --show-codecov-path)" "${1:-90}" <<'PY'
import json, sys

path, minimum = sys.argv[1], float(sys.argv[2])
with open(path) as report:
    files = json.load(report)["data"][0]["files"]
rows = []
for file in files:
    _, ours, name = file["filename"].rpartition("/Sources/BreakerStore/")
    if ours:
        lines = file["summary"]["lines"]
        rows.append((lines["count"] - lines["covered"], lines["count"], name))
if not rows:
    sys.exit("error: the coverage report knows no file of Sources/BreakerStore")

for missed, count, name in sorted(rows, reverse=True)[:10]:
    if missed:
        print(f"{missed:5} of {count:5} lines not run  {name}")
missed, count = sum(row[0] for row in rows), sum(row[1] for row in rows)
percent = 100 * (count - missed) / max(count, 1)
print(f"line coverage of Sources/BreakerStore: {percent:.2f} % of {count} lines")
if percent < minimum:
    sys.exit(f"error: line coverage is {percent:.2f} %, the least allowed is {minimum:g} %")
PY

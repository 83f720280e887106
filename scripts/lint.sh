#!/bin/sh
# Checks the format of all Swift files, and the rules of the layout.
set -eu

status=0
complain() {
    echo "error: $*" >&2
    status=1
}

swift_files() {
    # Kept releases are as they were.
    find . -name '.build' -prune -o -name '.git' -prune -o -name '*.swift' -print
}

swift_files | tr '\n' '\0' | xargs -0 swift format lint --strict --parallel || status=1

limit=400
for file in $(swift_files); do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$limit" ] || complain "$file has $((lines)) lines, $limit are allowed: split it"
done

# Which folder may name whose types, and how wide comments are.
python3 scripts/layout.py || status=1

exit "$status"

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

# The machine of a circuit compiles with these files alone. layout.py sees which types a folder names, but not whose
# members it uses.
library=Sources/BreakerStore
swiftc -typecheck -parse-as-library -swift-version 6 -package-name BreakerStore -suppress-warnings \
    "$library"/Circuit/*.swift "$library/CircuitEvent.swift" "$library/HoldState.swift" "$library/RefusalCause.swift" \
    "$library/Support/Duration+Readable.swift" "$library/Support/String+Escaped.swift" ||
    complain "the machine of a circuit ($library/Circuit) needs more of the library than scripts/lint.sh gives it"

exit "$status"

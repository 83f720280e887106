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

for file in $(swift_files); do
    case $file in ./Sources/*) limit=300 ;; *) limit=400 ;; esac
    lines=$(wc -l <"$file")
    [ "$lines" -le "$limit" ] || complain "$file has $((lines)) lines, $limit are allowed: split it"
done

# Which folder may name whose types, and how wide comments are.
python3 scripts/layout.py || status=1

# Layers that compile with the files named here alone. layout.py sees which types a folder names, but not whose members
# it uses.
library=Sources/BreakerStore
made=.build/lint

# Typechecks files of the library without the rest of it.
compiles_alone() {
    layer=$1
    shift
    swiftc -typecheck -parse-as-library -swift-version 6 -package-name BreakerStore -suppress-warnings \
        -I "$made" -I Sources/CSQLite "$@" ||
        complain "$layer needs more of the library than scripts/lint.sh gives it"
}

# What the package manager would make of two other targets: a map of the C headers, and the migrations.
mkdir -p "$made"
cat >"$made/module.modulemap" <<'END'
module CBreakerStore {
    umbrella "../../Sources/CBreakerStore/include"
    export *
}
END
swiftc -emit-module -emit-module-path "$made/BreakerStoreMigrations.swiftmodule" \
    -module-name BreakerStoreMigrations -parse-as-library -swift-version 6 -package-name BreakerStore \
    Migrations/*.swift || complain "the migrations don't compile by themselves"

# The rules are parts of the nested type `CircuitBreaker.Config`.
echo 'public enum CircuitBreaker {}' > "$made/CircuitBreaker.swift"
compiles_alone "the machine of a circuit ($library/Circuit)" \
    "$library"/Circuit/*.swift "$library"/Circuit/*/*.swift "$library/CircuitEvent.swift" "$library/HoldState.swift" \
    "$library/RefusalCause.swift" "$library"/*Rule.swift "$library/CircuitMode.swift" \
    "$library/CircuitBreaker+Config.swift" "$made/CircuitBreaker.swift" "$library/BreakerStoreError.swift" \
    "$library/Support/KeyedContainers+Duration.swift" \
    "$library"/Support/Duration*.swift "$library/Support/Validation.swift" "$library/Support/Boxed.swift" \
    "$library/Support/String+Escaped.swift"

# Without Support/Threads/Mutex.swift these use the standard library's mutex, as a release build does.
compiles_alone "what works on files ($library/SQLite with $library/Files)" \
    "$library"/SQLite/*.swift "$library"/SQLite/*/*.swift "$library"/Files/*.swift "$library"/Files/*/*.swift \
    "$library"/Circuit/Numbers/*.swift "$library/BreakerStoreError.swift" \
    "$library/Support/RunningProcess.swift" "$library/Support/Fingerprint.swift" \
    "$library/Support/Threads/Deadline.swift" "$library/Support/Threads/ForkRecord.swift" \
    "$library/Support/Hook.swift" "$library/Support/Threads/PerProcess.swift" \
    "$library/Support/String+Escaped.swift" "$library/Support/TypeNames.swift"

exit "$status"

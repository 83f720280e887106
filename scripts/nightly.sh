#!/bin/bash
# All that .ci/run has no time for: each part by itself, in a log of its own, to the end of the list.
# usage: scripts/nightly.sh [PART]…    without a name all parts; --list names them
#
# Fails at the end if any part has failed. A part is repeated by its name: `make nightly PARTS="tsan upgrade"`.
set -uo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

all="tsan fuzz torture torture-fleet upgrade nights prometheus browser deb filesystems bench bench-inspect bench-fleet mutants"

run() {
    case $1 in
    tsan) make tsan && scripts/tests-ran.sh "$logs/tsan.log" ;;
    fuzz) make fuzz DURATION=120 ;;
    # A debug build, which has the hooks at which processes are halted and killed.
    torture) make torture DURATION=180 ;;
    torture-fleet) make torture PART=fleet DURATION=300 ;;
    upgrade) make upgrade ;;
    nights) make nights ;;
    prometheus) make prometheus ;;
    browser) make browser ;;
    deb) make deb-check ;;
    filesystems) make filesystems ;;
    bench) make bench ;;
    bench-inspect) make bench-inspect ;;
    bench-fleet) make bench-fleet ;;
    # Others each day. Survivors fail nothing: docs/mutants.md has the figures to compare the score with.
    mutants) make mutants COUNT=40 SEED="$(date +%j)" ;;
    *) echo "error: there is no part '$1'; there are: $all" >&2 && return 64 ;;
    esac
}

[ "${1:-}" != --list ] || { printf '%s\n' $all && exit; }
parts=${*:-$all}
logs=.build/nightly
mkdir -p "$logs"
failed=
for part in $parts; do
    started=$SECONDS
    printf '=== %s\n' "$part"
    if run "$part" >"$logs/$part.log" 2>&1; then
        printf -- '--- %s: passed in %d s: %s\n' "$part" $((SECONDS - started)) "$(grep -av '^make\[' "$logs/$part.log" | tail -n 1)"
    else
        failed="$failed $part"
        tail -n 30 "$logs/$part.log" >&2
        printf -- '--- %s: FAILED after %d s; all of its output is in %s\n' "$part" $((SECONDS - started)) \
            "$logs/$part.log" >&2
    fi
done
[ -z "$failed" ] || { echo "FAILED:$failed" >&2 && exit 1; }
echo "all of it passed in $SECONDS s"

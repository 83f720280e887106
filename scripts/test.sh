#!/bin/sh
# Builds the tests, runs all of them, and says how long each took.
# usage: scripts/test.sh [option of both `swift build` and `swift test`]...
#
# ORDER=--no-parallel runs one test after the other; ONLY=PATTERN runs some tests, SKIP=PATTERN leaves some out. A test
# that hangs in a thread of its own can't be cancelled: after LIMIT seconds, an hour by default, all of them are ended.
set -eu

started=$(date +%s)
swift build --build-tests "$@"
built=$(date +%s)

# Many tests start many processes: all at once they would wait for each other longer than they may.
width=
if swift test --help-hidden 2>/dev/null | grep -q maximum-parallelization-width; then
    width='--experimental-maximum-parallelization-width 6'
fi

limit=
command -v timeout >/dev/null && limit="timeout -k 30 ${LIMIT:-3600}"

status=0
# shellcheck disable=SC2086 # some words, or nothing
$limit swift test --skip-build "${ORDER:---parallel}" $width ${SKIP:+--skip "$SKIP"} ${ONLY:+--filter "$ONLY"} "$@" || status=$?
ended=$(date +%s)

echo "built in $((built - started)) s, tested in $((ended - built)) s"
exit "$status"

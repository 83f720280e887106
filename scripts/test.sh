#!/bin/sh
# Builds the tests, runs all of them, and says how long each took.
# usage: [ORDER=--no-parallel] scripts/test.sh [option of both `swift build` and `swift test`]...
set -eu

started=$(date +%s)
swift build --build-tests "$@"
built=$(date +%s)

status=0
swift test --skip-build "${ORDER:---parallel}" "$@" || status=$?
ended=$(date +%s)

echo "built in $((built - started)) s, tested in $((ended - built)) s"
exit "$status"

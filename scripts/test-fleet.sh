#!/bin/sh
# Runs the tests of BreakerFleet with the trait PostgreSQL.
# usage: scripts/test-fleet.sh [option of both `swift build` and `swift test`]...
#
# The trait is in the flags of every module: in the folder of the other builds, each change between the two would build
# all of it anew.
set -eu

SCRATCH=${SCRATCH:-.build/fleet}
swift build --build-tests --traits PostgreSQL --scratch-path "$SCRATCH" "$@"
swift test --skip-build --traits PostgreSQL --scratch-path "$SCRATCH" --filter BreakerFleetTests "$@"

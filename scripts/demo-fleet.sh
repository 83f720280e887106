#!/bin/sh
# Builds the demo of a fleet and the tools that its story uses, and runs it: about 40 s.
# usage: scripts/demo-fleet.sh [FOLDER]    FOLDER has the programs, built with the trait PostgreSQL: nothing is built.
#
# In a folder of its own: the trait is in the flags of every module, and would build all of .build anew.
set -eu

folder=${1:-}
if [ -z "$folder" ]; then
    flags='-c release --traits PostgreSQL --scratch-path .build/fleet-release'
    # shellcheck disable=SC2086 # $flags is a list
    {
        swift build $flags --product breaker-inspect
        swift build $flags --product breaker-fleet
        swift build $flags --product breaker-demo
        folder=$(swift build $flags --show-bin-path)
    }
fi
exec "$folder/breaker-demo" fleet

#!/bin/sh
# Builds the demo and the tool that its story uses, and runs it: about 20 s.
# usage: scripts/demo.sh [FOLDER]    FOLDER has the programs: nothing is built
#
# The release build: it is as quick to make as the debug build, and what it runs is what users run.
set -eu

folder=${1:-}
if [ -z "$folder" ]; then
    [ -e .build/release/breaker-demo ] || echo "demo: the first build takes 2 to 7 minutes on two cores; the story then takes 20 s" >&2
    swift build -c release --product breaker-inspect
    swift build -c release --product breaker-demo
    folder=$(swift build -c release --show-bin-path)
fi
exec "$folder/breaker-demo"

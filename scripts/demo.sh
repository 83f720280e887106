#!/bin/sh
# Builds the demo and the tool that its story uses, and runs it: about 17 s.
#
# The release build: it is as quick to make as the debug build, what it runs is what users run, and .ci/run has it.
set -eu

swift build -c release --product breaker-inspect
swift build -c release --product breaker-demo
exec "$(swift build -c release --show-bin-path)/breaker-demo"

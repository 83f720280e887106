#!/bin/sh
# Runs the tests under the thread sanitizer, in a build folder of its own.
#
# Reports go to files: one from a child process counts too, though its test may have expected a failing exit.
set -eu

scratch=.build/tsan
mkdir -p "$scratch"
reports=$(cd "$scratch" && pwd)/report
rm -f "$reports".*

status=0
TSAN_OPTIONS="log_path='$reports' die_after_fork=0 suppressions='$(pwd)/scripts/tsan.supp' ${TSAN_OPTIONS:-}" \
    scripts/test.sh --sanitize=thread --scratch-path "$scratch" || status=$?

for report in "$reports".*; do
    [ -e "$report" ] || continue
    cat "$report" >&2
    status=1
done
exit "$status"

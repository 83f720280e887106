#!/bin/sh
# Runs the tests under the thread sanitizer, in a build folder of its own.
#
# Reports go to files: one from a child process counts too, though its test may have expected a failing exit.
set -eu

scratch=.build/tsan
mkdir -p "$scratch"
reports=$(cd "$scratch" && pwd)/report
rm -f "$reports".*

# One test at a time: under the sanitizer all is slow, and a store's deadlines are not.
# die_after_fork=0: children of `fork` that go on with threads of their own are what some tests are about.
# Left out: programs that fork, kill and halt each other by the hundred, which the sanitizer slows down beyond use.
# The sanitizer needs memory of its own for each byte, too, and has the functions by which `power` records for itself.
status=0
ORDER=--no-parallel SKIP='ForkUnderLoadTests|KillLoopTests|PowerCutTests|StaleAnswersTests|SystemErrorTests|SchedulingTests|WalResetTests|costLittleMemoryEach' TSAN_OPTIONS="log_path='$reports' die_after_fork=0 suppressions='$(pwd)/scripts/tsan.supp' ${TSAN_OPTIONS:-}" \
    scripts/test.sh --sanitize=thread --scratch-path "$scratch" || status=$?

for report in "$reports".*; do
    [ -e "$report" ] || continue
    cat "$report" >&2
    status=1
done
exit "$status"

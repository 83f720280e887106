#!/bin/sh
# Runs the tests that the thread sanitizer can run under it, in a build folder of its own.
# usage: scripts/tsan.sh [--threads]    --threads: those of the library alone in which several threads work at once
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
# Left out, too: tests in which a hundred processes, or one that never rests, wait for one file: slowed down like this
# they wait longer than they may.
# Left out, too: tests of bytes and of pure values, in which one thread does all.
# Left out, too: tests of whose a file is and of what reading leaves unchanged, in which one thread does all; and those
# that compile programs.
# Left out, too: tests of calls of other processes while their file system fails.
# Left out, too: tests that use up a process's places for mappings, which the sanitizer needs itself; that limit the
# size of its files, one of which the sanitizer writes and maps as a program starts; and that let a log grow to many
# megabytes.
# handle_sigbus=0: the library catches SIGBUS of the board, and tests see that other faults still end the process.
# The sanitizer needs memory of its own for each byte, too, and has the functions by which `power` records for itself.
only=
if [ "${1:-}" = --threads ]; then
    # Threads, tasks or hooks within one process. The others have one thread of the test's beside those of the store,
    # or several processes; `make nightly` has those, too.
    suites='DecisionCache BoardLoss BoardProcess BoardReader Board BusyFile CallDecision CallForm Cancellation CircuitCounts
        Close CountingThread Deadline DynamicName EventStream FirstCall Health Hostile Idle Isolation Lane LinkSeat
        LinkedCircuit LockFile LostProber NameRace StoredFailureCount OneProcess Permit ProbeCrowd Queue RandomWalk RateRule
        ReplacedFile Reserve Resource RetiredMapping Retry Ring Run SharedTimer Shutdown Signal TaskReport CounterSaving
        Timeout Totals'
    for suite in $suites; do
        grep -rq "struct ${suite}Tests\b" Tests/BreakerStoreTests || {
            echo "error: scripts/tsan.sh names ${suite}Tests, which is not there" >&2
            exit 1
        }
        only="$only|${suite}Tests"
    done
    only="BreakerStoreTests\\.(${only#|})/"
    export BREAKERSTORE_LIBRARY_ALONE=1
    scratch=.build/tsan-threads
    mkdir -p "$scratch"
    reports=$(cd "$scratch" && pwd)/report
    rm -f "$reports".*
fi

status=0
ONLY=$only ORDER=--no-parallel SKIP='ForkUnderLoadTests|KillLoopTests|PowerCutTests|StaleAnswersTests|HistoriesTests|SystemErrorTests|SchedulingTests|WalResetTests|BoardDiskTests|LostBoardProcessTests|costLittleMemoryEach|CircuitPropertyTests|FlippedBitTests|HostileFileTests|HostileSchemaTests|ShellTests|LongTextTests|StampTests|TornFileTests|WindowWalkTests|LifeWalkTests|StatesTests|LinearizabilityTests|UnmappableBoardTests|anAnswerThatComesDuringARead|aStoreWithoutAThreadUses|LongLogTests|FileLimitTests|saysThatAFileMayNotGrow|BreakerFleetTests.WalkTests|\.CrowdTests|fileAndMemoryAgree|FilesOfOthersTests|FileModeTests|PrivateReaderTests|BreakerInspectTests.ReadersChangeNothingTests|CallMatrixTests' TSAN_OPTIONS="log_path='$reports' die_after_fork=0 handle_sigbus=0 suppressions='$(pwd)/scripts/tsan.supp' ${TSAN_OPTIONS:-}" \
    scripts/test.sh --sanitize=thread --scratch-path "$scratch" || status=$?

for report in "$reports".*; do
    [ -e "$report" ] || continue
    cat "$report" >&2
    status=1
done
exit "$status"

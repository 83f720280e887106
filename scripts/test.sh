#!/bin/sh
# Builds the tests, runs them, and says how long each of the two took.
# usage: scripts/test.sh [--quick] [option of both `swift build` and `swift test`]...    --quick: not the slow suites
#
# ORDER=--no-parallel runs one test after the other; ONLY=PATTERN runs some tests, SKIP=PATTERN leaves some out. A test
# that hangs in a thread of its own can't be cancelled: after LIMIT seconds, an hour by default, all of them are ended.
set -eu

# The slow suites: those that start or kill processes by the hundred, compile programs, freeze file systems, or walk
# through thousands of states. They take most of the time of all tests. `make test` leaves them out, and says so;
# `make test-all` and .ci/run leave out none.
slow='BoardDisk CallMatrix CircuitProperty Counts Crowd ExtremeClock FileLimit FilesUnderFeet FlippedBit ForeignParity
    ForkUnderLoad FullDisk Histories HostileFile HostileSchema KillLoop LifeWalk Linearizability LongLog LongText
    LostBoardProcess LostFileStates LostProber MovedFromWindowBreaker NameRace OpeningPlanRange OverwrittenBoard PowerCut
    ProbeCrowd RandomWalk RateProcess RestoredFile Scheduling StaleAnswers States StrangersCounts SystemError TornFile
    WalReset WindowWalk'

quick=
if [ "${1:-}" = --quick ]; then
    shift
    for suite in $slow; do
        grep -rq "struct ${suite}Tests\b" Tests/BreakerStoreTests || {
            echo "error: scripts/test.sh names ${suite}Tests, which is not there" >&2
            exit 1
        }
        quick="$quick|${suite}Tests"
    done
    quick="BreakerStoreTests\\.(${quick#|})/"
fi

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
$limit swift test --skip-build "${ORDER:---parallel}" $width ${quick:+--skip "$quick"} ${SKIP:+--skip "$SKIP"} \
    ${ONLY:+--filter "$ONLY"} "$@" || status=$?
ended=$(date +%s)

echo "built in $((built - started)) s, tested in $((ended - built)) s"
# shellcheck disable=SC2086 # one argument for each suite
[ -z "$quick" ] || { set -- $slow && echo "the $# slow suites were left out: make test-all runs them, too"; }
exit "$status"

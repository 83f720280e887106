#!/usr/bin/env bash
# Whether in a run of `swift test` at least one test ran, and none was left out for a reason that is not listed here.
# usage: scripts/tests-ran.sh LOG
set -euo pipefail

# A skipped or cancelled test fails, unless the reason it gives stands here, word for word, with a comment why.
allowed_skips=(
    # A full disk is a small tmpfs, which needs root; CI has it.
    "only root may mount a small file system"
    # A real file system is an image on a loop device, which needs root and mkfs.ext4; CI has both.
    "only root may mount an image of a file system"
    # Two containers are two pid and mount namespaces, which need root; CI has it.
    "only root may make namespaces"
    # Files of other users are made by other users, which only root can be; CI is root.
    "only root can be several users"
)

fail() {
    echo "error: $*" >&2
    exit 1
}

log=$1
left_out=0
grep -qE 'Test run with [1-9][0-9]* tests? .*passed' "$log" || fail "no test ran"
! grep -q 'slow suites were left out' "$log" || fail "only the quick tests ran: make test-all runs all"
pattern='^[^ ]+ +(Test|Suite) .*(skipped|was cancelled after [0-9.]+ seconds)(\.|: "(.*)")$'
while IFS= read -r line; do
    [[ $line =~ $pattern ]] || continue
    reason=${BASH_REMATCH[4]}
    for allowed in ${allowed_skips[@]+"${allowed_skips[@]}"}; do
        [ "$reason" != "$allowed" ] || continue 2
    done
    echo "left out: $line" >&2
    left_out=1
done <"$log"
[ "$left_out" -eq 0 ] || fail "tests were skipped for a reason that scripts/tests-ran.sh does not list"

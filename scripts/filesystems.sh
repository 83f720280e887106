#!/bin/bash
# Runs what concerns files, full disks, locks and broken files on real file systems, each in an image on a loop device.
# usage, as root on Linux: scripts/filesystems.sh [ext4|ext4-1k|xfs|btrfs|overlay|tmpfs]...   all of them by default
#
# SEED=N repeats the choices of the parts of `breaker-torture`. Prints a line for each step and a table at the end; the
# logs are in .build/filesystems. Exit code 1: something failed; 64: wrong usage; 69: this machine can't do it.
set -euo pipefail
cd "$(dirname "$0")/.."

all="ext4 ext4-1k xfs btrfs overlay tmpfs"
kinds=${*:-$all}
seed=${SEED:-12}

# The suites of the tests whose promises depend on the file system; the parts of `breaker-torture` have their own steps.
suites='BadPathTests|CutCreationTests|FileModeTests|FilesOfOthersTests|FirstReportTests|FlippedBitTests|ForeignRowTests'
suites+='|KilledCreationTests|LiveStrangerTests|NewFileTests|OpeningPatienceTests|PrivateReaderTests|QuarantineTests'
suites+='|ReplacedFileTests|SchemaVersionTests|SharedByUsersTests|SideFileLinkTests|SparseFileTests'
suites+='|SpecialFileTests|SquatterTests|StampTests|TornIndexTests|TornStoreTests|UntouchedFilesTests|BoundedFileTests'
suites+='|IndexRecoveryTests|ReplacedIndexTests|RetiredMappingTests|WalResetTests|PowerCutTests'
suites+='|BusyFileTests|LockFileTests|CloseTests|RemovedLockTests|LostProberTests|CountingTests|ForeignProgramTests'
suites+='|BoardDiskTests|LostBoardProcessTests|StrangersCountsTests'
suites+='|OlderFileTests|UnreadableTests|DoctorTests|CheckTests|UnsafeFileTests|BadStoreTests'
parts="files disk kill stale torn errors"

fail() {
    echo "error: ${*:2}" >&2
    exit "$1"
}

for kind in $kinds; do
    case " $all " in
    *" $kind "*) ;;
    *) fail 64 "there is no file system '$kind'; there are: $all" ;;
    esac
done
[ "$(uname)" = Linux ] || fail 69 "loop devices are needed, which Linux has"
[ "$(id -u)" -eq 0 ] || fail 69 "only root may mount file systems: run it as root"

# All mounts are in a namespace of this script's own: they go with its last process, even if that is killed.
if [ "${BREAKERSTORE_IN_NAMESPACE:-}" != "$$" ]; then
    # exec keeps the number of the process.
    BREAKERSTORE_IN_NAMESPACE=$$ exec unshare --mount --propagation private "$PWD/scripts/filesystems.sh" $kinds
fi

packages=
for kind in $kinds; do
    case $kind in
    ext4 | ext4-1k | overlay) command -v mkfs.ext4 >/dev/null || packages+=" e2fsprogs" ;;
    xfs) command -v mkfs.xfs >/dev/null || packages+=" xfsprogs" ;;
    btrfs) command -v mkfs.btrfs >/dev/null || packages+=" btrfs-progs" ;;
    tmpfs) ;;
    esac
done
if [ -n "$packages" ]; then
    command -v apt-get >/dev/null || fail 69 "missing (by their names on Debian):$packages"
    echo "installing$packages"
    # shellcheck disable=SC2086 # a list
    { apt-get -qq update && apt-get -qq install -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
        fail 69 "could not install$packages"
fi

swift build --build-tests
logs=$PWD/.build/filesystems
torture=$(swift build --show-bin-path)/breaker-torture
rm -rf "$logs"
mkdir -p "$logs"

# The images are in memory where there is such a place: a sync, of which there are thousands, takes little time there.
base=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || base=/dev/shm
work=$(mktemp -d "$base/breaker-filesystems.XXXXXX")
# Some tests have processes of other users.
chmod 755 "$work"
child=
clear_mounts() {
    # The upper ones first. What a killed process still has open keeps a file system busy for a moment.
    local place
    awk -v under="$work/" 'index($2, under) == 1 { print $2 }' /proc/self/mounts | tac | while read -r place; do
        umount "$place" 2>/dev/null || umount --lazy "$place" || true
    done
}
at_exit() {
    [ -z "$child" ] || kill -- "-$child" 2>/dev/null || true
    clear_mounts
    rm -rf --one-file-system "$work"
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# An image of so many megabytes with a file system in it, mounted.
image() {
    local kind=$1 megabytes=$2 place=$3
    mkdir -p "$place"
    if [ "$kind" = tmpfs ]; then
        mount -t tmpfs -o "size=${megabytes}m" tmpfs "$place"
        return
    fi
    truncate -s "${megabytes}M" "$place.img"
    case $kind in
    # Without blocks that are kept for root, which the tests run as.
    ext4 | overlay) mkfs.ext4 -q -F -m 0 -b 4096 "$place.img" ;;
    ext4-1k) mkfs.ext4 -q -F -m 0 -b 1024 "$place.img" ;;
    xfs) mkfs.xfs -q "$place.img" ;;
    btrfs) mkfs.btrfs -q "$place.img" >/dev/null 2>&1 ;;
    esac
    # The loop device is given back when it is unmounted.
    mount -o loop "$place.img" "$place"
    [ "$kind" = overlay ] || return 0
    mkdir "$place/lower" "$place/upper" "$place/work" "$place.merged"
    mount -t overlay -o "lowerdir=$place/lower,upperdir=$place/upper,workdir=$place/work" overlay "$place.merged"
}

# Where the files go: $place, or above it.
top() { if [ "$1" = overlay ]; then echo "$2.merged"; else echo "$2"; fi; }

# The smallest that each file system is made in; tmpfs and ext4 as small as the tests without this script have it.
small_megabytes() {
    case $1 in
    xfs) echo 300 ;;
    btrfs) echo 128 ;;
    *) echo 12 ;;
    esac
}

# As in test.sh. grep reads to the end here: the command would fail at a pipe that is closed.
width=
if swift test --help-hidden 2>&1 | grep maximum-parallelization-width >/dev/null; then
    width='--experimental-maximum-parallelization-width 6'
fi
failed=0
table=()

# Runs a command into a log, in a group of its own, so that a signal to this script ends it and all its children.
step() {
    local kind=$1 name=$2 started=$SECONDS status=0 what
    shift 2
    local log=$logs/$kind-$name.log
    set -m
    "$@" >"$log" 2>&1 </dev/null &
    child=$!
    set +m
    wait "$child" || status=$?
    child=
    what=$(grep -aE "^$name: .* violations; |Test run with" "$log" | tail -n 1 | cut -c 1-220 || true)
    if [ "$status" -eq 0 ] && [ -n "$what" ]; then
        what="passed: $what"
    else
        failed=1
        what="FAILED with $status: $what"
        grep -aE 'recorded an issue|VIOLATION' "$log" | head -n 5 | cut -c 1-400 || true
    fi
    printf '%s, %s, %d s: %s\n' "$kind" "$name" $((SECONDS - started)) "$what"
    table+=("$(printf '%-8s %-6s %4d s  %s' "$kind" "$name" $((SECONDS - started)) "${what%%:*}")")
}

for kind in $kinds; do
    place=$work/$kind
    small=$work/$kind-small
    image "$kind" 2000 "$place"
    image "$kind" "$(small_megabytes "$kind")" "$small"
    files=$(top "$kind" "$place")
    export BREAKERSTORE_FILES=$files TMPDIR=$files
    BREAKERSTORE_SMALL_DISK=$(top "$kind" "$small")
    export BREAKERSTORE_SMALL_DISK
    # What has the small disk for itself.
    # Anybody may make files there, as in the places where tests put them otherwise.
    chmod 1777 "$files" "$BREAKERSTORE_SMALL_DISK"
    full=ReserveTests
    # btrfs needs new room for all that is written again: a reserve is of no use, and `disk` shows what a store does.
    [ "$kind" != btrfs ] || full=ReserveTests/isAllocated
    step "$kind" full swift test --skip-build --no-parallel --filter "$full"
    # shellcheck disable=SC2086 # an option and its value, or nothing
    step "$kind" suites swift test --skip-build $width --filter "\.($suites)/"
    for part in $parts; do step "$kind" "$part" "$torture" --part "$part" --short --seed "$seed"; done
    unset TMPDIR
    clear_mounts
    rm -rf "${place:?}"*
done

printf '\n%s\n' "file system, step, time"
printf '%s\n' "${table[@]}"
exit "$failed"

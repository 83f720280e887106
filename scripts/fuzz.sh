#!/bin/bash
# Feeds all that reads bytes with what libFuzzer makes up, two targets at a time, each for so many seconds.
# usage: scripts/fuzz.sh [seconds, 60 by default [target…]]
#
# Begins with the inputs of Tests/Fuzzing/corpus. New ones are kept in .build/fuzz/corpus; what went wrong, too, is in
# .build/fuzz: `scripts/fuzz.sh FILE SUBJECT` feeds that file once more. MERGE=1 makes the corpus anew, without what
# adds nothing, instead of searching.
set -euo pipefail
cd "$(dirname "$0")/.."

all="header log lock config arguments rows rules"
limit=${1:-60}
[ $# -eq 0 ] || shift
targets=${*:-$all}
for target in $targets; do
    case " $all " in
    *" $target "*) ;;
    *) echo "error: there is no target '$target'; there are: $all" >&2 && exit 64 ;;
    esac
done

# What users run is optimized code: the optimizer has made a use after free of code that was right. The targets need
# @testable, for which a release build wants a flag.
build=(-c release -Xswiftc -enable-testing)
build+=(--scratch-path .build/fuzz --product breaker-fuzz --sanitize fuzzer --sanitize address)
# Swift's compiler takes the last of several such options alone, and which of the package manager's two comes last has
# differed. Without the fuzzer's, libFuzzer does not see which code an input reaches, and makes up bytes without a clue.
build+=(-Xswiftc -sanitize=fuzzer,address)
# The address sanitizer's archive is too much for gold, which is the default on Linux.
[ "$(uname)" = Darwin ] || build+=(-Xswiftc -use-ld=lld)

runtime=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p' | head -n 1)
if ! find -L "$(dirname "$runtime")" "$runtime" -name 'libclang_rt.fuzzer*' 2>/dev/null | grep -q .; then
    echo "error: the Swift toolchain of '$(command -v swift)' has no libFuzzer (libclang_rt.fuzzer);" \
        "install one that has it from https://www.swift.org/install (Xcode's has not)" >&2
    exit 1
fi

# The package manager reads the manifest anew in another environment.
merge=${MERGE:-}
unset MERGE
export BREAKERSTORE_FUZZ=1
swift build "${build[@]}"
program=$PWD/$(swift build "${build[@]}" --show-bin-path | sed "s|^$PWD/||")/breaker-fuzz
kept=$PWD/Tests/Fuzzing/corpus
work=$PWD/.build/fuzz

# In memory where there is such a place: thousands of files are written a second.
base=${TMPDIR:-/tmp}
[ ! -w /dev/shm ] || base=/dev/shm
scratch=$(mktemp -d "$base/breaker-fuzzing.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch
# Swift's own report of a crash and the sanitizer's get in each other's way.
export SWIFT_BACKTRACE=enable=no
# SQLite's and Foundation's one-time memory is no leak of ours, and to look for leaks stops all threads each time.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

fuzz() {
    local target=$1 status=0
    local seeds=$scratch/$target new=$work/corpus/$target
    mkdir -p "$seeds" "$new" "$kept/$target"
    local options=(--target="$target" -timeout=120 -rss_limit_mb=2048 -max_len=16384
        -artifact_prefix="$work/$target-" -print_final_stats=1)
    [ ! -e "$kept/../$target.dict" ] || options+=(-dict="$kept/../$target.dict")
    cd "$scratch"
    if [ -f "$limit" ]; then
        "$program" "${options[@]}" "$limit"
        return
    fi
    "$program" "${options[@]}" --seeds="$seeds" -runs=1 >"$work/$target.log" 2>&1
    # Without Swift there are some dozens: those of C.
    local counters
    counters=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$work/$target.log" | head -n 1)
    [ "${counters:-0}" -gt 10000 ] || {
        echo "error: libFuzzer has ${counters:-0} counters, so Swift's code has none: it would search blindly" >&2
        return 1
    }
    if [ -n "$merge" ]; then
        mkdir "$scratch/$target-merged"
        "$program" "${options[@]}" -merge=1 "$scratch/$target-merged" "$kept/$target" "$new" "$seeds" \
            >"$work/$target.log" 2>&1
        rm -rf "${kept:?}/$target"
        mv "$scratch/$target-merged" "$kept/$target"
        echo "$target: $(find "$kept/$target" -type f | wc -l) inputs"
        return
    fi
    "$program" "${options[@]}" -max_total_time="$limit" "$new" "$kept/$target" "$seeds" \
        >"$work/$target.log" 2>&1 || status=$?
    echo "$target: $(grep -a '^Done ' "$work/$target.log" || echo "ended with $status")"
    [ "$status" -eq 0 ] || {
        # What was violated, or where it ended; then the name of the file with the bytes.
        grep -aE -A 12 '^violated:|^==[0-9]+==ERROR|Fatal error|Test unit written' "$work/$target.log" | cut -c 1-500 >&2
        return 1
    }
}
[ ! -f "$limit" ] || limit=$(realpath "$limit")

export -f fuzz
export program kept work scratch limit merge
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\n' $targets | xargs -P 2 -I '{}' bash -euo pipefail -c 'fuzz {}'

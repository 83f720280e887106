#!/usr/bin/env bash
# Holds the library against several versions of SQLite, on Linux: builds it with the headers of each, runs all tests
# with each loaded, the short forms of `make torture` among them, and lets processes with different ones share a file.
#
# usage: scripts/versions.sh FOLDER [SECONDS]
#   FOLDER   has a folder for each version, in which, at any depth, are its sqlite3.h and libsqlite3.so.0: what the
#            packages libsqlite3-0 and libsqlite3-dev hold, as `dpkg -x PACKAGE FOLDER/VERSION` unpacks them
#   SECONDS  how long each pair of versions shares a file under `kill` and under `stale`; 60 by default
#
# A version that is too old must be refused, and leave the file of a store alone. Logs are kept in .build/versions.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "versions: $*" >&2
    exit 1
}

[ $# -ge 1 ] && [ -d "$1" ] || fail "make versions needs SQLITES=FOLDER, with a folder for each version of SQLite in it:
in each a sqlite3.h and a libsqlite3.so.0 ('dpkg -x libsqlite3-0_….deb FOLDER/VERSION', the same with libsqlite3-dev)"
folder=$(cd "$1" && pwd)
seconds=${2:-60}
out=$(pwd)/.build/versions
bin=$(pwd)/.build/debug
mkdir -p "$out"
rm -rf "${out:?}/libraries"
status=0
rows=()

say() { echo "versions: $*"; }

# Runs a command into a log; says and notes how it went.
step() {
    local what=$1 log=$2 started=$SECONDS
    shift 2
    say "$what …"
    result=ok
    "$@" >"$log" 2>&1 </dev/null || { result=FAILED status=1; }
    say "$what: $result, $((SECONDS - started)) s ($log)"
}

number() {
    local parts
    IFS=. read -ra parts <<<"$1"
    echo $((parts[0] * 1000000 + parts[1] * 1000 + ${parts[2]:-0}))
}

# The version is the library's own word; the header must be of the same.
versions=()
for place in "$folder"/*/; do
    library=$(find "$place" -name libsqlite3.so.0 | head -n 1)
    header=$(find "$place" -name sqlite3.h | head -n 1)
    [ -n "$library" ] && [ -n "$header" ] || fail "no libsqlite3.so.0 or no sqlite3.h in $place"
    version=$(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"$/\1/p' "$header")
    loaded=$(python3 - "$library" <<'PYTHON'
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.sqlite3_libversion.restype = ctypes.c_char_p
print(library.sqlite3_libversion().decode())
PYTHON
    ) || fail "$library can't be loaded here"
    [ "$loaded" = "$version" ] || fail "$header is of $version, $library is $loaded"
    mkdir -p "$out/libraries/$version"
    cp -L "$library" "$header" "$out/libraries/$version/"
    ln -sf libsqlite3.so.0 "$out/libraries/$version/libsqlite3.so"
    versions+=("$version")
done
[ "${#versions[@]}" -gt 0 ] || fail "there is no folder in $folder"
mapfile -t versions < <(printf '%s\n' "${versions[@]}" | sort -Vu)
newest=${versions[-1]}

step "build" "$out/build.log" swift build --build-tests
[ "$status" -eq 0 ] || exit 1

# A store that a service has left, and what one with a version that is too old makes of it.
refuses() {
    local library=$1 place before
    place=$(mktemp -d)
    head -c 64 /dev/zero >"$place/clock"
    printf 'open %s\nbreaker a\nfail a\n' "$place/a.db" | "$bin/breaker-worker" "$place/clock"
    before=$(cd "$place" && cksum ./*)
    echo "open $place/a.db" | LD_LIBRARY_PATH=$library "$bin/breaker-worker" "$place/clock" | tee "$place/said"
    grep -q 'is too old for a store' "$place/said" || return 1
    rm "$place/said"
    [ "$before" = "$(cd "$place" && cksum ./*)" ] || return 1
    rm -r "$place"
}

# The compiler finds the header of this version first; it would take a cached module for one of the header of another.
builds() {
    local version=$1 place=$out/libraries/$1
    printf 'Name: SQLite\nDescription: SQL\nVersion: %s\nLibs: -L%s -lsqlite3\nCflags: -I%s\n' \
        "$version" "$place" "$place" >"$place/sqlite3.pc"
    rm -rf "$out"/build/*/debug/ModuleCache
    C_INCLUDE_PATH=$place PKG_CONFIG_PATH=$place swift build --scratch-path "$out/build" --target BreakerStore
}

# A test compares the version that each kind of process has loaded with BREAKER_SQLITE.
tests() {
    LD_LIBRARY_PATH=$2 BREAKER_SQLITE=$1 \
        "$bin/BreakerStorePackageTests.xctest" --testing-library swift-testing \
        --experimental-maximum-parallelization-width 6
}

torture() {
    local part=$1
    shift
    "$bin/breaker-torture" --part "$part" --duration "$seconds" "$@"
}

for version in "${versions[@]}"; do
    library=$out/libraries/$version
    if [ "$(number "$version")" -lt 3037000 ]; then
        step "$version: refused" "$out/$version-refused.log" refuses "$library"
        rows+=("$version|refused: $result|||")
        continue
    fi
    step "$version: build with its headers" "$out/$version-build.log" builds "$version"
    built=$result
    step "$version: tests" "$out/$version-tests.log" tests "$version" "$library"
    count=$(sed -n 's/.*Test run with \([0-9]*\) tests.*/\1/p' "$out/$version-tests.log" | tail -n 1)
    tested="$result (${count:-0})"
    shared=("" "")
    if [ "$version" != "$newest" ]; then
        for part in kill stale; do
            step "$version beside $newest: $part" "$out/$version-$part.log" \
                torture "$part" --sqlite "$library" --sqlite "$out/libraries/$newest"
            [ "$part" = kill ] && shared[0]=$result || shared[1]=$result
        done
    fi
    rows+=("$version|$built|$tested|${shared[0]}|${shared[1]}")
done

{
    echo "SQLite|builds|tests|kill beside $newest|stale beside $newest"
    printf '%s\n' "${rows[@]}"
} | column -t -s '|' | tee "$out/table.txt"
exit "$status"

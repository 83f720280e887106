#!/bin/sh
# Makes sure that this machine has what a purpose needs. Says nothing when there is nothing to do.
# usage: scripts/setup.sh [PURPOSE]...    tests by default
#
# Each purpose needs what building needs, and more:
#   build        nothing more
#   python       Python 3 with SQLite: programs under scripts/ are written in it
#   torture      python, and programs that make file systems
#   tests        torture, and the shells, mandoc, curl and make
#   fleet-build  libpq, for the trait PostgreSQL
#   fleet-demo   libpq, and a PostgreSQL to start
#   fleet        tests and fleet-demo, and openssl
#   has-libpq    installs nothing: ends with 0 if the trait PostgreSQL can be built
#
# Debian and Ubuntu: installs what is missing, with sudo when not root. Elsewhere: says what to install.
# Swift itself is never installed.
set -eu

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
    say "$@"
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

needed=
for purpose in "${@:-tests}"; do
    case $purpose in
    build | has-libpq) ;;
    python) needed="$needed python" ;;
    torture) needed="$needed python disks" ;;
    tests) needed="$needed python disks shells" ;;
    fleet-build) needed="$needed libpq" ;;
    fleet-demo) needed="$needed libpq postgres" ;;
    fleet) needed="$needed python disks shells libpq postgres certificates" ;;
    *)
        say "there is no purpose '$purpose'; there are: build python torture tests fleet-build fleet-demo fleet has-libpq"
        exit 64
        ;;
    esac
done
needs() {
    case " $needed " in
    *" $1 "*) ;;
    *) return 1 ;;
    esac
}

# --- Swift 6.2 or newer

has swift || fail "no 'swift' in PATH; install Swift 6.2 or newer: https://www.swift.org/install"
# OpenStack's client has the same name: only a line that says "Swift version" counts.
version=$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
[ -n "$version" ] || fail "'$(command -v swift)' is no working Swift toolchain: 'swift --version' names no version"
major=${version%%.*}
minor=${version#*.}
if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
    fail "Swift $version at '$(command -v swift)' is too old; install 6.2 or newer: https://www.swift.org/install"
fi

# --- What the purpose needs beside Swift

system=$(uname -s)

has_sqlite() {
    if has pkg-config; then
        pkg-config --exists 'sqlite3 >= 3.37' && return
    fi
    # macOS has SQLite in its SDK, without a file for pkg-config.
    [ "$system" = Darwin ] && has xcrun && [ -e "$(xcrun --show-sdk-path 2>/dev/null)/usr/include/sqlite3.h" ]
}

# Programs in Python share a store with the tests; Debian's python3-minimal has no SQLite.
has_python() { has python3 && python3 -c 'import fcntl, sqlite3' 2>/dev/null; }

has_libpq() {
    if has pkg-config && pkg-config --exists libpq; then return 0; fi
    has pg_config && [ -e "$(pg_config --includedir)/libpq-fe.h" ]
}

if [ "${1:-}" = has-libpq ]; then
    has_libpq
    exit
fi

# The programs alone: the tests make their own server. Debian keeps them out of PATH.
has_postgres() {
    has initdb && has postgres && return 0
    for folder in /usr/lib/postgresql/*/bin; do
        [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && return 0
    done
    return 1
}

# The missing packages, by their names on Debian.
missing() {
    has_sqlite || printf ' libsqlite3-dev'
    # pkg-config tells the build where SQLite is.
    [ "$system" = Darwin ] || has pkg-config || printf ' pkg-config'
    if needs python; then has_python || printf ' python3'; fi
    if needs disks; then missing_for_disks; fi
    if needs shells; then
        # Completions are tried in the shells that they are for; mandoc checks the manual page. The snippets of an
        # article call curl and make.
        for program in bash zsh fish mandoc curl make; do
            has "$program" || printf ' %s' "$program"
        done
    fi
    if needs libpq; then has_libpq || printf ' libpq-dev'; fi
    if needs postgres; then has_postgres || printf ' postgresql'; fi
    # For the certificates of the tests' servers.
    if needs certificates; then has openssl || printf ' openssl'; fi
}

missing_for_disks() (
    [ "$system" != Darwin ] || exit 0
    # unshare gives tests a time namespace of their own.
    has unshare || printf ' util-linux'
    # File systems that root mounts from an image, to freeze and to fill them.
    [ "$(id -u)" -eq 0 ] || exit 0
    PATH=$PATH:/sbin:/usr/sbin
    has mkfs.ext4 || printf ' e2fsprogs'
    has mkfs.btrfs || printf ' btrfs-progs'
    has mkfs.xfs || printf ' xfsprogs'
)

packages=$(missing)
[ -n "$packages" ] || exit 0

is_debian() (
    [ -r /etc/os-release ] || exit 1
    . /etc/os-release
    case " ${ID:-} ${ID_LIKE:-} " in
    *" debian "* | *" ubuntu "*) has apt-get ;;
    *) exit 1 ;;
    esac
)

if ! is_debian; then
    say "missing (by their names on Debian):$packages"
    case $system in
    Darwin) say "install them with: xcode-select --install, or: brew install sqlite pkgconf python fish mandoc libpq postgresql" ;;
    *) say "install SQLite 3.37 or newer with its headers and the others of these, then try again" ;;
    esac
    exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
    sudo=
elif has sudo; then
    sudo=sudo
else
    fail "missing, and neither root nor sudo here; as root run: apt-get install$packages"
fi

say "installing$packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    # shellcheck disable=SC2086 # $sudo is one word or none
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}
# A broken foreign source must not stop us: whether the packages can be had is what the next line finds out.
apt update || true
# shellcheck disable=SC2086 # $packages is a list
apt install -y --no-install-recommends $packages || {
    cat "$log" >&2
    fail "could not install$packages"
}

packages=$(missing)
[ -z "$packages" ] || fail "installed, and still not usable (SQLite must be 3.37 or newer):$packages"

#!/bin/sh
# As root: makes the Debian packages, has lintian and systemd look at them, installs them into a bare Debian root, uses
# them there, and removes them without a trace.
# usage: scripts/deb-check.sh
set -eu
cd "$(dirname "$0")/.."
umask 022

fail() {
    echo "error: $*" >&2
    exit 1
}
holds() { printf 'holds: %s\n' "$*"; }

[ "$(id -u)" -eq 0 ] || fail "only root may make a root file system and enter it"

# What is mounted here is seen by nobody else, and gone with the last of these processes, however they end.
[ "${1:-}" = --alone ] || exec unshare --mount --propagation private scripts/deb-check.sh --alone

missing=
for pair in lintian:lintian debootstrap:debootstrap systemd-analyze:systemd dpkg-shlibdeps:dpkg-dev; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
if [ -n "$missing" ]; then
    echo "setup: installing$missing" >&2
    apt-get -qq update || true
    # shellcheck disable=SC2086 # a list
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install $missing >/dev/null
fi

first=$(mktemp -d)
scripts/deb.sh >"$first/list"
while read -r package; do cp "$package" "$first"; done <"$first/list"
packages=$(umask 077 && scripts/deb.sh)
[ "$packages" = "$(cat "$first/list")" ] || fail "the second time other packages are made"
# Paths of the package's own folder have no blanks in them, or the programs could not be built.
for package in $packages; do
    cmp "$first/$(basename "$package")" "$package" || fail "two packages of the same sources differ"
done
rm -r "$first"
holds "the packages are the same when they are made again, by somebody with another mask"
[ -e .build/deb/breaker-fleet ] || fail "there is no package breaker-fleet: libpq is not here (scripts/setup.sh fleet-build)"
# shellcheck disable=SC2086 # several paths
lintian --fail-on error --allow-root $packages
holds "lintian finds no error"

for unit in breaker-inspect:breaker-metrics breaker-fleet:breaker-fleet; do
    file=.build/deb/${unit%:*}/lib/systemd/system/${unit#*:}.service
    systemd-analyze security --offline=true --threshold=30 "$file" >.build/deb/security.txt || {
        cat .build/deb/security.txt >&2
        fail "the service may do more than it needs"
    }
    holds "$(tail -n 1 .build/deb/security.txt | tr -s ' ')"
done

# --- A bare Debian

bare=$(mktemp -d)
# A directory of a service that runs: made by nobody in the bare root.
end() {
    umount "$bare/proc" 2>/dev/null || true
    rm -rf --one-file-system "$bare"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
chmod 0755 "$bare"
# The release that this machine is of, from where it comes; apt may know others, too.
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016 # apt's own placeholders
mirror() { apt-get indextargets --format '$(CODENAME) $(SUITE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$codename [a-z]* //p" | head -n 1; }
# Without lists apt knows no names of releases.
[ -n "$(mirror)" ] || apt-get -qq update || true
[ -n "$(mirror)" ] || fail "apt names no source of $codename"
debootstrap --variant=minbase --include=libsqlite3-0,libpq5 "$codename" "$bare" "$(mirror)" >.build/deb/debootstrap.log 2>&1 ||
    { tail -n 20 .build/deb/debootstrap.log >&2; fail "no bare Debian could be made"; }
mount -t proc proc "$bare/proc"

# With owner, mode and where links lead. Of dpkg's own files those that hold the state of all packages are left out.
files() {
    find "$bare" -xdev \( -path "$bare/var/lib/dpkg/status*" -o -path "$bare/var/lib/dpkg/available*" -o -path "$bare/var/log" \
        -o -path "$bare/proc" \) -prune -o -printf '%M %U:%G %P %l\n' | sort
}
inside() { chroot "$bare" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"; }

files >.build/deb/before.txt
for package in $packages; do
    cp "$package" "$bare/tmp/package.deb"
    inside dpkg -i /tmp/package.deb >.build/deb/install.log 2>&1 || { cat .build/deb/install.log >&2; fail "dpkg does not install it"; }
    rm "$bare/tmp/package.deb"
done
[ -z "$(inside dpkg --verify breaker-inspect breaker-fleet)" ] || fail "dpkg --verify finds other files than those of the packages"
# A bare root has no systemd, and none of its targets.
systemd-analyze verify --man=no --root="$bare" breaker-metrics.service breaker-metrics.timer breaker-fleet.service 2>&1 |
    grep -v 'Unit sysinit.target not found' >.build/deb/verify.txt || true
! [ -s .build/deb/verify.txt ] || { cat .build/deb/verify.txt >&2; fail "systemd does not understand the units"; }
holds "they are installed into a bare Debian"

# A store that a program of this machine has made.
swift build --product breaker-worker >&2
mkdir "$bare/var/lib/shop"
printf 'open %s system-clock\nbreaker payments failures=2 recovery=600\nfail payments 2\nclose\n' "$bare/var/lib/shop/breakers.db" |
    "$(swift build --show-bin-path)/breaker-worker" "$bare/var/lib/shop/clock" >/dev/null
inside breaker-inspect --version
inside breaker-inspect list --store /var/lib/shop/breakers.db | grep -q '^payments *open' || fail "list does not show the circuit"
inside breaker-inspect complete bash -- breaker-inspect >/dev/null
for name in breaker-inspect breaker-fleet; do
    for file in man/man1/$name.1.gz bash-completion/completions/$name zsh/vendor-completions/_$name \
        fish/vendor_completions.d/$name.fish; do
        [ -s "$bare/usr/share/$file" ] || fail "$file is missing"
    done
done
for file in metrics.md alerts.yml dashboard.json breaker-inspect.schema.json; do
    cmp "docs/$file" "$bare/usr/share/doc/breaker-inspect/$file" || fail "the package has no $file"
done
inside breaker-fleet --version
inside breaker-fleet schema print | cmp - docs/fleet.sql || fail "the program prints another schema"
cmp docs/fleet.sql "$bare/usr/share/doc/breaker-fleet/fleet.sql"
[ "$(inside breaker-fleet complete fish -- run --circ)" = "$(printf 'words\n--circuits\t')$(inside breaker-fleet help run |
    sed -n 's/^  --circuits PATTERN *//p')" ] || fail "breaker-fleet completes no option"
holds "the programs work there"

# --- The services, by their own lines: a bare root runs no systemd

service=$bare/lib/systemd/system/breaker-metrics.service
line() { sed -n "s/^$1=//p" "$service"; }
# With no other right of root than the service has.
run() { inside setpriv --bounding-set=-all,+dac_read_search sh -c "set -a; . /etc/default/breaker-metrics; set +a; $(line "$1")"; }
run ExecCondition && fail "the service would run before a store is named"
# As systemd makes it.
mkdir "$bare/run/breaker-metrics"
sed -i 's|^STORES=.*|STORES="--store shop=/var/lib/shop/breakers.db"|' "$bare/etc/default/breaker-metrics"
run ExecCondition
run ExecStart
grep -q '^breaker_state{store="shop",circuit="payments",group="",state="open"} 1$' \
    "$bare/run/breaker-metrics/breakers.prom" || fail "the service did not write the metrics"
holds "the service writes the metrics of a store that is named"
sed -i 's|^STORES=.*|STORES="--store shop=/var/lib/shop/none.db"|' "$bare/etc/default/breaker-metrics"
run ExecStart 2>.build/deb/metrics.log && fail "the service does not fail where a store can't be read"
grep -q "'/var/lib/shop/none.db': no such file" .build/deb/metrics.log || fail "the service does not say why it failed"
holds "the service says why it failed"

# It is ready without a server, which may come later, and ends when it is told to.
start=$(sed -n 's/^ExecStart=//p' "$bare/lib/systemd/system/breaker-fleet.service")
# shellcheck disable=SC2086 # words of a command line
if inside setpriv --bounding-set=-all $start 2>.build/deb/fleet.log; then fail "it would run without a store"; elif [ $? -ne 64 ]; then
    cat .build/deb/fleet.log >&2
    fail "without a store it does not end as a wrong command line"
fi
grep -q BREAKER_FLEET_STORE .build/deb/fleet.log || fail "it does not say where a store is named"
sed -i 's|^BREAKER_FLEET_STORE=.*|BREAKER_FLEET_STORE=/var/lib/shop/breakers.db|' "$bare/etc/default/breaker-fleet"
scripts/deb-service.py "$bare" "$start" 2>.build/deb/fleet.log || { cat .build/deb/fleet.log >&2; fail "the service does not work"; }
holds "breaker-fleet says that it is ready, and ends when it is told to"

# --- Gone without a trace

rm -r "$bare/var/lib/shop"
inside dpkg --purge breaker-inspect breaker-fleet >.build/deb/purge.log 2>&1 || { cat .build/deb/purge.log >&2; fail "dpkg does not purge them"; }
files >.build/deb/after.txt
diff .build/deb/before.txt .build/deb/after.txt || fail "traces are left"
holds "they are gone without a trace"

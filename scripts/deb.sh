#!/bin/sh
# Makes the Debian package of breaker-inspect in .build/deb, and says its path.
# usage: scripts/deb.sh
set -eu
cd "$(dirname "$0")/.."
# Whoever installs the package reads its files, whatever the mask of its maker is.
umask 022

from=packaging/debian
out=.build/deb
root=$out/root
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"

rm -rf "$out"
mkdir -p "$root/DEBIAN"
make install DESTDIR="$PWD/$root" PREFIX=/usr >&2
program=$root/usr/bin/breaker-inspect
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$program"

# Debian's shells look for completions of packages here.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_breaker-inspect" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"

put() {
    mkdir -p "$root/$(dirname "$2")"
    install -m 0644 "$1" "$root/$2"
}
documents=usr/share/doc/breaker-inspect
put "$from/breaker-metrics.service" lib/systemd/system/breaker-metrics.service
put "$from/breaker-metrics.timer" lib/systemd/system/breaker-metrics.timer
put "$from/breaker-metrics.default" etc/default/breaker-metrics
put "$from/copyright.in" "$documents/copyright"
put "$from/README.Debian" "$documents/README.Debian"
for file in metrics.md alerts.yml dashboard.json; do put "docs/$file" "$documents/$file"; done

version=$(sed -n 's/.*static let library = "\(.*\)".*/\1/p' Sources/BreakerStore/SQLite/Versions.swift)
{
    printf 'breaker-inspect (%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md of the sources tells what is new.\n\n' \
        "$version" "$version"
    printf ' -- BreakerStore maintainers <maintainers@example.invalid>  %s\n' "$(date -Ru -d "@$SOURCE_DATE_EPOCH")"
} >"$root/$documents/changelog"
gzip -9n "$root/$documents/changelog" "$root/usr/share/man/man1/breaker-inspect.1"

# dpkg-shlibdeps wants a source package; an empty one does.
mkdir -p "$out/source/debian"
: >"$out/source/debian/control"
depends=$(cd "$out/source" && dpkg-shlibdeps -O --ignore-missing-info -e"$OLDPWD/$program" 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p')
case $depends in
*libsqlite3-0*) ;;
*)
    echo "error: the package would not depend on libsqlite3-0, but on '$depends'" >&2
    exit 1
    ;;
esac

size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/; s/@SIZE@/$size/" \
    -e "s|@DEPENDS@|$depends|" "$from/control.in" >"$root/DEBIAN/control"
echo /etc/default/breaker-metrics >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 0755 "$from/$script" "$root/DEBIAN/$script"; done
(cd "$root" && find lib usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -type d -exec chmod 0755 {} +
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"

dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >&2
ls "$out"/*.deb

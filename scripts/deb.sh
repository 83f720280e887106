#!/bin/sh
# Makes the Debian packages in .build/deb, breaker-fleet where libpq is, and says their paths.
# usage: scripts/deb.sh
set -eu
cd "$(dirname "$0")/.."
# Whoever installs a package reads its files, whatever the mask of its maker is.
umask 022

# A missing tool is named here, before a build that takes minutes.
for tool in dpkg-deb dpkg-shlibdeps strip; do
    command -v "$tool" >/dev/null && continue
    echo "error: there is no '$tool'; install what makes packages: apt-get install dpkg-dev binutils" >&2
    exit 69
done

out=$PWD/.build/deb
installed=$out/installed
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"
version=$(sed -n 's/.*static let library = "\(.*\)".*/\1/p' Sources/BreakerStore/SQLite/Schema/Versions.swift)

rm -rf "$out"
mkdir -p "$installed"
make install DESTDIR="$installed" PREFIX=/usr >&2

# put FILE PLACE: below the root of the package that is made.
put() {
    mkdir -p "$root/$(dirname "$2")"
    install -m 0644 "$1" "$root/$2"
}

# What the package has beside what `make install` makes of its program; then its files of systemd.
contents() {
    documents=usr/share/doc/$1
    case $1 in
    breaker-inspect)
        unit breaker-metrics
        for file in metrics.md alerts.yml dashboard.json breaker-inspect.schema.json; do put "docs/$file" "$documents/$file"; done
        ;;
    breaker-fleet)
        unit breaker-fleet
        for file in fleet.md fleet.sql; do put "docs/$file" "$documents/$file"; done
        ;;
    esac
}
unit() {
    for file in packaging/systemd/"$1".service packaging/systemd/"$1".timer; do
        [ ! -e "$file" ] || put "$file" "lib/systemd/system/$(basename "$file")"
    done
    put "packaging/systemd/$1.default" "etc/default/$1"
    echo "/etc/default/$1" >"$root/DEBIAN/conffiles"
}

# The packages whose libraries a program needs.
dependencies() {
    # dpkg-shlibdeps wants a source package; an empty one does.
    mkdir -p "$out/source/debian"
    : >"$out/source/debian/control"
    (cd "$out/source" && dpkg-shlibdeps -O --ignore-missing-info -e"$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# make_package NAME LIBRARY…: the libraries' packages are those that it must depend on.
make_package() {
    package=$1
    shift
    from=packaging/debian/$package
    root=$out/$package
    program=$root/usr/bin/$package
    mkdir -p "$root/DEBIAN" "$root/usr/bin"
    cp "$installed/usr/bin/$package" "$program"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$program"
    put "$installed/usr/share/man/man1/$package.1" "usr/share/man/man1/$package.1"
    # Debian's shells look for completions of packages here.
    put "$installed/usr/share/bash-completion/completions/$package" "usr/share/bash-completion/completions/$package"
    put "$installed/usr/share/fish/vendor_completions.d/$package.fish" "usr/share/fish/vendor_completions.d/$package.fish"
    put "$installed/usr/share/zsh/site-functions/_$package" "usr/share/zsh/vendor-completions/_$package"
    contents "$package"

    documents=$root/usr/share/doc/$package
    put "$from/README.Debian" "usr/share/doc/$package/README.Debian"
    sed "s/@PACKAGE@/$package/" packaging/debian/copyright.in >"$documents/copyright"
    {
        printf '%s (%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md of the sources tells what is new.\n\n' \
            "$package" "$version" "$version"
        printf ' -- BreakerStore maintainers <maintainers@example.invalid>  %s\n' "$(date -Ru -d "@$SOURCE_DATE_EPOCH")"
    } >"$documents/changelog"
    gzip -9n "$documents/changelog" "$root/usr/share/man/man1/$package.1"

    depends=$(dependencies "$program")
    for library; do
        case $depends in
        *"$library"*) ;;
        *)
            echo "error: $package would not depend on $library, but on '$depends'" >&2
            exit 1
            ;;
        esac
    done
    size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
    sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$(dpkg --print-architecture)/; s/@SIZE@/$size/" \
        -e "s|@DEPENDS@|$depends|" "$from/control.in" >"$root/DEBIAN/control"
    for script in postinst prerm postrm; do install -m 0755 "$from/$script" "$root/DEBIAN/$script"; done
    (cd "$root" && find lib usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -type d -exec chmod 0755 {} +
    find "$root" -newermt "@$SOURCE_DATE_EPOCH" -print0 | xargs -0r touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out" >&2
}

make_package breaker-inspect libsqlite3-0
if [ -e "$installed/usr/bin/breaker-fleet" ]; then make_package breaker-fleet libsqlite3-0 libpq5; fi
ls "$out"/*.deb

#!/bin/sh
# Builds the package as a user without libpq does, who asks for no trait: nothing may be said of libpq, or of anything
# else. The user's package has the lines that the README gives for Package.swift; pkg-config finds SQLite alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The README's line takes a package that lies beside the user's. The place is the same in each run, so that only what
# has changed is built.
place=$root/.build/trait-check-packages
rm -rf "$place"
mkdir -p "$folder/pkgconfig" "$folder/bin" "$place/user/Sources/Shop"
ln -s "$root" "$place/BreakerStore"
# macOS has SQLite in its SDK, without a file for pkg-config.
description=$(pkg-config --variable pcfiledir sqlite3 2>/dev/null || true)
[ -z "$description" ] || cp "$description/sqlite3.pc" "$folder/pkgconfig"
# Swift asks pkg-config where to look and looks by itself: PKG_CONFIG_LIBDIR alone changes nothing.
cat >"$folder/bin/pkg-config" <<END
#!/bin/sh
case "\$*" in
*pc_path*) echo '$folder/pkgconfig' ;;
*) exec '$(command -v pkg-config || echo false)' "\$@" ;;
esac
END
chmod +x "$folder/bin/pkg-config"

{
    printf '// swift-tools-version: 6.2\nimport PackageDescription\n'
    printf 'let package = Package(\nname: "User",\nplatforms: [.macOS(.v15)],\n'
    # The module of the fleet is empty without the trait, and must be as quiet.
    sed -n '\|^// Package.swift$|,/^```$/p' "$root/README.md" | sed '1d; $d' |
        sed 's/\.product(name: "BreakerStore"/.product(name: "BreakerFleet", package: "BreakerStore"), &/'
    printf ')\n'
} >"$place/user/Package.swift"
grep -q BreakerFleet "$place/user/Package.swift" || {
    echo "error: the README has no lines for Package.swift that name the product BreakerStore" >&2
    exit 1
}
printf 'import BreakerFleet\nimport BreakerStore\n' >"$place/user/Sources/Shop/Shop.swift"

# Kept from one run to the next.
scratch=$root/.build/trait-check
build() { PATH=$folder/bin:$PATH PKG_CONFIG_LIBDIR=$folder/pkgconfig swift build "$@" >"$folder/log" 2>&1; }
# The names of files that are compiled are no words about them.
complaints() { grep -vE '^\[[0-9]+/[0-9]+\] ' "$folder/log" | grep -iE 'warning|note'; }
check() {
    build "$@" || {
        cat "$folder/log" >&2
        echo "error: the package can't be built without libpq" >&2
        exit 1
    }
    if complaints >&2; then
        echo "error: a build without libpq has something to say" >&2
        exit 1
    fi
}

check --package-path "$place/user" --scratch-path "$scratch"
# All targets of the root are planned, whichever is built: so the smallest.
root_build="--package-path $root --scratch-path $scratch-root --target CBreakerStore"
# shellcheck disable=SC2086 # several words
check $root_build
# With the trait libpq is missed, where pkg-config is what tells of it: so these checks see what they look for.
# shellcheck disable=SC2086 # several words
if [ "$(uname)" = Linux ] && build $root_build --traits PostgreSQL && ! complaints >/dev/null; then
    echo "error: libpq is found; this check shows nothing" >&2
    exit 1
fi
echo "built without libpq, and nothing to say"

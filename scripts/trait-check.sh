#!/bin/sh
# Builds the package as a user without libpq does, who asks for no trait: nothing may be said of libpq, or of anything
# else. The user's package depends on this one by its path; pkg-config finds SQLite alone.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir -p "$folder/pkgconfig" "$folder/bin" "$folder/user/Sources/User"
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

cat >"$folder/user/Package.swift" <<END
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "User",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "BreakerStore", path: "$root")],
    targets: [
        .target(
            name: "User",
            dependencies: [
                .product(name: "BreakerStore", package: "BreakerStore"),
                .product(name: "BreakerFleet", package: "BreakerStore"),
            ]
        )
    ]
)
END
printf 'import BreakerFleet\nimport BreakerStore\n' >"$folder/user/Sources/User/User.swift"

# Kept from one run to the next: only what has changed is built.
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

check --package-path "$folder/user" --scratch-path "$scratch"
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

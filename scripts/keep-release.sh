#!/bin/sh
# Keeps the library's sources of a release, in modules of other names, for tests of later versions: they run a program
# that really is of that release beside their own.
#
# usage: scripts/keep-release.sh VERSION      such as 0.1.2; replaces what is kept of it
set -eu
cd "$(dirname "$0")/.."

version=${1:?"usage: scripts/keep-release.sh VERSION"}
suffix=_$(printf '%s' "$version" | tr . _)
kept=Tests/Releases/$version

for folder in BreakerStore CBreakerStore CSQLite Migrations; do rm -rf "${kept:?}/$folder"; done
mkdir -p "$kept"
cp -R Sources/BreakerStore "$kept/BreakerStore"
cp -R Sources/CBreakerStore "$kept/CBreakerStore"
cp -R Sources/CSQLite "$kept/CSQLite"
cp -R Migrations "$kept/Migrations"
rm -rf "$kept/BreakerStore/Documentation.docc"

find "$kept/BreakerStore" "$kept/Migrations" -name '*.swift' | while IFS= read -r file; do
    sed -E "s/^((public|package|internal) )?import (CBreakerStore|CSQLite|BreakerStoreMigrations)\$/import \\3$suffix/" "$file" \
        >"$file.new"
    mv "$file.new" "$file"
done
sed -E "s/^module CSQLite /module CSQLite$suffix /" "$kept/CSQLite/module.modulemap" >"$kept/CSQLite/module.modulemap.new"
mv "$kept/CSQLite/module.modulemap.new" "$kept/CSQLite/module.modulemap"

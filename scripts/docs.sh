#!/bin/sh
# Builds the documentation of what is public into .build/docs; each warning is an error.
# It reads the release build, so that it costs no build of its own where there is one.
#
# `swift package dump-symbol-graph` is of no use here: it wants the modules of the tests, too, which a release build
# has not.
set -eu

catalog=Sources/BreakerStore/Documentation.docc
graphs=.build/docs-symbols
output=.build/docs

beside_swift=$(dirname "$(readlink -f "$(command -v swift)")")
docc=$(command -v docc || xcrun --find docc 2>/dev/null || echo "$beside_swift/docc")
triple=$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -n 1)
sdk=${SDKROOT:-$(xcrun --show-sdk-path 2>/dev/null || true)}
include=$(pkg-config --cflags-only-I sqlite3 2>/dev/null || true)

swift build -c release --target BreakerStore
built=$(swift build -c release --show-bin-path)
rm -rf "$graphs" "$output"
mkdir -p "$graphs"
# shellcheck disable=SC2086 # $include is a list
swift symbolgraph-extract -module-name BreakerStore -minimum-access-level public -output-dir "$graphs" \
    -target "$triple" ${sdk:+-sdk "$sdk"} \
    -I "$built/Modules" -I Sources/CSQLite -Xcc "-fmodule-map-file=$built/CBreakerStore.build/module.modulemap" $include

if [ ! -d "$catalog" ]; then
    echo "no $catalog: checking the documentation comments alone"
    catalog=
fi
"$docc" convert ${catalog:+"$catalog"} --additional-symbol-graph-dir "$graphs" --output-dir "$output" \
    --fallback-display-name BreakerStore --fallback-bundle-identifier BreakerStore --warnings-as-errors

# The page that docc puts at the root shows nothing: the documentation begins below it.
start=documentation/breakerstore/
cat >"$output/index.html" <<EOF
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=$start">
<title>BreakerStore</title>
<p><a href="$start">The documentation of BreakerStore</a></p>
</html>
EOF
echo "the documentation is in $output; a browser shows its pages only if a server hands them out, such as"
echo "    python3 -m http.server --bind 127.0.0.1 --directory $output 8000"
echo "Then open http://127.0.0.1:8000/"

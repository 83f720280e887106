#!/bin/sh
# Builds the documentation of what is public into .build/docs; each warning is an error.
# It reads the release build, so that it costs no build of its own where there is one.
set -eu

catalog=Sources/BreakerStore/Documentation.docc
swift=$(command -v swift)
docc=$(command -v docc || xcrun --find docc 2>/dev/null || echo "$(dirname "$(readlink -f "$swift")")/docc")

dumped=$(swift build -c release --show-bin-path)/../symbolgraph
graphs=.build/docs-symbols
rm -rf "$dumped" "$graphs" .build/docs
swift package -c release dump-symbol-graph --minimum-access-level public
mkdir -p "$graphs"
# The module's own symbols, and what it adds to types of other modules.
find "$dumped" \( -name 'BreakerStore.symbols.json' -o -name 'BreakerStore@*.symbols.json' \) -exec cp {} "$graphs" \;

[ -d "$catalog" ] || {
    echo "no $catalog yet: the documentation comments alone are checked"
    catalog=
}
"$docc" convert ${catalog:+"$catalog"} \
    --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name BreakerStore \
    --fallback-bundle-identifier BreakerStore \
    --warnings-as-errors \
    --output-dir .build/docs
echo "documentation is in .build/docs"

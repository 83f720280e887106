#!/usr/bin/env python3
"""Holds the public declarations against docs/api.txt, so that no change breaks a user unseen.

usage: scripts/api.py [--write]

Reads the symbol graph that `make docs` leaves. With --write it writes docs/api.txt anew; without, it fails where the
file differs from the sources. What the last release had is in docs/api-released.txt, once there is one; a line of that
file may be missing in the sources only if docs/api-changed.txt has it, followed by a tab and the reason.
"""

import json
import os
import sys

GRAPH = ".build/docs-symbols/BreakerStore.symbols.json"
CURRENT = "docs/api.txt"
RELEASED = "docs/api-released.txt"
CHANGED = "docs/api-changed.txt"


def declarations():
    """One line for each declaration and each conformance, sorted."""
    with open(GRAPH, encoding="utf-8") as file:
        graph = json.load(file)
    names = {}
    lines = set()
    for symbol in graph["symbols"]:
        precise = symbol["identifier"]["precise"]
        path = ".".join(symbol["pathComponents"])
        names[precise] = path
        # What the standard library gives to a type is no declaration of this module.
        if "::SYNTHESIZED::" in precise or "location" not in symbol:
            continue
        text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
        lines.add(f"{path}: {' '.join(text.split())}")
    for relation in graph["relationships"]:
        if relation["kind"] == "conformsTo" and relation["source"] in names:
            target = names.get(relation["target"]) or relation.get("targetFallback", relation["target"])
            # Some compilers tell what every type conforms to.
            if target in ("Swift.Copyable", "Swift.Escapable", "Swift.SendableMetatype"):
                continue
            lines.add(f"{names[relation['source']]}: conforms to {target}")
    return sorted(lines)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    if not os.path.exists(GRAPH):
        sys.exit(f"error: there is no {GRAPH}; run 'make docs' first")
    found = declarations()
    if sys.argv[1:]:
        with open(CURRENT, "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in found))
        print(f"{CURRENT} has {len(found)} declarations")
    elif found != read(CURRENT):
        known = read(CURRENT)
        for line in sorted(set(known) - set(found)):
            print(f"- {line}")
        for line in sorted(set(found) - set(known)):
            print(f"+ {line}")
        sys.exit(
            "error: the public declarations are not those of docs/api.txt\n"
            "hint: one that is gone or changed breaks users: it needs an issue, and a word in CHANGELOG.md;\n"
            "      then 'make api' writes the file anew"
        )
    if os.path.exists(RELEASED):
        allowed = {line.split("\t")[0] for line in read(CHANGED)} if os.path.exists(CHANGED) else set()
        gone = [line for line in read(RELEASED) if line not in set(found) and line not in allowed]
        for line in gone:
            print(f"- {line}")
        if gone:
            sys.exit(
                f"error: the last release had {'this' if len(gone) == 1 else 'these'}\n"
                f"hint: where no user breaks, list the line in {CHANGED}, with a tab and the reason"
            )
    print("the public declarations are as they should be")


main()

#!/usr/bin/env python3
"""Checks that arrows in the library go down only, what stands on public types alone, and how wide comments are.

Prints each violation, and fails if there is one.
"""
import collections
import os
import pathlib
import re
import sys

LIBRARY = pathlib.Path("Sources/BreakerStore")
# Made of the library's public types alone, so that other programs can use it with any values.
PUBLIC_ONLY = pathlib.Path("Sources/BreakerStoreJSON")
# What the command-line programs share. It knows neither stores nor fleets: of the library it has how texts are shown.
SHARED = pathlib.Path("Sources/BreakerTool")
SHARED_MODULES = {"BreakerStore", "BreakerStoreJSON", "Foundation", "FoundationEssentials", "Darwin", "Glibc", "Musl"}

# A room is a folder with the folders in it that are not named here. A file may name the types of its own room, of the
# rooms in the lines above it, and those of the root. Rooms in one line stand beside each other. An extension of a type
# of a lower room is where the extension is needed.
ORDER = [
    ["Support", "Circuit"],
    ["Files"],
    ["SQLite", "Counters"],
    ["Writer/Rows"],
    ["Opening"],
    ["ReadPath"],
    ["Circuits"],
    ["ReadPath/Readers", "Counters/Publication"],
    ["Events"],
    ["Writer"],
    ["Calls", "Links"],
    ["Operations"],
]
# Each folder of Sources has at most so many files, but for the library's root and the folder of verbs: there a public
# type, or a verb, has a file.
FILES = 14
FULL = {LIBRARY.as_posix(), "Sources/breaker-inspect/Verbs"}
# The store and its circuits as objects, not as names for their configurations.
OBJECTS = {"CircuitStore", "CircuitBreaker"}
OBJECTS_FROM = ["Calls", "Operations", "Links"]
# The modules that only some folders may import.
MODULES = {"CSQLite": ["SQLite"], "CBreakerStore": ["Support", "Files", "SQLite", "Counters", "ReadPath"]}

# Comments of these files have at most so many characters a line.
SOURCES = {".swift", ".c", ".h", ".sh", ".py"}
WIDTH = 120
# Not our own text, or as it was released.
SKIPPED = {".build", ".git", "Tests/Fuzzing/corpus"}

DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|final|indirect|nonisolated)\s+)*"
    r"(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)",
    re.MULTILINE,
)
# Comments, then texts but for what is interpolated into them.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)
problems = []


def code(text):
    """The text without comments and literals, its lines where they were."""

    def blank(found):
        kept = "" if found[0].startswith("/") else " ".join(re.findall(r"\\\((.*?)\)", found[0], re.DOTALL))
        return kept.replace("\n", " ") + "\n" * found[0].count("\n")

    return NOISE.sub(blank, text)


rank = {room: place for place, rooms in enumerate(ORDER) for room in rooms}


def room(folder):
    """The room that a folder belongs to; the folder itself if it belongs to none."""
    names = folder.split("/")
    parents = ("/".join(names[:length]) for length in range(len(names), 0, -1))
    return next((parent for parent in parents if parent in rank), folder)


files = {}
declared = {}
for path in sorted(LIBRARY.rglob("*.swift")):
    parent = path.relative_to(LIBRARY).parent.as_posix()
    folder = room(parent) if parent != "." else ""
    files[path] = (folder, code(path.read_text()))
    for name in DECLARATION.findall(files[path][1]):
        declared[name] = folder

sizes = collections.Counter(path.parent.as_posix() for path in pathlib.Path("Sources").rglob("*.swift"))
for folder, count in sizes.items():
    if count > FILES and folder not in FULL:
        problems.append(f"{folder} has {count} files, {FILES} are allowed: make a folder of some")

for path, (folder, text) in files.items():
    if folder and folder not in rank:
        problems.append(f"{path}: ORDER in scripts/layout.py does not know this folder")
        continue
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{path}:{number}"
        for module, allowed in MODULES.items():
            if re.search(rf"\bimport\s+{module}\b", line) and folder not in allowed:
                problems.append(f"{where}: imports {module}; only {', '.join(allowed)} may")
        if not folder:
            continue
        if re.match(r"(?:@\w+\s+)*public\s+(?:final\s+)?(?:struct|class|enum|protocol|actor|typealias)\b", line):
            problems.append(f"{where}: declares a public type; those are in the root")
        if folder == "Circuit" and re.search(r"\bimport\b", line):
            problems.append(f"{where}: imports; the machine is pure")
        for name in re.findall(r"(?<!\.)\b[A-Z]\w*", line):
            home = declared.get(name, "")
            if name in OBJECTS:
                isNamespace = re.search(rf"\b{name}\.(?:Config|Configuration)\b", line)
                if folder not in OBJECTS_FROM and not isNamespace:
                    problems.append(f"{where}: names {name}; only the root, {' and '.join(OBJECTS_FROM)} may")
            elif home and home != folder and rank[home] >= rank[folder]:
                problems.append(f"{where}: names {name} of {home}/, which does not stand below {folder}/")

# Only open-source toolchains have the smaller module by its name.
for path in sorted(pathlib.Path("Sources").rglob("*.swift")):
    text = path.read_text()
    if re.search(r"import FoundationEssentials", text) and "#if canImport(FoundationEssentials)" not in text:
        problems.append(f"{path}: imports FoundationEssentials without asking whether it is there")

PACKAGE_TYPE = re.compile(r"^package\s+(?:final\s+)?(?:struct|class|enum|protocol|actor)\s+(\w+)", re.MULTILINE)
hidden = {name for _, text in files.values() for name in PACKAGE_TYPE.findall(text)}
for path in sorted(PUBLIC_ONLY.rglob("*.swift")):
    for number, line in enumerate(code(path.read_text()).split("\n"), 1):
        for name in sorted(hidden.intersection(re.findall(r"\b[A-Z]\w*", line))):
            problems.append(f"{path}:{number}: names {name}, which is no public type of the library")

for path in sorted(SHARED.rglob("*.swift")):
    for number, line in enumerate(code(path.read_text()).split("\n"), 1):
        for module in re.findall(r"\bimport\s+(\w+)", line):
            if module not in SHARED_MODULES:
                problems.append(f"{path}:{number}: imports {module}, which not all programs have")
        for name in re.findall(r"(?<!\.)\b[A-Z]\w*", line):
            if declared.get(name) == "":
                problems.append(f"{path}:{number}: names {name} of the library; what is about stores is each program's own")

for directory, folders, names in os.walk("."):
    folders[:] = [name for name in folders if name not in SKIPPED and f"{directory[2:]}/{name}" not in SKIPPED]
    for path in (pathlib.Path(directory, name) for name in names):
        if path.suffix not in SOURCES or path.is_symlink():
            continue
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if len(line) > WIDTH and re.match(r"\s*(?://|#|\*|/\*)", line):
                problems.append(f"{path}:{number}: a comment of {len(line)} characters; at most {WIDTH}")

print("\n".join(f"error: {problem}" for problem in problems), file=sys.stderr, end="\n" if problems else "")
sys.exit(1 if problems else 0)

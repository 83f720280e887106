#!/bin/sh
# Prints the texts that people read, each with its file and line: errors, advice, findings, help and manual page,
# reasons in the history, alerts, the dashboard. To be read one by one, as if one did not know the code: a place to
# look, not a gate.
# usage: scripts/messages.sh [FOLDER or FILE]...    all by default
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) exec sed -n '2,5s/^# //p' "$0" ;; esac

exec python3 - "$@" <<'END_OF_PYTHON'
import pathlib
import re
import sys

DEFAULTS = ["Sources", "docs/alerts.yml", "docs/dashboard.json", "packaging"]
# Statements of SQL, and patterns that no person reads.
SQL = re.compile(
    r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|COMMIT|WITH|ATTACH|SAVEPOINT|FROM|WHERE|AND|ORDER"
    r"|VALUES|ON CONFLICT|LEFT|JOIN|LISTEN|NOTIFY|SET|LIMIT|GROUP BY|UNION|EXCEPT|RELEASE|ROLLBACK|TRUNCATE|LOCK TABLE"
    r"|GRANT|EXISTS)\b|coalesce\(|\$[1-9]| = \?\d|\b(IS|NOT) NULL\b|MATERIALIZED|pg_current|\bAND\b|ORDER BY")
# Pages and their style, and functions of shells.
OTHER = re.compile(r"^\s*(<|:root|#compdef|# (bash|fish) completion)")


def literals(text):
    """The string literals of Swift's text, also those inside interpolations: each one's offset, its content, and the
    content with an empty `\\()` for each interpolation."""
    at = 0
    while at < len(text):
        if text.startswith("//", at):
            at = text.find("\n", at) % (len(text) + 1)
        elif text.startswith("/*", at):
            at = text.find("*/", at) + 2
        elif found := re.compile(r'(#*)("""|")').match(text, at):
            end, parts, inner = body(text, found.end(), found[1], found[2])
            yield at, "".join(parts), "".join("\\()" if part.startswith("\\(") else part for part in parts)
            for place, code in inner:
                yield from ((place + offset, *rest) for offset, *rest in literals(code))
            at = end
        else:
            at += 1


def body(text, at, hashes, quote):
    """Where a literal ends, its parts, and the code of its interpolations."""
    parts, inner = [], []
    escape = "\\" + hashes
    while not text.startswith(quote + hashes, at):
        if text.startswith(escape + "(", at):
            start = at = at + len(escape) + 1
            depth = 1
            while depth:
                if found := re.compile(r'(#*)("""|")').match(text, at):
                    at = body(text, found.end(), found[1], found[2])[0]
                    continue
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                at += 1
            inner.append((start, text[start:at - 1]))
            parts.append("\\(" + text[start:at - 1] + ")")
        elif text.startswith(escape, at):
            parts.append(text[at:at + len(escape) + 1])
            at += len(escape) + 1
        else:
            parts.append(text[at])
            at += 1
    return at + len(quote + hashes), parts, inner


def is_for_people(content):
    """Several words that are not SQL, of which an interpolation, `\\()`, may be one: a name, a key and a format have
    one."""
    words = re.findall(r"[A-Za-z]{2,}", content)
    return words and len(words) + content.count("\\()") > 1 and " " in content.strip() and not SQL.search(content) and not OTHER.match(content)


def of_swift(path):
    text = path.read_text()
    for offset, content, plain in literals(text):
        if is_for_people(plain):
            content = re.sub(r"\\\n\s*", "", content)
            yield text.count("\n", 0, offset) + 1, re.sub(r"\n\s*", " ⏎ ", content.strip())


def of_lines(path, pattern):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.match(pattern, line):
            yield number, found[1].strip()


def of_file(path):
    match path.suffix:
        case ".swift":
            return of_swift(path)
        case ".yml":
            return of_lines(path, r"\s*(?:summary|description): (.*)")
        case ".json":
            return of_lines(path, r'\s*"(?:title|description)": "(.*)",?$')
        case ".service" | ".timer":
            return of_lines(path, r"Description=(.*)")
        case ".default":
            return of_lines(path, r"# ?(.+)")
    return ()


for root in map(pathlib.Path, sys.argv[1:] or DEFAULTS):
    if not root.exists():
        sys.exit(f"error: {root} is not here; name a folder or a file of the repository")
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.is_file():
            for line, text in of_file(path):
                print(f"{path}:{line}: {text}")
END_OF_PYTHON

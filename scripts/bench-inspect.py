#!/usr/bin/env python3
"""Measures how long `breaker-inspect` takes from start to end and how much memory it needs at most, beside a Swift
program that prints one line. Fails where memory is over its limit; times are never judged.

usage: scripts/bench-inspect.py [--dynamic]

The tool is that of `make install`, with the Swift libraries in it. With --dynamic they are loaded: that takes 3 MB more,
which processes share.
"""
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

MEGABYTE = 1_000_000
RULES = '{"trip":{"count":5,"rule":"failures","windowMicroseconds":60000000}}'
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(directory, is_static):
    """The tool and the bare program, as releases."""
    flags = ["--static-swift-stdlib"] if is_static else []
    scratch = os.path.join(ROOT, ".build", "static" if is_static else "dynamic")
    command = ["swift", "build", "-c", "release", "--package-path", ROOT, "--scratch-path", scratch] + flags
    subprocess.run(command + ["--product", "breaker-inspect"], check=True, stdout=sys.stderr)
    source, bare = os.path.join(directory, "bare.swift"), os.path.join(directory, "bare")
    with open(source, "w") as file:
        file.write('print("one line")\n')
    subprocess.run(
        ["swiftc", "-O", source, "-o", bare] + (["-static-stdlib"] if is_static else []), check=True
    )
    return os.path.join(scratch, "release", "breaker-inspect"), bare


def fill(path, count):
    """A store of `count` circuits, as a service that is open leaves it: docs/store-format.md tells what is in it."""
    store = sqlite3.connect(path, isolation_level=None)
    for name in ("Schema.swift", "SchemaKept.swift"):
        with open(os.path.join(ROOT, "Migrations", name)) as file:
            store.executescript(file.read().split('"""')[1])
    store.execute(f"PRAGMA application_id = {0x42726B53}")
    store.execute("PRAGMA user_version = 3000")
    store.execute("PRAGMA journal_mode = WAL")
    now = time.time_ns() // 1000
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        uptime = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000
    except (OSError, AttributeError):
        boot, uptime = "unknown", now
    store.execute("INSERT INTO clock VALUES (1, ?, ?, ?, 1, 1, ?, ?)", (boot, now - uptime, now, now, now))
    store.execute("BEGIN")
    for number in range(count):
        is_open = number % 50 == 0
        store.execute(
            """
            INSERT INTO circuit (name, incarnation, group_name, mode, rules, state, since, epoch, window_generation,
            open_until, successes, trips, last_error, registered)
            VALUES (?, ?, ?, 'enforcing', ?, ?, ?, ?, 1, ?, 0, 0, ?, ?)
            """,
            (
                "service-%06d" % (number * 7919 % count), number + 1, "group%d" % (number % 10), RULES,
                "open" if is_open else "closed", now, now, now + 30_000_000 if is_open else None,
                "connection refused by 10.0.0.1:443" if number % 5 == 0 else None, now,
            ),
        )
        if number % 10 == 0:
            store.execute("INSERT INTO failure VALUES (last_insert_rowid(), ?, 1, 1)", (now,))
    store.execute("COMMIT")
    with open(path + "-lock", "w") as file:
        file.write("BreakerStore lock file 1\n")
    return store


# A process of its own, and a small one: what a child needs before it runs its program counts as the child's.
LAUNCHER = """
import os, sys, time
durations, memory = [], 0
for _ in range(int(sys.argv[1])):
    start = time.perf_counter()
    silence = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=silence)
    _, status, usage = os.wait4(child, 0)
    durations.append((time.perf_counter() - start) * 1000)
    memory = max(memory, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    if status != 0:
        sys.exit("ended with status %d" % status)
print(min(durations), sorted(durations)[len(durations) // 2], memory)
"""


def measure(command, times):
    """The shortest and the median time in milliseconds, and the most memory in bytes."""
    launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(times)] + command
    return [float(field) for field in subprocess.run(launch, check=True, capture_output=True, text=True).stdout.split()]


def main():
    is_static = "--dynamic" not in sys.argv[1:]
    is_over = False
    with tempfile.TemporaryDirectory() as directory:
        tool, bare = build(directory, is_static)
        # Kept open, as by a service.
        stores = {count: os.path.join(directory, f"{count}.db") for count in (100, 1_000, 2_000, 100_000)}
        services = [fill(path, count) for count, path in stores.items()]
        page = os.path.join(directory, "report.html")
        lines = [
            ("a bare Swift program", [bare], 40, None),
            ("list of 100", [tool, "list", "--store", stores[100]], 40, 14),
            ("metrics of 2,000", [tool, "metrics", "--store", stores[2_000]], 20, 16),
            ("report of 1,000", [tool, "report", page, "--force", "--store", stores[1_000]], 20, 20),
            ("list of 100,000", [tool, "list", "--store", stores[100_000]], 5, 40),
            ("list --json of 100,000", [tool, "list", "--json", "--store", stores[100_000]], 5, 40),
        ]
        print(f"{'':24}{'least':>10}{'median':>10}{'memory':>10}{'limit':>9}")
        for title, command, times, limit in lines:
            least, median, memory = measure(command, times)
            is_fat = limit is not None and memory > limit * MEGABYTE
            is_over = is_over or is_fat
            # The bare program needs less than the launcher.
            needed = f"{memory / MEGABYTE:7.1f} MB{limit:6} MB" if limit else ""
            print(f"{title:24}{least:7.1f} ms{median:7.1f} ms{needed}" + ("  over" if is_fat else ""))
        for service in services:
            service.close()
    sys.exit(1 if is_over else 0)


main()

#!/usr/bin/env python3
"""Moves files of earlier releases to this one's schema, and says what was lost: nothing may be.

usage: scripts/upgrade.py RELEASE…

Builds each release from this repository's history, in a work tree under .build/upgrade, and plays with its own worker:
a file with a circuit in every state is read by this release's tool, migrated by a worker and compared; a live worker of a release with
another major version of the schema guards in memory meanwhile, is named by this release's tool, and is whole after its
restart with the new program; one of the same major version goes on with the file, and shares a board with this release,
though it does not know the board's seats; whoever moves the file is killed on the way. Prints what it sees. Exit code
1: something was lost.
"""
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / ".build/upgrade"
# The last commit of each release.
COMMITS = {"0.5.0": "66bc99d", "0.5.1": "fa8a15f", "0.6.0": "d3b6c01", "0.6.1": "3a9d8be"}
NEWEST = 3000
# The releases that count on a board together with this one: they know its major version of the schema.
BESIDE = {"0.6.0", "0.6.1"}
KILLS = 40
EVENTS = 1_000_000
# What is compared; `{counters}` stands for the table's name in the file's schema.
ROWS = {
    "states": "SELECT name, state, since, epoch, open_until, trips, hold, hold_since, hold_until, hold_by, hold_reason,"
    " last_error, outage_since FROM circuit ORDER BY name",
    "failures": "SELECT circuit, at, worker, sequence FROM failure ORDER BY 1, 2, 3, 4",
    "probes": "SELECT circuit, token, worker, since, lease_ends FROM probe ORDER BY 1, 2",
    "events": "SELECT id, circuit, kind, at, was, becomes, reason, operator FROM event ORDER BY id",
    "totals": "SELECT circuit, board, succeeded, failed, slow, ignored, refused FROM {counters} ORDER BY 1, 2",
    "numbers": "SELECT name, seq FROM sqlite_sequence ORDER BY name",
}


class Lost(Exception):
    """Something is not as it was before."""


class Clock:
    """The clock of all workers: a file of three numbers."""

    def __init__(self, path):
        self.path, self.uptime, self.wall = path, 1_000_000_000, 1_767_225_600_000_000
        path.write_bytes(struct.pack("=3q", 1, self.uptime, self.wall) + bytes(4096))

    def advance(self, seconds):
        self.uptime += round(seconds * 1e6)
        self.wall += round(seconds * 1e6)
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=3q", 1, self.uptime, self.wall))


class Worker:
    """A worker of the tests, of whatever release: a line asks, a line answers."""

    def __init__(self, program, clock):
        self.process = subprocess.Popen(
            [program, clock.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise Lost(f"{line}: {answer or 'the worker is gone'}")
        return answer

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def build(release):
    """The worker of a release."""
    tree = PLACE / release
    if not tree.exists():
        commit = COMMITS.get(release)
        if not commit:
            raise SystemExit(f"{release} is none of {', '.join(COMMITS)}; its last commit is to stand in {__file__}")
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", tree, commit], check=True)
    return build_worker(tree)


def build_worker(tree, product="breaker-worker"):
    print(f"building {product} of {tree.name}", flush=True)
    command = ["swift", "build", "-c", "release", "--product", product, "--package-path", tree]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    bin_path = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(bin_path) / product


def fill(worker, clock):
    """A circuit in every state."""
    for name in ("closed", "open", "half-open", "held-open", "held-closed", "forgotten", "reset"):
        worker.ask(f"breaker {name} failures=3 recovery=30")
    worker.ask("breaker in-a-row consecutive=3 recovery=30")
    shares = {"rate": "rate=0.5 minimum=4", "watched": "failures=3 observing", "slow": "failures=3 slow=100 minimum=9"}
    for name, rules in shares.items():
        worker.ask(f"breaker {name} {rules} recovery=60")
    worker.ask("fail closed 2")
    worker.ask("fail half-open 3")
    clock.advance(31)
    worker.ask("begin half-open")
    clock.advance(1)
    worker.ask("fail open 3")
    worker.ask("fail in-a-row 2")
    for name in shares:
        worker.ask(f"fail {name} {4 if name == 'rate' else 3}")
    worker.ask("hold held-open open")
    worker.ask("hold held-closed closed")
    worker.ask("fail reset 3")
    worker.ask("reset reset")
    worker.ask("forget forgotten")
    clock.advance(1)
    worker.ask("call open")


def rows(path, sql):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute(sql).fetchall()


def seen(path):
    version = rows(path, "PRAGMA user_version")[0][0]
    counters = "tally" if version < 3000 else "counters"
    return version, {name: rows(path, sql.format(counters=counters)) for name, sql in ROWS.items()}


def compare(before, after, release):
    for name, old in before.items():
        new = after[name]
        if name in ("events", "numbers"):
            # Whoever opens the file adds events.
            new = new[: len(old)] if name == "events" else [row for row in new if row[0] == "circuit"]
            old = old if name == "events" else [row for row in old if row[0] == "circuit"]
        if new != old:
            raise Lost(f"{release}: {name} were {old[:20]}, are {new[:20]}")


def require_readable(path, tool, release):
    """The tool reads the file as the release's live workers have it; returns the rules of each circuit."""
    def run(*words):
        return subprocess.run([tool, *words, "--store", path], capture_output=True, text=True)

    shown = {}
    for name in json.loads(run("list", "--json").stdout)["circuits"]:
        name = name["name"]
        show = run("show", name, "--json")
        if show.returncode != 0:
            raise Lost(f"{release}: show {name}: {show.stderr}")
        shown[name] = json.loads(show.stdout)["circuit"]["rules"]
    doctor = run("doctor")
    # What is well is named in one line, without the versions.
    schema = r"^ok .*\bschema\b" if release in BESIDE else "this tool knows"
    if not re.search(schema, doctor.stdout, re.MULTILINE):
        raise Lost(f"{release}: doctor: {doctor.stdout}{doctor.stderr}")
    return shown


def require_alive(workers, release):
    for worker in workers:
        if worker.process.poll() is not None:
            raise Lost(f"{release}: a live worker ended with {worker.process.returncode}")


def require_named(workers, path, tool, release):
    """The tool finds, names and counts the live workers of the release, and ends its check with 6."""
    def run(*words):
        return subprocess.run([tool, *words, "--store", path], capture_output=True, text=True)

    pids = " ".join(str(pid) for pid in sorted(worker.process.pid for worker in workers))
    # The doctor looks at all of a large file; the findings in JSON are on one line.
    found = run("doctor", "--json").stdout
    count = f"{len(workers)} of {len(workers) + 1} workers run a release that cannot use this file ({release}): "
    if count not in found or f"[{pids}]; each guards" not in found:
        raise Lost(f"{release}: the doctor does not name the workers {pids}: {found}")
    outside = [line for line in run("workers").stdout.splitlines() if " outside" in line]
    if len(outside) != len(workers):
        raise Lost(f"{release}: workers outside are {outside}")
    check = run("check", "closed")
    if check.returncode != 6:
        raise Lost(f"{release}: check ended with {check.returncode}: {check.stderr}")


def play(release, old_program, new_program, tool):
    place = PLACE / f"play-{release}"
    subprocess.run(["rm", "-rf", place], check=True)
    place.mkdir(parents=True)
    path, clock = place / "a.db", Clock(place / "clock")
    old = Worker(old_program, clock)
    old.ask(f"open {path} shop")
    fill(old, clock)
    live = [Worker(old_program, clock) for _ in range(3)]
    for worker in live:
        worker.ask(f"open {path} shop")
        worker.ask("breaker in-a-row consecutive=3 recovery=30")
    with sqlite3.connect(path, isolation_level=None) as database:
        database.execute("PRAGMA wal_autocheckpoint = 0")
        stamp = database.execute("SELECT reserved FROM clock").fetchone()[0]
        database.execute(
            "INSERT INTO event (circuit, kind, at) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
            f" WHERE i < {EVENTS}) SELECT 'many', 'reset', {stamp} FROM n")
        # The newest event is gone, and its number must not come again.
        database.execute("DELETE FROM event WHERE id = (SELECT max(id) FROM event)")
    version, before = seen(path)
    print(f"{release}: schema {version // 1000}.{version % 1000}, {len(before['states'])} circuits,"
          f" {len(before['events']):,} events, {len(live) + 1} live workers", flush=True)
    rules = require_readable(path, tool, release)

    # Whoever moves the file is killed on the way: it is the old file, or the new one.
    kills = 0
    for _ in range(KILLS):
        mover = Worker(new_program, clock)
        print(f"open {path} shop", file=mover.process.stdin, flush=True)
        time.sleep(random.uniform(0, 1.5))
        mover.kill()
        require_alive(live + [old], release)
        now, found = seen(path)
        compare(before, found, release)
        kills += 1
        if now >= NEWEST:
            break
    begun = time.monotonic()
    new = Worker(new_program, clock)
    new.ask(f"open {path} shop")
    took = time.monotonic() - begun
    now, found = seen(path)
    if now < NEWEST:
        raise Lost(f"{release}: the file still has schema {now}")
    compare(before, found, release)
    after = {row[0]: json.loads(row[1]) for row in rows(path, "SELECT name, rules FROM circuit")}
    if after != rules:
        raise Lost(f"{release}: the rules were {rules}, are {after}")
    print(f"{release}: moved to schema {now // 1000}.{now % 1000} after {kills} kills; the last opening took {took:.2f} s")

    if version // 1000 == now // 1000:
        return share(release, new, live + [old], path)
    # Live workers of the release write nothing, and guard in memory.
    for worker in live + [old]:
        # The first call meets the new schema: it runs, and memory guards from then on.
        for _ in range(600):
            answer = worker.ask("fail in-a-row 1")
            if "ran=" not in answer:
                raise Lost(f"{release}: a live worker's calls do not run: {answer}")
            if not worker.ask("health").startswith("health=healthy"):
                break
            time.sleep(0.05)
        else:
            raise Lost(f"{release}: a live worker takes the file for its own")
    require_named(live + [old], path, tool, release)
    if rows(path, "PRAGMA integrity_check") != [("ok",)]:
        raise Lost(f"{release}: the file is damaged")
    # Restarted with the new program they are whole.
    for worker in live + [old]:
        worker.kill()
        again = Worker(new_program, clock)
        again.ask(f"open {path} shop")
        again.ask("breaker in-a-row consecutive=3 recovery=30")
        if not again.ask("health").startswith("health=healthy"):
            raise Lost(f"{release}: a restarted worker is not healthy")
        again.kill()
    new.kill()
    print(f"{release}: live workers guarded in memory, were named, and were whole after their restart", flush=True)


def board_words(path):
    """The board's own number, and the kinds of its segments (docs/store-format.md)."""
    header = struct.unpack("=512Q", pathlib.Path(f"{path}-board").read_bytes()[:4096])
    return header[4], [header[9 + 2 * segment] & 255 for segment in range(header[6])]


def until(what, worker, line, is_so):
    for _ in range(2400):
        answer = worker.ask(line)
        if is_so(answer):
            return answer
        time.sleep(0.05)
    raise Lost(f"{what}: {answer}")


def beside(release, old_program, new_program, makes_board):
    """A worker of the release and one of this release count on one board, whichever of them makes it."""
    place = PLACE / f"beside-{release}-{makes_board}"
    subprocess.run(["rm", "-rf", place], check=True)
    place.mkdir(parents=True)
    path, clock = place / "a.db", Clock(place / "clock")
    old, new = Worker(old_program, clock), Worker(new_program, clock)
    order = [old, new] if makes_board == "old" else [new, old]
    for worker in order:
        worker.ask(f"open {path} shop")
        worker.ask("breaker users rate=0.5 minimum=20 window=20")
        worker.ask("fail users 1")
    number, _ = board_words(path)
    new.ask("call users 30")
    old.ask("call users 30")
    for worker in (old, new):
        until(f"{release}: successes are missing", worker, "totals users", lambda text: "succeeded=60 failed=2" in text)
    until(f"{release}: the board has no seats", new, "totals users", lambda _: 6 in board_words(path)[1])
    # 59 of 119 calls are less than half, though that is not so before all have published; one more is enough.
    new.ask("fail users 57")
    time.sleep(3)
    for worker in (old, new):
        if not worker.ask("look users").startswith("state=closed"):
            raise Lost(f"{release}: tripped too early: {new.ask('reason users')}")
    new.ask("fail users 1")
    for worker in (old, new):
        until(f"{release}: it does not trip", worker, "look users", lambda text: text.startswith("state=open"))
    # Whoever was first: a worker of the release waits for a fifth of a second, and asks nobody.
    reason = new.ask("reason users")
    if "60-of-120-calls" not in reason:
        raise Lost(f"{release}: the reason is {reason}")
    if not new.ask("history users tripped").startswith("count=1 "):
        raise Lost(f"{release}: {new.ask('history users tripped')} trips")
    # The other way round: the failures are in the worker of the release.
    new.ask("reset users")
    new.ask("call users 30")
    old.ask("call users 30")
    old.ask("fail users 60")
    until(f"{release}: it does not trip", new, "look users", lambda text: text.startswith("state=open"))
    for worker in (old, new):
        if not worker.ask("health").startswith("health=healthy"):
            raise Lost(f"{release}: a worker is not healthy")
    if board_words(path)[0] != number:
        raise Lost(f"{release}: the workers replace each other's board")
    require_alive([old, new], release)
    for worker in (old, new):
        worker.kill()
    print(f"{release}: shares a board that {'this release' if makes_board == 'new' else 'it'} has made", flush=True)


def share(release, new, live, path):
    """Live workers of the release go on with the file, beside one of this release."""
    new.ask("breaker in-a-row consecutive=3 recovery=30")
    new.ask("breaker shared failures=8 recovery=30")
    for worker in live:
        worker.ask("breaker shared failures=8 recovery=30")
        for _ in range(2):
            worker.ask("fail shared 1")
        if not worker.ask("health").startswith("health=healthy"):
            raise Lost(f"{release}: a live worker can't use the file: {worker.ask('health')}")
    if "state=open" not in new.ask("look shared"):
        raise Lost(f"{release}: failures of both releases do not count together: {new.ask('look shared')}")
    new.ask("hold shared open")
    for worker in live:
        if "cause=held" not in worker.ask("call shared 1"):
            raise Lost(f"{release}: a live worker does not obey a hold of the new release")
    live[0].ask("forget reset")
    if rows(path, "PRAGMA integrity_check") != [("ok",)]:
        raise Lost(f"{release}: the file is damaged")
    for worker in live + [new]:
        worker.kill()
    print(f"{release}: live workers went on with the file, beside one of this release", flush=True)


def main():
    releases = sys.argv[1:] or list(COMMITS)
    PLACE.mkdir(parents=True, exist_ok=True)
    new_program = build_worker(ROOT)
    tool = build_worker(ROOT, "breaker-inspect")
    for release in releases:
        try:
            program = build(release)
            play(release, program, new_program, tool)
            for makes_board in ("old", "new") if release in BESIDE else ():
                beside(release, program, new_program, makes_board)
        except Lost as lost:
            print(f"LOST: {lost}", file=sys.stderr)
            return 1
    print("nothing was lost")
    return 0


sys.exit(main())

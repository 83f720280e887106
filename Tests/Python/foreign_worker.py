"""A program in another language that shares a store, written after docs/store-format.md.

Its statements are the document's own `sql` blocks, found by their names. The tests drive it as they drive the worker in
Swift: one line of input asks, one line of output answers. Only the standard library is used.

usage: foreign_worker.py DOCUMENT CLOCK
"""

import fcntl
import json
import os
import random
import re
import shutil
import sqlite3
import struct
import sys
import tempfile
import time

MAC = sys.platform == "darwin"
GETLK, SETLK = (92, 90) if MAC else (36, 37)
MAGIC = b"BreakerStore lock file 1\n"


def forgets(rules):
    """Whether a success forgets the failures."""
    return json.loads(rules)["trip"]["rule"] == "consecutiveFailures"


class Refused(Exception):
    """The document says not to go on."""


class HostClock:
    """Uptime, wall clock and boot as the tests set them: three numbers in a file that all their processes read."""

    def __init__(self, path):
        self.path = path

    def read(self):
        with open(self.path, "rb") as file:
            boot, uptime, unix = struct.unpack("=3q", file.read(24))
        return {"boot": f"shared-boot-{boot}", "uptime": uptime, "unix": unix}


class Statements:
    """The document's named blocks of SQL."""

    def __init__(self, document):
        with open(document, encoding="utf-8") as file:
            blocks = re.findall(r"^```sql (\S+)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        self.blocks = {name: [part for part in text.split(";") if part.strip()] for name, text in blocks}
        self.unused = set(self.blocks)

    def run(self, connection, name, parameters):
        """Runs a block; returns the rows of its last statement."""
        self.unused.discard(name)
        rows = []
        for statement in self.blocks[name]:
            rows = connection.execute(statement, parameters).fetchall()
        return rows


class LockFile:
    """Single bytes of `<db>-lock`, locked for the open file description."""

    def __init__(self, path):
        self.path = path
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        if os.pread(self.descriptor, len(MAGIC) + 1, 0) != MAGIC:
            raise Refused("not a lock file of a store")

    def ask(self, command, kind, byte):
        if MAC:
            answer = fcntl.fcntl(self.descriptor, command, struct.pack("qqihh", byte, 1, 0, kind, os.SEEK_SET))
            return struct.unpack("qqihh", answer)[3]
        # struct flock of 64-bit Linux; "0q" is the padding at its end.
        answer = fcntl.fcntl(self.descriptor, command, struct.pack("hhqqi0q", kind, os.SEEK_SET, byte, 1, 0))
        return struct.unpack("hhqqi0q", answer)[0]

    def lock(self, byte):
        until = time.monotonic() + 10
        while True:
            try:
                return self.ask(SETLK, fcntl.F_WRLCK, byte)
            except (BlockingIOError, PermissionError):
                if time.monotonic() > until:
                    raise Refused("another process keeps the byte locked") from None
                time.sleep(random.uniform(0.001, 0.003))

    def unlock(self, byte):
        self.ask(SETLK, fcntl.F_UNLCK, byte)

    def is_alive(self, worker):
        return 1 << 32 <= worker < 1 << 62 and self.ask(GETLK, fcntl.F_WRLCK, worker) != fcntl.F_UNLCK

    def is_in_place(self):
        return identity(self.descriptor) == identity(self.path)


def identity(file):
    try:
        info = os.stat(file)
    except FileNotFoundError:
        return None
    return info.st_dev, info.st_ino


def uri(path, query):
    for character, escaped in ("%", "%25"), ("?", "%3f"), ("#", "%23"):
        path = path.replace(character, escaped)
    return f"file:{path}?{query}"


class Store:
    """An open store, and this process's place in it."""

    def __init__(self, path, clock, statements):
        self.path, self.clock, self.statements = os.path.realpath(path), clock, statements
        if not os.path.exists(self.path) or not os.path.exists(self.path + "-lock"):
            raise Refused("there is no store")
        self.lock = LockFile(self.path + "-lock")
        self.worker, self.sequence, self.name = random.randrange(1 << 32, 1 << 62), 0, None
        self.lock.lock(0)
        try:
            if not self.lock.is_in_place():
                raise Refused("the lock file was replaced")
            if os.path.exists(self.path + "-shm") and not os.path.exists(self.path + "-wal"):
                raise Refused("an index without its log")
            self.connection = sqlite3.connect(uri(self.path, "mode=rw"), uri=True, isolation_level=None)
            self.connection.row_factory = sqlite3.Row
            if hasattr(self.connection, "setconfig"):  # Python 3.12
                self.connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
            self.run("settings")
            application, version = self.run("recognise")[0]
            if application != 0x42726B53 or version // 1000 != 3:
                raise Refused("not a store of this schema")
            self.run("workers")
            self.files = self.identities()
        finally:
            self.lock.unlock(0)

    def run(self, block, **values):
        return self.statements.run(self.connection, block, values)

    def identities(self):
        return [identity(self.path + ending) for ending in ("", "-wal", "-shm")]

    def change(self, work):
        """Runs `work` in a transaction, with the values that all blocks share; it returns False to change nothing."""
        if self.identities() != self.files or not self.lock.is_in_place():
            raise Refused("a file of the store was replaced")
        self.run("begin")
        try:
            # Read now: others may have committed while this process waited.
            clock = self.clock.read()
            now = self.run("now", **clock)
            if not now:
                raise Refused("the clock is another boot's")
            values = {
                "now": now[0]["now"],
                "unix": clock["unix"],
                "worker": self.worker,
                "event_worker": self.worker if self.name else None,
                "worker_name": self.name,
                "pid": os.getpid() if self.name else None,
            }
            result = work(values)
            if result is not False:
                self.run("commit", **values)
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
        if self.identities() != self.files:
            raise Refused("a file of the store was replaced; nobody sees what was committed")
        return result

    # What a program in another language may do

    def look(self, circuit):
        rows = self.run("look", circuit=circuit, **self.clock.read())
        if not rows:
            raise Refused("there is no such circuit")
        return rows[0]

    def register(self, name):
        self.lock.lock(self.worker)
        self.name = name
        self.change(lambda values: self.run("register", **values))

    def use(self, circuit):
        self.change(lambda values: self.run("use", circuit=circuit, **values))

    def leave(self):
        if self.name:
            self.change(lambda values: self.run("leave", **values))
            self.lock.unlock(self.worker)
            self.name = None

    def failed(self, circuit, epoch, at, error):
        """Whether the failure counted, and whether it opened the circuit."""
        self.sequence += 1
        report = {"circuit": circuit, "epoch": epoch, "at": at, "error": error, "sequence": self.sequence}

        def work(values):
            values = {**values, **report}
            self.run("hold-over", **values)
            if not self.run("failure", **values):
                return False
            failures = self.run("failures", **values)
            rules = json.loads(failures[0]["rules"])
            if len(failures) < rules["trip"]["count"] or not self.are_enough(failures, rules["minimumReporters"]):
                return "counted"
            recovery = rules["recovery"]
            timeout = recovery["timeoutMicroseconds"]
            most = max(recovery["capMicroseconds"], timeout)
            wait = min(timeout * recovery["multiplier"] ** failures[0]["trips"], most)
            wait *= 1 + recovery["jitter"] * random.random()
            reason = f"{len(failures)} failures, the last: {error}"
            self.run("event", **values, kind="tripped", becomes="open", reason=reason, by=None)
            self.run("trip", **values, wait=int(wait), reason=reason, failed=len(failures))
            return "tripped"

        return self.change(work) or "stale"

    def are_enough(self, failures, minimum):
        """Whether enough workers have seen failures: those that live, or if none does, the dead as one."""
        workers = {row["worker"] for row in failures}
        # Each question about a worker is a system call.
        return minimum <= 1 or len(workers) >= minimum and sum(map(self.lives, workers)) >= minimum

    def lives(self, worker):
        # One's own lock does not show through one's own descriptor.
        return self.name is not None if worker == self.worker else self.lock.is_alive(worker)

    def succeeded(self, circuit, epoch, at):
        def work(values):
            values = {**values, "circuit": circuit, "epoch": epoch, "at": at}
            self.run("hold-over", **values)
            self.run("success", **values)

        self.change(work)

    def reset(self, circuit, by, reason):
        def work(values):
            values = {**values, "circuit": circuit, "by": by, "reason": reason}
            self.run("event", **values, kind="reset", becomes="closed")
            self.run("reset", **values)

        self.change(work)

    def hold(self, circuit, state, seconds, by, reason):
        def work(values):
            values = {**values, "circuit": circuit, "by": by, "reason": reason}
            until = values["now"] + seconds * 1_000_000 if seconds else None
            self.run("hold-over", **values)
            self.run("event", **values, kind="held", becomes=f"held-{state}")
            self.run("hold", **values, hold=state, until=until)

        self.change(work)

    def release(self, circuit, by, reason):
        def work(values):
            values = {**values, "circuit": circuit, "by": by, "reason": reason}
            self.run("hold-over", **values)
            if self.look(circuit)["hold"] is None:
                return None
            self.run("event", **values, kind="released", becomes=None)
            return self.run("release", **values)

        self.change(work)

    def allow_probes(self, circuit, by, reason):
        def work(values):
            values = {**values, "circuit": circuit, "by": by, "reason": reason}
            self.run("hold-over", **values)
            seen = self.look(circuit)
            if seen["hold"] is not None or seen["state"] != "open" or seen["open_until"] <= values["now"]:
                return None
            self.run("event", **values, kind="probeAllowed", becomes=None)
            return self.run("allow-probes", **values)

        self.change(work)


def peek(path, circuit, clock, statements):
    """Looks at a circuit without changing a byte on the disk."""
    log = os.path.getsize(path + "-wal") if os.path.exists(path + "-wal") else 0
    with tempfile.TemporaryDirectory() as directory:
        if log > 32 and not os.path.exists(path + "-shm"):
            # Only a process that has not got the store open may do this.
            for ending in ("", "-wal"):
                shutil.copyfile(path + ending, f"{directory}/copy.db{ending}")
            path, query = directory + "/copy.db", "mode=rw"
        else:
            query = "mode=ro&readonly_shm=1" if log > 32 else "mode=ro&immutable=1"
        connection = sqlite3.connect(uri(path, query), uri=True)
        connection.row_factory = sqlite3.Row
        try:
            return statements.run(connection, "look", {"circuit": circuit, **clock.read()})[0]
        finally:
            connection.close()


class Program:
    """The lines of input, one method for each first word."""

    def __init__(self, document, clock):
        self.clock, self.statements, self.store = HostClock(clock), Statements(document), None

    def open(self, path):
        self.store = Store(path, self.clock, self.statements)

    def close(self):
        self.store.leave()
        self.store.connection.close()
        self.store = None

    def register(self, name):
        self.store.register(name)
        return f"worker={self.store.worker}"

    def use(self, circuit):
        self.store.use(circuit)

    def call(self, circuit, times="1", ending="fail"):
        """Calls that ask before they run, and report how they ended."""
        answers = []
        for _ in range(int(times)):
            seen = self.store.look(circuit)
            answers.append(seen["answer"])
            if seen["answer"] == "counted" and ending == "fail":
                answers[-1] = self.store.failed(circuit, seen["epoch"], seen["now"], "PythonError")
            elif seen["answer"] == "counted" and seen["failures"] and forgets(seen["rules"]):
                self.store.succeeded(circuit, seen["epoch"], seen["now"])
        return "calls=" + ",".join(answers)

    def late(self, circuit, epoch):
        """A failure of a call that was let through under this epoch."""
        return "call=" + self.store.failed(circuit, int(epoch), self.store.look(circuit)["now"], "PythonError")

    def look(self, circuit):
        return self.text(self.store.look(circuit))

    def peek(self, path, circuit):
        return self.text(peek(path, circuit, self.clock, self.statements))

    def text(self, seen):
        return " ".join(f"{key}={seen[key]}" for key in ("answer", "state", "failures", "epoch", "trips", "hold"))

    def reset(self, circuit, by):
        self.store.reset(circuit, by, "reset-in-python")

    def hold(self, circuit, state, seconds, by):
        self.store.hold(circuit, state, int(seconds), by, "held-in-python")

    def release(self, circuit, by):
        self.store.release(circuit, by, "released-in-python")

    def probe(self, circuit, by):
        self.store.allow_probes(circuit, by, "probed-in-python")

    def history(self, circuit):
        rows = self.store.run("history", circuit=circuit, limit=100)
        return "events=" + ",".join(f"{row['kind']}:{row['operator'] or row['worker_name'] or ''}" for row in rows)

    def workers(self):
        rows = [row for row in self.store.run("workers") if self.store.lives(row["id"])]
        return "pids=" + ",".join(sorted(str(row["pid"]) for row in rows))

    def unused(self):
        return "blocks=" + ",".join(sorted(self.statements.unused))


def main():
    program = Program(sys.argv[1], sys.argv[2])
    for line in sys.stdin:
        verb, *words = line.split()
        try:
            answer = getattr(program, verb)(*words) or "ok"
        except Exception as error:  # the tests are told of any
            answer = f"error {type(error).__name__}: {error}"
        print(answer.replace("\n", " "), flush=True)


main()

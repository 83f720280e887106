"""The eleven incidents of scripts/nights.py: each function plays one, and yields at each moment of its table there.

Two moments in a row without a change between them ask more commands about one situation.
"""
import os
import pathlib
import signal
import time

from night_stage import Broken, Postgres

DAY = 86_400
# The seconds after which all counts are published: processes publish once a second.
PUBLISHED = 1.2


def flapping(night):
    """A service is down and up again and again, and one probe fails: two workers."""
    first, second = workers = night.workers(2, "users failures=3 recovery=3")
    night.names |= {"first": first, "second": second}
    for outage in range(4):
        first.ask("call users 5")
        first.ask("fail users 3")
        second.ask("call users 20")
        if outage == 3:
            time.sleep(PUBLISHED)
            yield
        for outcome in ("fail", "call") if outage == 2 else ("call",):
            time.sleep(3.1)
            first.ask(f"{outcome} users 1")
    for worker in workers:
        worker.ask("call users 1")
    time.sleep(PUBLISHED)
    yield
    yield


def hung_probe(night):
    """A probe hangs; its lease of 8 s ends, and another worker probes."""
    first, second = night.workers(2, "users failures=3 recovery=1 lease=8")
    night.names |= {"first": first, "first_pid": first.pid, "second": second}
    first.ask("fail users 3")
    time.sleep(1.1)
    first.ask("begin users")
    time.sleep(2)
    second.ask("call users 3")
    yield
    time.sleep(7)
    second.ask("begin users")
    yield


def full_disk(night):
    """The disk of six workers fills up; then the store's own reserve is used up, too; then there is room again."""
    workers = night.workers(6, "users failures=1000000")
    night.names["pids"] = " ".join(str(pid) for pid in sorted(worker.pid for worker in workers))
    # The board lies on that disk, too.
    for worker in workers:
        worker.ask("call users 10")
    time.sleep(PUBLISHED)
    filler = night.place / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 16, 512):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                pass
    for worker in workers:
        worker.ask("fail users 5")
    yield

    def all_are(health):
        answers = [(worker.ask("fail users 300"), worker.ask("health"))[1] for worker in workers]
        return all(answer.startswith(f"health={health}") for answer in answers)

    night.until("the reserve is used up", lambda: all_are("degraded"))
    # Without further calls the log may begin again, and workers recover for a while.
    for worker in workers:
        worker.say("fail users 5000")
    night.until_printed(r"6 of 6 workers .*for \d+ s", "doctor")
    yield
    for worker in workers:
        worker.hear()
    filler.unlink()
    night.until("the workers recover", lambda: all_are("healthy"))
    yield


def lost_store(night):
    """A store is removed, another is replaced, a third is overwritten with garbage; a fourth is known to no worker."""
    for kind in ("removed", "replaced", "damaged"):
        night.store = night.place / kind / "breakers.db"
        night.store.parent.mkdir()
        workers = night.workers(2, *(f"{name} recovery=600" for name in ("a0", "a1", "a2", "a3", "a4", "mail", "pay")))
        for name in ("a0", "a1", "a2", "a3", "a4"):
            workers[0].ask(f"fail {name} 5")
        workers[0].ask("hold mail open by=jane reason=INC-1")
        workers[0].ask("hold pay closed by=jane reason=INC-2")

        def use():
            for worker in workers:
                worker.ask("call a1 1")
                worker.ask("call mail 1")
                worker.ask("call pay 1")

        use()
        if kind == "removed":
            for end in ("", "-wal", "-shm"):
                pathlib.Path(f"{night.store}{end}").unlink()
        elif kind == "replaced":
            place, night.store = night.store, night.store.with_name("other.db")
            other = night.workers(1, "a0")[0]
            other.ask("close")
            os.replace(night.store, place)
            night.store = place
        else:
            with open(night.store, "r+b") as file:
                file.write(b"garbage " * (os.path.getsize(night.store) // 8))

        def is_reported():
            use()
            return "in place of a" in night.run("doctor").stdout

        night.until("the doctor reports it", is_reported)
        yield
        for worker in workers:
            night.end(worker)
    night.store = night.place / "unknown.db"
    night.store.write_bytes(b"garbage " * 1_000)
    yield


def fleet(night):
    """The server of a fleet of two hosts is down; then a host's link is killed, and the link in its place stopped."""
    server = Postgres(night)
    server.start()
    night.environment["BREAKER_FLEET_POSTGRES"] = server.connection
    night.run("breaker-fleet", "schema", "apply").check_returncode()

    def link(host):
        with open(night.home / f"{host}.log", "ab") as log:
            return night.start(
                night.programs / "breaker-fleet", "run", "--store", night.store, "--host", host, stderr=log)

    own, night.store = night.store, night.place / "other.db"
    night.workers(1, "users recovery=600")
    link("shop-2")
    night.store = own
    worker = night.workers(1, "users recovery=600")[0]
    first = link("shop-1")
    both_joined = r"shop-[12] joined .*shop-[12] joined"
    night.until_printed(both_joined, "breaker-fleet", "status")
    server.stop()
    night.until_printed("cut off", "doctor")
    worker.ask("fail users 5")
    yield
    server.start()
    night.until_printed(both_joined, "breaker-fleet", "status")
    night.names["link"] = first.pid
    night.end(first)
    # The server takes a link for gone that it has not heard of for 5 s.
    night.until_printed("shop-1 cut off", "breaker-fleet", "status")
    yield
    second = link("shop-1")
    night.until_printed(both_joined, "breaker-fleet", "status")
    night.names["link"] = second.pid
    second.send_signal(signal.SIGSTOP)
    night.until_printed("shop-1 cut off", "breaker-fleet", "status")
    yield


def forgotten_hold(night):
    """Another operator has held a circuit for three days, without an end."""
    worker = night.workers(1, "users", "mail")[0]
    why = "INC-1: double charges, do not open"
    night.run("hold", "open", "mail", "--as", "jane", "--reason", why).check_returncode()
    night.change("UPDATE circuit SET hold_since = hold_since - ? WHERE name = 'mail'", 3 * DAY * 1_000_000)
    night.change("UPDATE event SET at = at - ? WHERE circuit = 'mail' AND kind = 'held'", 3 * DAY * 1_000_000)
    worker.ask("call mail 4")
    yield
    yield


def many_circuits(night):
    """30 of 2,000 circuits are open."""
    worker = night.worker()
    worker.ask("breakers acme/tenant- 2000 recovery=600")
    for number in range(0, 1_500, 50):
        worker.ask(f"fail acme/tenant-{number} 5")
    yield
    yield


HOSTILE = {
    "escape sequences": "\x1b[2J\x1b]0;owned\x07red\x1b[31m",
    "line ends": "pay\nments\r\nok  closed",
    "right to left": "\u202epayments\u2066\u200f\u05d0",
    "200 characters": "n" * 200,
    "wide characters": "\u652f\u6255\u3044" * 30,
}


def hostile_texts(night):
    """Names, errors and worker names with escape sequences, line ends, right-to-left marks and 200 characters."""
    for text in HOSTILE.values():
        night.worker(text)
    for number, text in enumerate(HOSTILE.values()):
        for _ in range(5):
            words = ["record", f"c{number}", "failure", "--rule", "5/1h", "--error", f"boom: {text}"]
            night.run(*words).check_returncode()
        # The tool refuses such names; another program may have written them.
        night.change("UPDATE event SET circuit = ? WHERE circuit = ?", text, f"c{number}")
        night.change("UPDATE circuit SET name = ? WHERE name = ?", text, f"c{number}")
    who, why = HOSTILE["escape sequences"], HOSTILE["line ends"]
    night.run("hold", "open", "--exact", "--as", who, "--reason", why, "--", "n" * 200).check_returncode()
    yield
    yield


# Holds a worker's byte (37 is F_OFD_SETLK), and has a row with its release: docs/store-format.md, "Locks, and who
# lives".
OLD_WORKER = """
import fcntl, os, sqlite3, struct, sys, time
number = 1 << 40 | os.getpid()
lock = open(sys.argv[1] + "-lock", "r+b")
fcntl.fcntl(lock, 37, struct.pack("=hh4xqqi4x", fcntl.F_WRLCK, 0, number, 1, 0))
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("PRAGMA wal_autocheckpoint = 0")
store.execute(
    "INSERT INTO worker (id, name, pid, version, since) SELECT ?, 'shop-worker', ?, ?, offset + ? FROM clock",
    (number, os.getpid(), sys.argv[2], time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000))
print("ok", flush=True)
sys.stdin.read()
"""


def half_done_upgrade(night):
    """Three of four workers run a release that can't use the file."""
    night.workers(1, "users")
    pids = sorted(night.python(OLD_WORKER, night.store, "0.4.3").pid for _ in range(3))
    night.names |= {"pids": " ".join(map(str, pids)), "pid": pids[0]}
    yield
    yield


LOCKER = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("ok", flush=True)
sys.stdin.read()
"""


def locked_file(night):
    """A foreign process keeps the file of three workers locked; then it ends."""
    workers = night.workers(3, "users")
    night.names["pids"] = " ".join(str(pid) for pid in sorted(worker.pid for worker in workers))
    holder = night.python(LOCKER, night.store)
    night.names["holder"] = holder.pid
    for worker in workers:
        worker.ask("fail users 6")
    night.until_printed(r"3 of 3 workers .*for \d", "list")
    yield
    yield
    night.end(holder)
    night.until_printed("nothing is wrong", "doctor")
    yield


FIRST_USER, SECOND_USER, STRANGER, GROUP = 60_001, 60_002, 60_003, 60_000


def several_users(night):
    """A store of two users of a group, which the first made for itself, or for the group; strangers look at it."""
    if os.geteuid() != 0:
        raise Broken("only root can play several users: run it as root")
    as_user = {user: {"user": user, "group": GROUP, "extra_groups": []} for user in (FIRST_USER, SECOND_USER)}

    def place(name, owner, group, mode):
        folder = night.place / name
        folder.mkdir()
        os.chown(folder, owner, group)
        os.chmod(folder, mode)
        night.store = folder / "breakers.db"

    # A worker that is not configured otherwise makes the files for its user alone.
    place("alone", FIRST_USER, GROUP, 0o2770)
    night.workers(1, "users", **as_user[FIRST_USER])
    night.workers(1, "users", **as_user[SECOND_USER])[0].ask("call users 1")
    yield
    place("shared", FIRST_USER, GROUP, 0o2770)
    night.run("run", "users", "--", "true", **as_user[FIRST_USER]).check_returncode()
    for user in (FIRST_USER, SECOND_USER):
        night.workers(1, "users", **as_user[user])
    yield
    yield
    place("own", FIRST_USER, FIRST_USER, 0o755)
    night.workers(1, "users", user=FIRST_USER, group=FIRST_USER, extra_groups=[])
    for end in ("", "-wal", "-shm", "-lock"):
        os.chmod(f"{night.store}{end}", 0o644)
    yield

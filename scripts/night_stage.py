"""What scripts/nights.py plays with: real processes on a store, a terminal of 80x24, and a PostgreSQL."""
import fcntl
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 80, 24
# How many seconds one process waits for another at most.
LIMIT = 120
COLOR = re.compile(r"\x1b\[[0-9;]*m")


class Broken(Exception):
    """The incident could not be played."""


class Screen:
    """What a command has printed on a terminal of 80x24."""

    def __init__(self, command, raw, code):
        self.command, self.code = command, code
        plain = COLOR.sub("", raw.replace("\r\n", "\n"))
        self.lines = plain.rstrip("\n").split("\n")
        self.text = plain.rstrip("\n")
        # Without line ends and columns: what a fact says does not depend on where a line is broken.
        self.folded = " ".join(plain.split())

    def wide_lines(self):
        return [line for line in self.lines if width(line) > COLUMNS]

    def bad_characters(self):
        """Characters that control a terminal or reverse the direction of text, besides the tool's own colors."""
        kinds = ("Cc", "Cf", "Zl", "Zp")
        found = {mark for mark in self.text if mark != "\n" and unicodedata.category(mark) in kinds}
        return sorted(f"U+{ord(mark):04X}" for mark in found)


def width(line):
    """How many columns of a terminal a line takes."""
    wide = {"W": 2, "F": 2}
    return sum(
        0 if unicodedata.category(mark) in ("Mn", "Me", "Cf") else wide.get(unicodedata.east_asian_width(mark), 1)
        for mark in line)


class Worker:
    """A breaker-worker under a service's name: it answers each line on its input with a line."""

    def __init__(self, program, name, **options):
        self.name = name
        # The library takes a worker's name from the first word of the command line.
        self.process = subprocess.Popen(
            [name], executable=program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options)
        self.pid = self.process.pid

    def __str__(self):
        return f"{self.name}[{self.pid}]"

    def say(self, line):
        try:
            print(line, file=self.process.stdin, flush=True)
        except BrokenPipeError:
            raise Broken(f"{self} has ended") from None

    def hear(self):
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise Broken(f"{self}: {answer or 'has ended'}")
        return answer

    def ask(self, line):
        self.say(line)
        return self.hear()


class Night:
    """One incident: its folder, its store and its processes, which end with it."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="nights-"))
        self.home.chmod(0o755)
        # Where the incident plays.
        self.place = self.home
        self.store = self.place / "breakers.db"
        # What patterns of facts may name, such as `<first>`.
        self.names = {}
        self.processes = []
        self.environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("BREAKER", "PG"))
        } | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        self.environment.pop("NO_COLOR", None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                # SIGKILL ends a stopped process, too.
                process.kill()
                process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    # Processes

    def start(self, *words, **options):
        """Starts a process with pipes to its input and from its output; it ends with the incident."""
        process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            **{"env": self.environment} | options)
        self.processes.append(process)
        return process

    def worker(self, name="shop-worker", options="", opens=True, **process):
        worker = Worker(self.programs / "breaker-worker", name, **{"env": self.environment} | process)
        self.processes.append(worker.process)
        if opens:
            # 0.25 s is how long services wait for a lock by default.
            worker.ask(f"open {self.store} degrade busy=0.25 {options}")
        return worker

    def workers(self, count, *circuits, **options):
        workers = [self.worker(**options) for _ in range(count)]
        for worker in workers:
            for circuit in circuits:
                worker.ask(f"breaker {circuit}")
        return workers

    def python(self, source, *words):
        """A process in Python, once it has printed a line."""
        process = self.start(sys.executable, "-c", source, *words)
        if process.stdout.readline() != "ok\n":
            raise Broken("a process in Python did not start")
        return process

    def end(self, process):
        process = getattr(process, "process", process)
        process.kill()
        process.wait()

    # The tool

    def run(self, *words, **options):
        """The tool as a script runs it."""
        command = self.command(words)
        return subprocess.run(
            command, env=self.environment | {"BREAKER_STORE": str(self.store)}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=LIMIT, **options)

    def command(self, words):
        program = "breaker-inspect"
        if words[0] == "breaker-fleet":
            program, words = words[0], words[1:]
        return [str(self.programs / program), *map(str, words)]

    def look(self, words, answer=None, user=None):
        """Runs a command on a terminal, as a user and a group if they are given, and answers its question."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        options = {"user": user[0], "group": user[1], "extra_groups": []} if user else {}
        process = subprocess.Popen(
            self.command(words), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=self.environment | {"BREAKER_STORE": str(self.store)}, **options)
        os.close(slave)
        self.processes.append(process)
        raw, deadline = b"", time.monotonic() + LIMIT
        while True:
            ready, _, _ = select.select([master], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                process.kill()
                raise Broken(f"{words[0]} has not ended after {LIMIT} s")
            try:
                part = os.read(master, 65536)
            except OSError:
                part = b""
            if not part:
                break
            raw += part
            if answer and raw.rstrip().endswith(b"[y/N]"):
                os.write(master, answer.encode() + b"\n")
                answer = None
        os.close(master)
        return Screen(words, raw.decode("utf-8", "replace"), process.wait())

    def until(self, what, is_so, seconds=LIMIT):
        """Waits until something is so, and returns it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = is_so()
            if found:
                return found
            time.sleep(0.1)
        raise Broken(f"not within {seconds} s: {what}")

    def until_printed(self, pattern, *words):
        """Waits until the tool prints this."""
        def printed():
            result = self.run(*words)
            return re.search(pattern, " ".join((result.stdout + result.stderr).split()))
        return self.until(f"'{' '.join(words)}' prints '{pattern}'", printed)

    def change(self, sql, *values):
        """Changes rows of the store by hand."""
        database = sqlite3.connect(self.store, isolation_level=None)
        database.execute("PRAGMA wal_autocheckpoint = 0")
        database.execute(sql, values)
        database.close()


class Postgres:
    """A PostgreSQL on loopback, in a folder of its own."""

    def __init__(self, night):
        self.night, self.process = night, None
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
        program = found[-1] if found else shutil.which("initdb")
        if not program:
            raise Broken("no PostgreSQL server is installed: scripts/setup.sh fleet-demo")
        self.programs = pathlib.Path(program).parent
        self.folder = night.home / "postgres"
        self.folder.mkdir()
        # A server refuses root.
        self.options = {}
        if os.geteuid() == 0:
            user = next((user for user in map(user_named, ("postgres", "nobody")) if user), None)
            if not user:
                raise Broken("no user for a PostgreSQL server")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.run("initdb", "-D", self.folder / "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C",
                 "--no-sync")
        self.connection = f"host=127.0.0.1 port={self.port} dbname=postgres user=postgres"

    def run(self, program, *words):
        subprocess.run(
            [self.programs / program, *words], check=True, stdout=subprocess.DEVNULL, cwd=self.folder,
            env=self.night.environment, **self.options)

    def start(self):
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
                    "dynamic_shared_memory_type=mmap")
        words = [self.programs / "postgres", "-D", self.folder / "data", "-p", str(self.port)]
        for setting in settings:
            words += ["-c", setting]
        with open(self.night.home / "postgres.log", "ab") as log:
            self.process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder, env=self.night.environment,
                **self.options)
        self.night.processes.append(self.process)
        ready = [self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]

        def answers():
            return subprocess.run(ready, env=self.night.environment).returncode == 0

        self.night.until("the server answers", answers)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(LIMIT)


def user_named(name):
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None

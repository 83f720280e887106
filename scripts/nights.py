#!/usr/bin/env python3
"""Plays eleven incidents with real processes, and checks what the tool then says on a terminal of 80x24.

usage: scripts/nights.py [--print] [--bin FOLDER] [NUMBER]…

Without a number it plays all; night_plays.py has what happens in each. An incident stops at one moment or more, where
the first commands are typed that a person on call would type. Each screen is compared with the facts that must stand on
it, in their order; blanks and line ends don't count. --print shows the screens, so that they can be given to a reader
who has never seen the tool. --bin names the folder of breaker-inspect, breaker-fleet and breaker-worker, built with the
trait PostgreSQL; without it they are built. If all incidents are played, the article "On call" is compared with the
screens, too: each part of its blocks must stand on one, apart from numbers, times and paths.

Linux only. Incident 3 needs a namespace in which it may mount, 5 a PostgreSQL server, 11 root. Exit code 1: a fact does
not hold, or an incident could not be played.
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import night_plays
from night_plays import FIRST_USER, GROUP, HOSTILE, SECOND_USER, STRANGER
from night_stage import ROOT, ROWS, Broken, Night, width


class Fact:
    """Something that must stand on a screen, below the fact before it."""

    def __init__(self, words, pattern):
        self.words, self.pattern = words, pattern

    def failure(self, screen, reached, names):
        """What is wrong, or None; and up to where the screen has been read."""
        pattern = self.pattern
        for name, value in names.items():
            pattern = pattern.replace(f"<{name}>", re.escape(str(value)))
        found = re.search(pattern, screen.folded[reached:])
        if found:
            return None, reached + found.end()
        return ("it stands further up" if re.search(pattern, screen.folded) else f"no '{pattern}'"), reached


class Never(Fact):
    """Something that must not stand anywhere on a screen."""

    def failure(self, screen, reached, names):
        found = re.search(self.pattern, screen.folded)
        return (f"there is '{found[0]}'" if found else None), reached


class Check(Fact):
    """Something that a function finds wrong with a screen; the function returns None if nothing is."""

    def __init__(self, words, find):
        super().__init__(words, None)
        self.find = find

    def failure(self, screen, reached, names):
        return self.find(screen), reached


class Ask:
    """A command that is typed, and the facts of its screen."""

    def __init__(self, command, *facts, code=0, answer=None, user=None, group=None):
        self.command, self.facts, self.code, self.answer = command, facts, code, answer
        self.user = (user, group or user) if user else None


class Moment:
    """When an incident stops, and the commands that are typed then: two at most."""

    def __init__(self, title, first, second=None):
        self.title, self.asked = title, [first] + ([second] if second else [])


def fits(screen):
    # The prompt takes a row, too.
    return None if len(screen.lines) < ROWS else f"it has {len(screen.lines)} rows"


def no_wide_line(screen):
    """A name is never cut: it may end a line of its own, which is wider then."""
    return next((f"'{line}'" for line in screen.wide_lines() if width(line.split()[-1]) < 60), None)


def nothing_that_a_terminal_obeys(screen):
    return ", ".join(screen.bad_characters()) or None


def rows_of(count, pattern):
    def check(screen):
        found = sum(1 for line in screen.lines if re.search(pattern, line))
        return None if found == count else f"there are {found}"
    return check


def begins_with_what_is_wrong(screen):
    kinds = [found[1] for found in (re.match(r"\S.*?  (wrong|note)  ", line) for line in screen.lines) if found]
    return None if "wrong" in kinds and kinds == sorted(kinds, reverse=True) else f"the findings are {kinds}"


def ends_with(code):
    return Check(f"it ends with {code}", lambda screen: None if screen.code == code else f"it ends with {screen.code}")


FITS = Check(f"it fits {ROWS} rows", fits)
EVERYWHERE = (
    Check("no line is wider than 80 columns, but for a long name", no_wide_line),
    Check("no character that a terminal obeys", nothing_that_a_terminal_obeys),
)
WRONG_FIRST = Check("what is wrong comes first", begins_with_what_is_wrong)
ALL_IS_WELL = Fact("nothing is wrong", "nothing is wrong with the store$")
# How many rows are printed of a screen on which a fact fails.
SHOWN = 60
CLOCK = r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\dZ"
TIME = r"\d+(\.\d+)? (ms|s|min)"


def not_used(count, why):
    return Fact(
        "how many workers don't use the file, why, since when, and what that means",
        rf"{count} workers do not use the file \({why}\): each guards its circuits in memory, "
        r"(obeys no hold or reset, )?"
        r"and may refuse calls that are let through here\. See 'breaker-inspect doctor'\.")


OLD = r"their release can't \(0\.4\.3\)"
LOCKED = r"others keep it locked, for \d+ s"
FULL = r"the disk is full, for \d+ s"
STATUS = Ask(
    "breaker-fleet status",
    Fact("how many hosts are joined", r"1 joined, 1 cut off"), Fact("which host is not", r"shop-1 cut off"),
)
HELD = r"jane for 3 d: INC-1: double charges, do not open"

INCIDENTS = {
    1: (night_plays.flapping, [
        Moment(
            "it is down for the fourth time",
            Ask(
                "list",
                Fact("that it is open, and its trips within the last hour", r"TRIPS .*users open .* [45] \d+ Boom"),
            ),
            Ask(
                "show users",
                Fact("since when it is open", rf"users state open since {CLOCK} \({TIME} ago\)"),
                Fact("what happens to calls, and when it probes", rf"calls are refused; a probe in {TIME}"),
                Fact("how many calls this outage hurt",
                     rf"outage since {CLOCK} \({TIME} ago\).*: 3 calls failed, 20 were refused"),
                Fact("why it is open", r"why tripped: 3 failures within 60 s, the last: Boom"),
                Fact("how many the last one hurt", rf"last one {CLOCK}, {TIME}: [34] failed, 20 refused"),
                Fact("how many calls ended how", r"calls 23 succeeded, 13 failed, 0 ignored, 80 refused"),
                Fact("the last trips, and who made them", rf"{CLOCK} tripped <first> 3 failures"),
                FITS,
            ),
        ),
        Moment(
            "it is up again",
            Ask(
                "show users",
                Fact("that it is closed", rf"state closed since {CLOCK} \({TIME} ago\) calls are let through"),
                Fact("who closed it", r"why closed by a probe of <first>"),
                Fact("that it flaps", rf"outages \d+ within the last (\d+ min|hour|{TIME})"),
                Fact("how long the outages were, and when the last one ended",
                     rf"{TIME} to {TIME} each, the last {TIME} ago"),
                Fact("what to type next", r"it flaps: see 'breaker-inspect history users --outages'"),
                FITS,
            ),
            Ask(
                "history users --outages",
                Fact("a table of the outages", r"FROM TO LASTED PROBES FAILED REFUSED ENDED BY"),
                Fact("from when to when, how many calls it hurt, and what ended it",
                     rf"{CLOCK} {CLOCK} {TIME} \d+ failed 3 20 a probe"),
                Fact("that a probe failed", rf"{CLOCK} {CLOCK} {TIME} .*1 failed [34] 20 a probe"),
                Check("four outages, a row for each", rows_of(4, rf"^{CLOCK}  +{CLOCK}  ")),
            ),
        ),
        Moment(
            "the same, without knowing which circuit it is",
            Ask(
                "doctor",
                Fact("which circuit flaps", r"flapping note users has tripped [45] times within the last hour"),
                Fact("what to type next", r"look at the service; 'breaker-inspect history \S+ --outages' shows when"),
                FITS,
            ),
        ),
    ]),
    2: (night_plays.hung_probe, [
        Moment(
            "the probe hangs",
            Ask(
                "show users",
                Fact("since when it is half-open", rf"users state half-open since {CLOCK} \({TIME} ago\)"),
                Fact("why calls are refused", r"calls are refused: the only probe slot is taken"),
                Fact("who probes, for how long, and what frees the slot",
                     rf"probes? <first>, for {TIME}; its slot is free in {TIME}, or at once if that process ends"),
                FITS,
            ),
            Ask("workers", Fact("who probes", r"shop-worker <first_pid> .*? users")),
        ),
        Moment(
            "the lease is over, and the next worker probes",
            Ask(
                "show users",
                Fact("who probes now", rf"probes? <second>, for {TIME}; its slot is free in {TIME}"),
                Fact("that the process that hung did not report", rf"{CLOCK} probe expired <first>"),
                FITS,
            ),
            Ask(
                "history users",
                Fact("which process did not report, and who probes now",
                     rf"{CLOCK} probe expired half-open <first> did not report within {TIME}; "
                     r"<second> probes now"),
                Never("no number of a worker that is no pid", r"worker \d{10}"),
            ),
        ),
    ]),
    3: (night_plays.full_disk, [
        Moment(
            "the disk is full",
            Ask(
                "doctor",
                Fact("which file system is full, and of what size",
                     r"^file system wrong <place> \(tmpfs\) is full: 0 of \d+ MB free"),
                Fact("that services go on", r"services go on only as long as the store's own reserve lasts"),
                Fact("what to do", r"-> make room on it"),
                FITS, code=1,
            ),
        ),
        Moment(
            "the reserve is used up",
            Ask(
                "doctor",
                Fact("which file system is full, and of what size",
                     r"^file system wrong <place> \(tmpfs\) is full: 0 of \d+ MB free"),
                Fact("that the reserve is used up", r"the store's own reserve is used up"),
                Fact("what to do", r"-> make room on it"),
                Fact("one finding for all six workers, with the cause and their pids",
                     r"degraded wrong 6 of 6 workers.* for \d+ s, because the disk is full: shop-worker\[<pids>\]"),
                Fact("that they recover by themselves", r"-> make room.*; they recover by themselves"),
                Fact("what is well, in one paragraph", r"ok permissions, schema, contents, log, lock file, board"),
                FITS, WRONG_FIRST, code=1,
            ),
            Ask("list", Fact("the circuit", r"users closed"), not_used("6 of 6", FULL)),
        ),
        Moment("there is room again", Ask("doctor", ALL_IS_WELL), Ask("check")),
    ]),
    4: (night_plays.lost_store, [
        Moment(
            "the store was removed",
            Ask(
                "doctor",
                Fact("when the new file was created, and in place of what",
                     rf"store wrong created {TIME} ago \({CLOCK}\) in place of a removed file"),
                Fact("what was restored", r"2 holds and 5 open states were restored by live workers"),
                Fact("what is gone", r"; the history is gone"),
                Fact("what to do", r"-> 'breaker-inspect list' shows the holds"),
                FITS, WRONG_FIRST, code=1,
            ),
            Ask(
                "list",
                Check("five open circuits", rows_of(5, r"^a\d +open ")),
                Fact("the holds", r"mail held-open .* held by jane .*pay held-closed"),
            ),
        ),
        Moment(
            "the store was replaced by another one",
            Ask(
                "doctor",
                Fact("when the new file was created, and in place of what",
                     rf"store wrong created {TIME} ago \({CLOCK}\) in place of a (removed|replaced) file"),
                Fact("what was restored", r"2 holds and 5 open states were restored by live workers"),
                Fact("what to do", r"-> 'breaker-inspect list' shows the holds"),
                FITS, WRONG_FIRST, code=1,
            ),
        ),
        Moment(
            "the store was overwritten with garbage",
            Ask(
                "doctor",
                Fact("when the new file was created, and in place of what",
                     rf"store wrong created {TIME} ago \({CLOCK}\) in place of a damaged file"),
                Fact("what was restored", r"2 holds (and 5 open states )?were restored by live workers"),
                Fact("where the old file is", r"kept as breakers\.db\.corrupt-\d+"),
                Fact("what to do, and that the kept file is to be deleted", r"->.*'breaker-inspect list' .*delete the"),
                Never("not that open states were restored and are gone",
                      r"and \d open states were restored by live workers; open states"),
                FITS, WRONG_FIRST, code=1,
            ),
        ),
        Moment(
            "garbage, and no worker lives",
            Ask(
                "doctor",
                Fact("what is wrong with the file",
                     r"file wrong '<place>/unknown\.db'.* is not an? SQLite database, or is damaged"),
                Fact("what services do", r"services that start now refuse it"),
                Fact("what to do if it was the store",
                     r"-> if it was the store: 'breaker-inspect set-aside' moves it away"),
                Fact("or if it is none", r"they (begin|start) a new one; else correct the path"),
                FITS, WRONG_FIRST, code=1,
            ),
            Ask(
                "set-aside",
                Fact("what it does to which file", r"<place>/unknown\.db"),
                Fact("a question", r"\[y/N\]"),
                code=2, answer="n",
            ),
        ),
    ]),
    5: (night_plays.fleet, [
        Moment(
            "the server is down",
            Ask(
                "doctor",
                Fact("since when the host is cut off", rf"link wrong cut off from the other hosts since {CLOCK}"),
                Fact("that it guards itself", r"this host guards itself"),
                Fact("the cause", r"Connection refused|the database system is (shutting down|starting up)"),
                Fact("what to do", r"->.*the link then joins by itself"),
                FITS, WRONG_FIRST, code=1,
            ),
            Ask("breaker-fleet status", Fact("that the server does not answer", r"Connection refused"), code=1),
        ),
        Moment(
            "the link was killed",
            Ask(
                "doctor",
                Fact("that the link is dead, and its process", r"the fleet link is dead: its process <link> has ended"),
                Fact("what to do", r"-> start .* with 'breaker-fleet run'"),
                FITS, WRONG_FIRST, code=1,
            ),
            STATUS,
        ),
        Moment(
            "the link was stopped",
            Ask(
                "doctor",
                Fact("that the link's process is stopped", r"link wrong .*process <link>.* is stopped"),
                Fact("what to do", r"->.*'kill -CONT <link>'"),
                FITS, WRONG_FIRST, code=1,
            ),
            STATUS,
        ),
    ]),
    6: (night_plays.forgotten_hold, [
        Moment(
            "calls of mail are refused",
            Ask("check", Fact("who holds it, since when and why", rf"mail held-open by {HELD}"), code=3),
            Ask(
                "doctor",
                Fact("who holds it, since when and why", rf"holds note mail is held open by {HELD}"),
                Fact("what to do", r"-> 'breaker-inspect release \S+' takes a hold off"),
                FITS,
            ),
        ),
        Moment(
            "one circuit of it, and an attempt to end the hold",
            Ask(
                "show mail",
                Fact("since when it is held", rf"state held-open since {CLOCK} \(3 d ago\)"),
                Fact("what happens to calls", r"calls are refused until it is released"),
                Fact("who holds it, and why", r"why held by jane: INC-1: double charges, do not open"),
                Fact("until when", r"hold open by jane, until it is released"),
                Fact("what the state beneath is", r"beneath: closed"),
                FITS,
            ),
            Ask(
                "reset mail",
                Fact("whose hold it is",
                     r"mail is held open by jane (since|for) 3 d: INC-1: double charges, do not open"),
                Fact("what a reset does", r"A reset (takes that hold off|ends that hold)\."),
                Fact("a question", r"Go on\? \[y/N\]"),
                Fact("that nothing was changed", r"nothing was changed"),
                code=2, answer="n",
            ),
        ),
    ]),
    7: (night_plays.many_circuits, [
        Moment(
            "services of 30 tenants are down",
            Ask(
                "list",
                Fact("the open circuits first", r"NAME STATE .* acme/tenant-0 open "),
                Fact("the next ones", r"acme/tenant-950 open "),
                Fact("how many are open", r"30 open"),
                Check("30 open circuits, a row for each", rows_of(30, r"^acme/tenant-\d+ +open ")),
                Fact("how many are closed, and how to see them", r"1970 closed: --all lists them"),
                Check("no row for a closed circuit", rows_of(0, r"^acme/tenant-\d+ +closed ")),
            ),
            Ask("doctor", ALL_IS_WELL, FITS),
        ),
        Moment(
            "all of them are to be tried at once",
            Ask(
                "probe acme/*",
                Fact("which circuits it concerns", r"acme/tenant-0 .*acme/tenant-950 "),
                Fact("how many", r"Go on with 30.*\? \[y/N\]"),
                Fact("that nothing was changed", r"nothing was changed"),
                code=2, answer="n",
            ),
            Ask(
                "check",
                Check("30 open circuits, a row for each", rows_of(30, r"^acme/tenant-\d+  open")), code=3,
            ),
        ),
    ]),
    8: (night_plays.hostile_texts, [
        Moment(
            "which circuits refuse calls?",
            Ask(
                "list",
                Fact("the escape sequences, escaped", r"\\u\{1B\}\[2J\\u\{1B\}\]0;owned\\u\{7\}red\\u\{1B\}\[31m open"),
                Fact("the marks for right to left, escaped", r"\\u\{202E\}payments\\u\{2066\}\\u\{200F\}\u05d0 open"),
                Fact("the line ends, escaped", r"pay\\u\{A\}ments\\u\{D\}\\u\{A\}ok closed open"),
                Fact("the wide name, not cut", f"{HOSTILE['wide characters']} open"),
                Fact("the long name, not cut", "n{200} held-open"),
            ),
            Ask("check", Fact("each of them", r"owned.*payments.* open .*n{200} held-open by \\u\{1B\}"), code=3),
        ),
        Moment(
            "who did that, and what happened?",
            Ask(
                "workers",
                Fact("the escape sequences, escaped", r"\\u\{1B\}\[2J\\u\{1B\}\]0;owned\\u\{7\}red\\u\{1B\}\[31m \d+"),
                Check("a row for each", rows_of(5, r"\d .* ago .*-$")),
                Fact("the long name, not cut", r"n{200} \d+"),
            ),
            Ask(
                "history",
                Fact("the error, escaped", r"the last: boom: \\u\{1B\}\[2J"),
                Fact("the long name, not cut", "n{200}"),
                Never("no name of a worker is cut", r"\bbreak\S*\u2026"),
            ),
        ),
    ]),
    9: (night_plays.half_done_upgrade, [
        Moment(
            "some workers don't obey holds",
            Ask(
                "doctor",
                Fact("how many workers, which release, and their pids",
                     r"^workers wrong 3 of 4 workers run a release that cannot use this file \(0\.4\.3\): "
                     r"shop-worker\[<pids>\]"),
                Fact("what that means", r"each guards its circuits in memory and obeys no hold or reset"),
                Fact("what to do", r"-> restart them with the new release"),
                FITS, WRONG_FIRST, code=1,
            ),
            Ask("list", Fact("the circuit", r"users closed"), not_used("3 of 4", OLD)),
        ),
        Moment(
            "which of them?",
            Ask(
                "workers",
                Fact("a column for it", r"NAME PID SINCE VERSION DEGRADED PROBING"),
                Fact("the workers outside", rf"shop-worker <pid> {TIME} ago 0\.4\.3 outside -"),
                Check("three of them", rows_of(3, r" 0\.4\.3 +outside +-")),
            ),
            Ask("check", not_used("3 of 4", OLD), code=6),
        ),
    ]),
    10: (night_plays.locked_file, [
        Moment(
            "calls fail, and all circuits are closed",
            Ask("list", Fact("the circuit as the file has it", r"users closed"), not_used("3 of 3", LOCKED)),
            Ask(
                "doctor",
                Fact("which process keeps the file locked",
                     r"writers wrong process <holder> \(python3?\S*\) keeps all others from writing"),
                Fact("what to do", r"-> wait until its transaction is over, or end it"),
                Fact("one finding for all workers, with their pids",
                     r"degraded wrong 3 of 3 workers.* for \d+ s, because others keep it locked: "
                     r"shop-worker\[<pids>\]"),
                Fact("that they recover by themselves", r"they recover by themselves"),
                FITS, WRONG_FIRST, code=1,
            ),
        ),
        Moment(
            "the alert, and one circuit",
            Ask("check", not_used("3 of 3", LOCKED), code=6),
            Ask("show users", Fact("the file's state", r"state closed since"), not_used("3 of 3", LOCKED), FITS),
        ),
        Moment("that process has ended", Ask("doctor", ALL_IS_WELL)),
    ]),
    11: (night_plays.several_users, [
        Moment(
            "the first user made the store for itself, and the second looks at it",
            Ask(
                "doctor",
                Fact("what this user can't read, in one finding",
                     r"^permissions wrong this user can't read '<place>/alone/breakers\.db'(?!.*permissions wrong)"),
                Fact("whose files they are", r"060\d of user 60001, group 60000"),
                Fact("what to do", r"-> "),
                FITS, WRONG_FIRST, code=1, user=SECOND_USER, group=GROUP,
            ),
            Ask(
                "list",
                Fact("what is wrong, and with which file", r"'<place>/alone/breakers\.db': Permission denied"),
                Fact("what to do", r"hint: give this user read and write access to it and its directory"),
                code=1, user=SECOND_USER, group=GROUP,
            ),
        ),
        Moment(
            "it was made for the group",
            Ask("doctor", ALL_IS_WELL, FITS, user=SECOND_USER, group=GROUP),
            Ask("hold open users --reason INC-7", Fact("what it did", r"users closed -> held-open until released"),
                user=SECOND_USER, group=GROUP),
        ),
        Moment(
            "a stranger looks at it",
            Ask(
                "list",
                Fact("what is wrong, and with which file",
                     r"cannot look at '<place>/shared/breakers\.db': Permission denied"),
                Fact("what to do", r"hint: give this user read and write access to it and its directory"),
                code=1, user=STRANGER,
            ),
            Ask(
                "doctor",
                Fact("which directory keeps this user out, and whose it is",
                     r"permissions wrong the directory '<place>/shared' is 0770 of user 60001, group 60000; "
                     r"you are .*, user 60003, and can't enter it"),
                Fact("what to do", r"-> run this as a user who can"),
                FITS, WRONG_FIRST, code=1, user=STRANGER,
            ),
        ),
        Moment(
            "a stranger may read a store, and not write it",
            Ask(
                "doctor",
                Fact("that this user may only look",
                     r"permissions note .*may look, but not reset, hold, release or forget"),
                FITS, user=STRANGER,
            ),
            Ask(
                "reset users",
                Fact("what is wrong, and with which file", r"'<place>/own/breakers\.db(-lock)?': Permission denied"),
                Fact("what to do", r"hint: give this user read and write access"),
                code=1, user=STRANGER,
            ),
        ),
    ]),
}


ARTICLE = ROOT / "Sources/BreakerStore/Documentation.docc/OnCall.md"


def masked(text):
    """A text without what differs each time: line ends, numbers, times and paths."""
    text = re.sub(r"/[^\s']*|'/[^']*'", "/", " ".join(text.split()))
    text = re.sub(CLOCK, "#", text)
    text = re.sub(rf"\b{TIME}\b|\b\d+ d\b", "#", text)
    text = re.sub(r"\[[\d ]+\]", "[#]", text)
    return re.sub(r"\d+|\((tmpfs|ext4)\)", "#", text)


def missing_in(screens):
    """The parts of the article's blocks of breaker-inspect that stand on no screen of their command."""
    blocks = re.findall(r"^```console\n(.*?)^```$", ARTICLE.read_text(), re.MULTILINE | re.DOTALL)
    for block in blocks:
        for command, output in re.findall(r"^\$ breaker-inspect (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            shown = [masked(text) for asked, text in screens if asked == command]
            for part in output.split("\u2026\n"):
                if not any(masked(part) in text for text in shown):
                    yield f"'{command}' prints nowhere '{masked(part)}'"


def build():
    """The folder of the programs, beside those of `make test-fleet`: the trait is in the flags of every module."""
    command = ["swift", "build", "--traits", "PostgreSQL", "--scratch-path", ".build/fleet"]
    for product in ("breaker-inspect", "breaker-fleet", "breaker-worker"):
        subprocess.run(command + ["--product", product], check=True, cwd=ROOT, stdout=sys.stderr)
    shown = subprocess.run(command + ["--show-bin-path"], check=True, cwd=ROOT, capture_output=True, text=True)
    return shown.stdout.strip()


def mount_small_disk(place):
    """A file system of 22 MB, which only this process and its children see, and which goes with them."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_user, private = 0x20000, 0x10000000, 0x44000
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(new_mounts if user == 0 else new_mounts | new_user) != 0:
        raise Broken(f"no namespace in which to mount a small disk: {os.strerror(ctypes.get_errno())}; run it as root")
    if user != 0:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            pathlib.Path(f"/proc/self/{name}").write_text(text)
    if libc.mount(None, b"/", None, private, None) != 0 or libc.mount(b"tmpfs", bytes(place), b"tmpfs", 0, b"size=22m"):
        raise Broken(f"can't mount a small disk: {os.strerror(ctypes.get_errno())}")


def play(number, programs, shows):
    """Plays an incident; returns how many facts hold, those that don't, and the screens."""
    function, moments = INCIDENTS[number]
    print(f"\n=== {number}. {function.__doc__}", flush=True)
    held, failures, screens = 0, [], []
    with Night(programs) as night:
        if number == 3:
            night.place = night.home / "disk"
            night.place.mkdir()
            mount_small_disk(night.place)
            night.store = night.place / "breakers.db"
        night.names["place"] = night.place
        incident = function(night)
        for moment in moments:
            next(incident)
            print(f"\n--- {moment.title}", flush=True)
            for ask in moment.asked:
                words = shlex.split(ask.command)
                screen = night.look(words, ask.answer, ask.user)
                print(f"$ {ask.command if words[0] == 'breaker-fleet' else 'breaker-inspect ' + ask.command}")
                screens.append((ask.command, screen.text))
                if shows:
                    print(screen.text)
                reached, before = 0, len(failures)
                for fact in ask.facts + EVERYWHERE + (ends_with(ask.code),):
                    failure, reached = fact.failure(screen, reached, night.names)
                    print(f"    FAILS  {fact.words}: {failure}" if failure else f"    holds  {fact.words}", flush=True)
                    if failure:
                        failures.append(f"{number}. {moment.title}, {words[0]}: {fact.words}")
                    held += failure is None
                if len(failures) > before and not shows:
                    print("    the screen was:", *screen.lines[:SHOWN], sep="\n", flush=True)
    return held, failures, screens


def play_apart(number, programs, shows):
    """Plays an incident in a process of its own: the namespace of incident 3 can't be left again."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            result = play(number, programs, shows)
        except (Broken, OSError, subprocess.SubprocessError) as error:
            print(f"    FAILS  it could not be played: {error}")
            result = 0, [f"{number}. could not be played: {error}"], []
        with open(writer, "w", encoding="utf-8") as file:
            json.dump(result, file)
        sys.stdout.flush()
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else (0, [f"{number}. could not be played"], [])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--print", action="store_true", dest="shows")
    parser.add_argument("--bin")
    parser.add_argument("numbers", nargs="*", type=int)
    arguments = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("error: the incidents are played with the kernel of Linux")
    unknown = [number for number in arguments.numbers if number not in INCIDENTS]
    if unknown:
        raise SystemExit(f"error: there is no incident {unknown[0]}; there are 1 to {max(INCIDENTS)}")
    programs = pathlib.Path(arguments.bin or build()).resolve()
    for program in ("breaker-inspect", "breaker-fleet", "breaker-worker"):
        if not os.access(programs / program, os.X_OK):
            raise SystemExit(f"error: {programs} has no {program}")
    results = [play_apart(number, programs, arguments.shows) for number in arguments.numbers or INCIDENTS]
    failures = [failure for result in results for failure in result[1]]
    if not arguments.numbers:
        screens = [screen for result in results for screen in result[2]]
        failures += [f"OnCall.md: {part}" for part in missing_in(screens)]
    print()
    for failure in failures:
        print(f"FAILS  {failure}")
    print(f"{len(results)} incidents: {sum(result[0] for result in results)} facts hold, {len(failures)} fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

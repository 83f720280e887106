#!/usr/bin/env python3
"""Has a real browser show the page that `breaker-inspect report` writes of a store with hostile texts.

usage: scripts/browser.py [FOLDER]

Fails if a text of the store has become a part of the page, if the page asks for anything beside itself, or if it is
wider than a phone or a screen. With FOLDER the page and pictures of it, at both widths, light, dark, with open folds
and as on paper, are left there to be looked at. Takes chromium from the PATH, or installs Debian's package.
"""
import html.parser
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from prometheus import HOSTILE, Worker, built, sudo, update_packages

EVIL = [
    '"><script>document.title="pwned"</script>', "'><img src=x onerror=\"document.title='pwned'\">",
    "</style></title><svg onload=document.title='pwned'>", "&lt;b&gt; & <b>", "javascript:alert(1)",
]
LONG = "payments/" + "eu-central-1/" * 8 + "checkout"
# The columns of a phone and of a screen.
WIDTHS = [390, 1280]
# The lines of a picture: the browser takes minutes for one of all of the page.
HEIGHT = 8_000
# Shows a page at a width that no window of the browser need have, and says in its title how wide the page is.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe id="page" src="{page}"
style="border:0;width:{width}px;height:{height}px"></iframe><script>onload = () => {{
let root = document.getElementById("page").contentDocument.documentElement;
document.title = root.scrollWidth + " of " + root.clientWidth }}</script>"""
# A live worker of a release that can't use the file.
OLD_WORKER = """
import fcntl, os, sqlite3, struct, sys
number = 1 << 40 | os.getpid()
lock = open(sys.argv[1] + "-lock", "r+b")
fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("=hh4xqqi4x", fcntl.F_WRLCK, 0, number, 1, 0))
with sqlite3.connect(sys.argv[1]) as store:
    store.execute(
        "INSERT INTO worker (id, name, pid, version, since) SELECT ?, 'shop-worker', ?, '0.4.3', offset FROM clock",
        (number, os.getpid()))
store.close()
print("ok", flush=True)
sys.stdin.read()
"""
PATIENCE = 120
problems = []


def check(holds, what):
    print(("holds: " if holds else "WRONG: ") + what)
    if not holds:
        problems.append(what)


def browser():
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found:
        return found
    update_packages()
    command = sudo() + ["apt-get", "-qq", "-y", "--no-install-recommends", "install", "chromium"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    return shutil.which("chromium") or sys.exit("error: no browser, and none could be installed")


def show(program, folder, page, *options):
    # A folder of its own: a browser that runs already would answer in place of this one.
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += ["--allow-file-access-from-files", f"--user-data-dir={folder}/profile", *options, f"file://{page}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        sys.exit(f"error: the browser ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


class Page(html.parser.HTMLParser):
    """The elements of a page as the browser has it, what they refer to, and all text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.text, self.title = set(), set(), "", ""
        self.inside = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.add(tag)
        self.attributes.update(name for name, _ in attributes)
        self.inside.append(tag)

    def handle_endtag(self, tag):
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    def handle_data(self, data):
        if self.inside and self.inside[-1] == "title":
            self.title += data
        self.text += data


def main():
    tool, worker = built("breaker-inspect"), built("breaker-worker")
    program = browser()
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        names = HOSTILE + EVIL
        write(tool, worker, folder, names, page)
        judge(program, folder, page, names)
        if sys.argv[1:]:
            keep(program, folder, page, sys.argv[1])
    if problems:
        sys.exit(f"error: {len(problems)} of these do not hold")


def write(tool, worker, folder, names, page):
    """A report of a store in which each text is hostile."""
    path = os.path.join(folder, "shop.db")
    user = Worker(worker, folder, path)
    for number in range(len(names)):
        user.ask(f"breaker c{number} failures=1 recovery=600")
        user.ask(f"fail c{number}")
        user.ask(f"hold c{number} open")
    for circuit, outages in [("flapping", 60), ("payments", 3), (LONG, 1)]:
        user.ask(f"breaker {circuit} failures=1 recovery=600")
        for number in range(outages):
            if number > 0:
                user.ask(f"reset {circuit}")
            user.ask(f"fail {circuit}")
    for number in range(200):
        user.ask(f"breaker service-{number:03} failures=1 recovery=600")
        if number % 3 == 0:
            user.ask(f"fail service-{number:03}")
    user.leave()
    with sqlite3.connect(path) as store:
        for number, name in enumerate(names):
            store.execute("UPDATE event SET circuit = ?, reason = ?, operator = ? WHERE circuit = ?", (name,) * 3 + (f"c{number}",))
            store.execute("UPDATE circuit SET name = ?, group_name = ?, last_error = ? WHERE name = ?", (name,) * 3 + (f"c{number}",))
        store.execute("UPDATE circuit SET last_error = ? WHERE name = ?", ("x" * 300, LONG))
    store.close()
    hold = ["hold", "open", "service-1*", "--yes", "--as", "ann", "--reason", "INC-1: double charges, do not open"]
    subprocess.run([tool, *hold, "--store", path], check=True, stdout=subprocess.DEVNULL)
    user = Worker(worker, folder, path)
    old = subprocess.Popen([sys.executable, "-c", OLD_WORKER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    old.stdout.readline()
    subprocess.run([tool, "report", page, "--store", path], check=True, stderr=subprocess.DEVNULL)
    old.communicate()
    user.leave()


def judge(program, folder, path, names):
    page = Page(show(program, folder, path, "--dump-dom"))
    strange = page.elements & {"script", "img", "svg", "iframe", "object", "embed", "link", "a", "base", "form"}
    check(not strange, f"no text has become an element {strange or ''}")
    strange = {name for name in page.attributes if name.startswith("on") or name in ("src", "href", "action")}
    check(not strange, f"no text has become an attribute {strange or ''}")
    check(page.title.startswith("Circuit breakers of "), f"no script ran: the title is {page.title!r}")
    for name in names:
        shown = name.replace("\n", "\\u{A}").replace("\x1b", "\\u{1B}").replace("\u202e", "\\u{202E}")
        check(page.text.count(shown) >= 4, f"shown as it is: {shown!r}")
    for text in ["59 more outages of flapping", "1 of 2 workers may not obey that", "0.4.3"]:
        check(text in page.text, f"shown: {text}")
    for name in (path, unfolded(folder, path)):
        for width in WIDTHS:
            found = Page(show(program, folder, framed(folder, name, width), "--dump-dom")).title
            check(found == f"{width} of {width}", f"{os.path.basename(name)} has {width} columns: {found}")


def unfolded(folder, page):
    """The page with all folds open."""
    path = os.path.join(folder, "unfolded.html")
    with open(page) as file, open(path, "w") as copy:
        copy.write(file.read().replace("<details>", "<details open>"))
    return path


def framed(folder, page, width):
    path = os.path.join(folder, "frame.html")
    with open(path, "w") as file:
        file.write(FRAME.format(page=page, width=width, height=HEIGHT))
    return path


def keep(program, folder, page, target):
    os.makedirs(target, exist_ok=True)
    shutil.copy(page, target)
    for source, name in [(page, ""), (unfolded(folder, page), "-unfolded")]:
        for number, look in enumerate(("dark", "light")):
            for width in WIDTHS:
                options = [f"--blink-settings=preferredColorScheme={number}", f"--window-size={width},{HEIGHT}"]
                options += [f"--screenshot={target}/{look}-{width}{name}.png"]
                show(program, folder, framed(folder, source, width), *options)
    show(program, folder, page, f"--print-to-pdf={target}/paper.pdf")


if __name__ == "__main__":
    main()

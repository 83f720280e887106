#!/usr/bin/env python3
"""Has a real browser show the page that `breaker-inspect report` writes of a store with hostile texts.

usage: scripts/browser.py [FOLDER]

Fails if a text of the store has become a part of the page, or if the page asks for anything beside itself. With FOLDER
the page and pictures of it, light, dark and as on paper, are left there to be looked at. Takes chromium from the PATH,
or installs Debian's package.
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
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,2400"]
    command += [f"--user-data-dir={folder}/profile", *options, f"file://{page}"]
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
    user.leave()
    with sqlite3.connect(path) as store:
        for number, name in enumerate(names):
            store.execute("UPDATE event SET circuit = ?, reason = ?, operator = ? WHERE circuit = ?", (name,) * 3 + (f"c{number}",))
            store.execute("UPDATE circuit SET name = ?, group_name = ?, last_error = ? WHERE name = ?", (name,) * 3 + (f"c{number}",))
    store.close()
    subprocess.run([tool, "report", page, "--store", path], check=True, stderr=subprocess.DEVNULL)


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


def keep(program, folder, page, target):
    os.makedirs(target, exist_ok=True)
    shutil.copy(page, target)
    for number, name in enumerate(("dark", "light")):
        show(program, folder, page, f"--blink-settings=preferredColorScheme={number}", f"--screenshot={target}/{name}.png")
    show(program, folder, page, f"--print-to-pdf={target}/paper.pdf")


if __name__ == "__main__":
    main()

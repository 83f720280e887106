#!/usr/bin/env python3
"""Has a real Prometheus read what `breaker-inspect metrics` tells of stores that are in use, and asks it for the numbers.

usage: scripts/prometheus.py

Checks the text, the alert rules and each query of the dashboard. Takes prometheus and promtool from the PATH, or from
Debian's package, which it fetches and does not install: nothing is started but what this program ends.
"""
import functools
import glob
import http.server
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE = 60
# As somebody else may write them into a file: what breaks a line, a quotation, a terminal, and all that is no ASCII.
HOSTILE = ['a"} 7', "back\\slash\\", "line\nfeed", "escape\x1b[2J", "${x}$(id)`id`", "naïve 🚦 \u202egnp", "# HELP x"]
# Those of the dashboard that choose among the series; "instance" may be that of the node exporter.
VARIABLES = ["instance", "store", "group", "circuit"]
problems = []


def check(holds, what):
    print(("holds: " if holds else "WRONG: ") + what)
    if not holds:
        problems.append(what)


def sudo():
    return [] if os.getuid() == 0 else ["sudo"]


def update_packages():
    # A fresh machine has no lists. A broken foreign source must not stop us: the next command finds out.
    subprocess.run(sudo() + ["apt-get", "-qq", "update"], check=False, stderr=subprocess.DEVNULL)


def programs():
    """The paths of prometheus and promtool."""
    found = [shutil.which(name) for name in ("prometheus", "promtool")]
    if all(found):
        return found
    folder = os.path.join(ROOT, ".build", "prometheus")
    found = [os.path.join(folder, "usr", "bin", name) for name in ("prometheus", "promtool")]
    if not all(os.path.exists(path) for path in found):
        os.makedirs(folder, exist_ok=True)
        update_packages()
        subprocess.run(["apt-get", "-qq", "download", "prometheus"], cwd=folder, check=True)
        package = glob.glob(os.path.join(folder, "prometheus_*.deb"))[0]
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        os.unlink(package)
    return found


def built(product):
    options = ["--package-path", ROOT, "--product", product]
    subprocess.run(["swift", "build"] + options, check=True, stdout=sys.stderr)
    place = subprocess.run(
        ["swift", "build", "--package-path", ROOT, "--show-bin-path"], check=True, capture_output=True, text=True)
    return os.path.join(place.stdout.strip(), product)


class Worker:
    """A process that uses a store."""

    def __init__(self, program, directory, store):
        self.process = subprocess.Popen(
            [program, os.path.join(directory, "clock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(f"open {store} system-clock")

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            sys.exit(f"error: the worker answered {line!r} with {answer!r}")
        return dict(word.split("=", 1) for word in answer.split() if "=" in word)

    def leave(self):
        self.process.stdin.close()
        self.process.wait()


class Files(http.server.SimpleHTTPRequestHandler):
    """Hands out the files of a directory, as a node exporter hands on those of its own."""

    extensions_map = {".prom": "text/plain; version=0.0.4"}

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


class Prometheus:
    def __init__(self, program, directory, target):
        self.port = free_port()
        config = os.path.join(directory, "prometheus.yml")
        with open(config, "w") as file:
            json.dump(
                {
                    "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                    "rule_files": [os.path.join(ROOT, "docs", "alerts.yml")],
                    "scrape_configs": [
                        {
                            "job_name": "breakers", "metrics_path": "/breakers.prom",
                            "static_configs": [{"targets": [f"127.0.0.1:{target}"]}],
                        }, {
                            "job_name": "itself", "static_configs": [{"targets": [f"127.0.0.1:{self.port}"]}],
                        },
                    ],
                }, file)
        self.log = open(os.path.join(directory, "prometheus.log"), "w")
        self.process = subprocess.Popen(
            [
                program, f"--config.file={config}", f"--storage.tsdb.path={os.path.join(directory, 'series')}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ], stdout=self.log, stderr=self.log)

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        """The labels and the value of each series."""
        return [
            (series["metric"], float(series["value"][1]))
            for series in self.get("query?" + urllib.parse.urlencode({"query": text}))["result"]
        ]

    def value(self, text):
        found = self.query(text)
        return found[0][1] if len(found) == 1 else None

    def wait(self, what, holds):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if holds():
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        with open(self.log.name) as file:
            print(file.read()[-3000:], file=sys.stderr)
        sys.exit(f"error: waited {PATIENCE} s in vain for {what}")

    def end(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def dashboard_queries():
    with open(os.path.join(ROOT, "docs", "dashboard.json")) as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            text = target["expr"]
            for name in ["instance", "store"] + ["group"] * ("circuit=" in text):
                check(f"{name}=~\"${name}\"" in text, f"dashboard: {panel['title']} is of the chosen {name} alone")
            # As Grafana does for all stores and circuits, at this rate of scrapes.
            for name, value in [("$__rate_interval", "10s")] + [(f"${name}", ".*") for name in VARIABLES]:
                text = text.replace(name, value)
            yield panel["title"], text


def main():
    prometheus, promtool = programs()
    tool, worker = built("breaker-inspect"), built("breaker-worker")
    with tempfile.TemporaryDirectory() as directory:
        run(prometheus, promtool, tool, worker, directory)
    if problems:
        sys.exit(f"error: {len(problems)} of these do not hold")


def run(prometheus, promtool, tool, worker, directory):
    shop, bar = os.path.join(directory, "shop.db"), os.path.join(directory, "bar.db")
    collected = os.path.join(directory, "collected")
    os.mkdir(collected)
    output = os.path.join(collected, "breakers.prom")

    def tell():
        command = [tool, "metrics", "--store", f"shop={shop}", "--store", bar, "--store", "gone=/nowhere/x.db"]
        done = subprocess.run(command + ["--output", output], capture_output=True, text=True)
        if done.returncode != 1 or "/nowhere/x.db" not in done.stderr:
            sys.exit(f"error: breaker-inspect metrics ended with {done.returncode}: {done.stderr}")

    bystander = Worker(worker, directory, bar)
    for number in range(len(HOSTILE)):
        bystander.ask(f"breaker c{number}")
    bystander.leave()
    with sqlite3.connect(bar) as store:
        for number, name in enumerate(HOSTILE):
            store.execute("UPDATE circuit SET name = ? WHERE name = ?", (name, f"c{number}"))
    store.close()

    user = Worker(worker, directory, shop)
    user.ask("breaker plain failures=3 window=60 recovery=600")
    user.ask("breaker share rate=0.5 minimum=1000 slow=1 slow-share=0.9 window=60")
    user.ask("breaker watched failures=1 observing")
    user.ask("breaker held failures=3")
    user.ask("hold held open by=ann")
    tell()

    with open(output, "rb") as file:
        checked = subprocess.run([promtool, "check", "metrics"], stdin=file, capture_output=True, text=True)
    check(checked.returncode == 0 and not checked.stderr, f"promtool finds nothing in the text {checked.stderr}")
    for what in (["check", "rules", "docs/alerts.yml"], ["test", "rules", "Tests/Prometheus/alerts.test.yml"]):
        done = subprocess.run([promtool] + what, cwd=ROOT, capture_output=True, text=True)
        check(done.returncode == 0, f"promtool {' '.join(what)}" + (done.returncode and done.stdout + done.stderr or ""))

    handler = functools.partial(Files, directory=collected)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    database = Prometheus(prometheus, directory, server.server_address[1])
    try:
        database.wait("the first series", lambda: database.query("breaker_store_up"))
        # Some seconds of traffic, so that there are rates.
        for step in range(8):
            user.ask("call share 400")
            user.ask("fail share 40")
            user.ask("call plain 50")
            user.ask("fail watched 5")
            if step in (2, 3, 4):
                user.ask("fail plain 1")
            tell()
            time.sleep(1)
        judge(database, tell, user, output)
    finally:
        database.end()
        server.shutdown()
        user.leave()


def judge(database, tell, user, output):
    totals = user.ask("totals share")
    tell()
    last = time.time()
    database.wait("a scrape of the last text", lambda: database.value('timestamp(up{job="breakers"})') > last + 1)

    for result in ("succeeded", "failed", "ignored", "refused"):
        value = database.value(f'breaker_calls_total{{store="shop",circuit="share",result="{result}"}}')
        check(value == float(totals[result]), f"{result}: {value}, as the process says")
    calls = float(totals["succeeded"]) + float(totals["failed"])
    check(database.value('breaker_call_duration_seconds_count{circuit="share"}') == calls, "all are measured")
    check(
        database.value('breaker_call_duration_seconds_bucket{circuit="share",le="+Inf"}') == calls,
        "the last bucket has all")
    check(database.value('breaker_state{circuit="plain",state="open"}') == 1, "plain is open")
    check(database.value('sum(breaker_state{circuit="plain"})') == 1, "a circuit is in one state")
    check(0 < database.value('breaker_retry_in_seconds{circuit="plain"}') <= 600, "plain waits for its probe")
    check(database.value('breaker_transitions_total{circuit="plain",kind="tripped"}') == 1, "plain tripped once")
    check(database.value('increase(breaker_transitions_total{circuit="plain",kind="tripped"}[1h])') > 0.9, "... of late")
    check(database.value('breaker_observing{circuit="watched"}') == 1, "watched observes")
    check(database.value('breaker_workers{store="shop"}') == 1, "one process has the store open")
    check(database.value('breaker_workers_by_version{store="shop"}') == 1, "... of one release")
    check(0 < database.value('breaker_hold_age_seconds{circuit="held",by="ann"}') < 600, "ann holds a circuit")
    check(database.value('breaker_store_up{store="gone"}') == 0, "a store that is not there is down")

    names = {labels["circuit"] for labels, _ in database.query('breaker_failures{store!="shop"}')}
    shown = {name.replace("\n", "\\u{A}").replace("\x1b", "\\u{1B}").replace("\u202e", "\\u{202E}") for name in HOSTILE}
    check(names == shown, f"hostile names arrive whole {sorted(names ^ shown) or ''}")

    with open(output, encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if line and not line.startswith("#")]
    scraped = database.value('scrape_samples_scraped{job="breakers"}')
    kept = database.value('scrape_samples_post_metric_relabeling{job="breakers"}')
    check(scraped == kept == len(lines), f"each of {len(lines)} samples is taken")
    for reason in ("duplicate_timestamp", "out_of_order", "out_of_bounds"):
        dropped = database.value(f"prometheus_target_scrapes_sample_{reason}_total")
        check(dropped == 0, f"no sample is dropped: {reason}")
    errors = [target["lastError"] for target in database.get("targets")["activeTargets"] if target["lastError"]]
    check(not errors, f"no scrape failed {errors or ''}")

    rules = [rule for group in database.get("rules")["groups"] for rule in group["rules"]]
    check(len(rules) > 0 and all(rule["health"] == "ok" for rule in rules), f"{len(rules)} rules can be evaluated")
    pending = {(alert["labels"]["alertname"], alert["labels"].get("circuit", "")) for alert in database.get("alerts")["alerts"]}
    check(("BreakerOpen", "plain") in pending, "plain is about to raise an alert")
    check(("BreakerOpen", "watched") not in pending, "watched is not: it refuses nothing")
    for title, text in dashboard_queries():
        check(len(database.query(text)) > 0, f"dashboard: {title}")


if __name__ == "__main__":
    main()

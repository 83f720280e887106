#!/usr/bin/env python3
"""Plants faults in the library, one at a time, and says which of them no test notices (docs/mutants.md).

usage: scripts/mutants.py [--only TEXT] [--count N] [--seed N] [--list]

Works in copies of this tree under .build/mutants, and keeps each result in .build/mutants/results.
"""
import argparse
import hashlib
import json
import os
import pathlib
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / ".build/mutants"
RESULTS = PLACE / "results"
COPIES = 2
# Package.swift leaves out all programs and tests that no suite below needs.
os.environ["BREAKERSTORE_LIBRARY_ALONE"] = "1"

LIBRARY = "Sources/BreakerStore/"
ANSWERS = (
    "AnswerOrderTests|DecisionCacheTests|CallDecisionTests|DecisionReadTests|RefusalTests|SQLiteBehaviourTests|StoreTests",
    "ForkUnderLoadTests|OneProcessTests|ReplacedFileTests|ReplacedIndexTests|RetiredMappingTests|TornIndexTests",
)
# So many of a folder where nothing is said: a header's fault compiles all that Swift imports it into anew.
AT_MOST = {"Header": 12}
# For each folder: its files, the suites that run for each of its mutants, and those that run for a mutant that the
# first have not noticed.
FOLDERS = {
    "Circuit": (
        ["Circuit/*.swift", "Circuit/Numbers/*.swift", "Circuit/Texts/*.swift"],
        "Circuit(Table|Rule|Rate|Outage|Extremes|Order)Tests|RulesTests|CircuitNameTests",
        "CircuitPropertyTests|EndedHoldTests|HoldTests|LateProbeTests|LinkedCircuitTests|InMemoryFallbackTests|NoVerdictTests"
        "|OutageTests|PermitTests|RandomWalkTests|RateRuleTests|RecoveryTests|ReporterTests|StampTests|StateTests"
        "|WindowTests",
    ),
    "Life": (
        ["Writer/StoreLife*.swift"],
        "DeadlineTests|LifeTableTests|LifeWalkTests|QueueTests",
        "BusyFileTests|CancellationTests|CloseTests|DynamicNameTests|FirstReportTests|HealthTests|HostileTests|IdleTests"
        "|ReserveTests|TaskReportTests",
    ),
    "Counters": (
        ["Counters/*.swift", "Counters/Lanes/*.swift", "Counters/Board/*.swift", "Counters/Windows/*.swift"],
        "BoardReaderTests|BoardTests|CircuitCountsTests|LaneTests|RingTests|ReusedCellsTests|OutsideTheWindowTests|RateRuleTests"
        "|StrangersCountsTests|CounterSavingTests|TotalsTests",
        "BoardDiskTests|BoardLossTests|BoardProcessTests|CountingThreadTests|FirstCallTests|ForeignBoardTests"
        "|LostBoardProcessTests|OverwrittenBoardTests|RateProcessTests|UnmappableBoardTests|WindowWalkTests",
    ),
    "ReadPath": (
        ["ReadPath/*.swift", "SQLite/WalIndex.swift", "ReadPath/Readers/Answers.swift"],
        *ANSWERS,
    ),
    "Header": (["../CBreakerStore/include/answers.h"], *ANSWERS),
    "Rows": (
        ["Writer/Rows/Circuits/FailureRows.swift", "Writer/Rows/Transactions/Transaction*.swift"],
        "BoundedFileTests|ColumnTests|DynamicNameTests|FailureRowsTests|FirstReportTests|StoredFailureCountTests|RandomWalkTests"
        "|ReporterTests|StampTests",
        "ClockTests|CountingTests|ForeignRowTests|ForgottenCircuitTests|HoldTests|LateOutcomeTests|LateProbeTests"
        "|LostProberTests|NameRaceTests|NamedBreakerTests|NumberEndTests|OneProcessTests|RecoveryTests|SameDateTests"
        "|StateTests|WindowTests",
    ),
    "Plan": (
        ["Opening/OpeningPlan.swift", "Opening/OpeningFacts+Finding.swift"],
        "OpeningPlanTests|OpeningPlanRangeTests",
        "BadPathTests|LiveStrangerTests|NewFileTests|QuarantineTests|TornStoreTests",
    ),
    "Opening": (
        ["Opening/[CJQR]*.swift", "Opening/Opening.swift", "Opening/Opening+Files.swift", "Opening/OpeningFacts.swift"],
        "BadPathTests|CutCreationTests|NewFileTests|OpeningPatienceTests|QuarantineTests|RemovedFileTests"
        "|ReplacedFileTests|SchemaVersionTests|SquatterTests|TornIndexTests|TornStoreTests",
        "CallDecisionTests|FileModeTests|FilesOfOthersTests|ForeignRowTests|KilledCreationTests|LiveSchemaTests"
        "|LiveStrangerTests|OtherKernelTests|ReadOnlyFollowTests|RemovedLockTests|ReserveTests|SharedByUsersTests"
        "|SideFileLinkTests|SparseFileTests|SpecialFileTests",
    ),
}


# MARK: - Which faults there are

# Comments and literals, of which a multi-line one keeps its lines.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)
MODIFIERS = r"(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:\w+\(set\)|[a-z]+)\s+)*?"
DECLARATION = re.compile(
    rf"\s*(?:#|@\w+(?:\([^)]*\))?\s*$|{MODIFIERS}"
    r"(?:func|struct|class|enum|extension|protocol|import|typealias|init|deinit|subscript|associatedtype|case\s+\w)\b)"
)
OPERATORS = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " + ": " - ", " - ": " + ", " &+ ": " &- ",
    " &- ": " &+ ", " += ": " -= ", " &+= ": " &-= ", " && ": " || ", " || ": " && ", " == ": " != ", " != ": " == ",
    " === ": " !== ", " !== ": " === ", "..<": "...", "min(": "max(", "max(": "min(", " & ": " | ", " | ": " & ",
}
OPERATOR = re.compile("|".join(re.escape(text) for text in sorted(OPERATORS, key=len, reverse=True)))
NUMBER = re.compile(r"(?<![\w.$])\d[\d_]*(?![\w.])")
TRUTH = re.compile(r"\b(?:true|false)\b")
# A call or an assignment, whole in its line.
STATEMENT = re.compile(
    r"(\s+)((?:(?:try|await|unsafe)\s+|_ = (?:try |unsafe )*)*[a-zA-Z_][\w.!?]*(?:\[[^\]]*\])?"
    r"(?:\s[-+*&|]?=\s.+|\(.*\)|\.\w+\(.*\)|\.\w+ \{.*\}))$"
)
C_STATEMENT = re.compile(r"(\s+)(\w[\w>.\[\]-]*(?:\s[-+|^]?=\s.+|\(.*\)));$")
LEAVING = re.compile(r"(\s+)(continue|break|return|return \S.*)$")
CLOSES = {"(": ")", "[": "]", "{": "}"}


def without_noise(text):
    """The text with comments and literals as blanks: each character where it was."""
    return NOISE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def is_balanced(text):
    return all(text.count(opening) == text.count(closing) for opening, closing in CLOSES.items())


def conditions(line, is_c):
    """Where the conditions of an `if` or a `guard` of one line begin and end, but for those that bind a name."""
    found = re.match(r"\s*(?:\} else )?(if|guard) ", line)
    if not found:
        return
    start = found.end()
    if is_c:
        depth = 0
        for place in range(start, len(line)):
            depth += {"(": 1, ")": -1}.get(line[place], 0)
            if depth == 0:
                yield start + 1, place
                return
        return
    end = line.find(" else {", start) if found[1] == "guard" else line.find(" {", start)
    # A closure, or more lines.
    if end < 0 or not is_balanced(line[start:end]):
        return
    depth = 0
    for place in range(start, end + 1):
        if place == end or (line[place] == "," and depth == 0):
            if not re.match(r"\s*(?:let|var|case|#)\b", line[start:place]):
                yield start + len(line[start:place]) - len(line[start:place].lstrip()), place
            start = place + 1
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(line[place], 0)


def faults(text, is_c):
    """All faults of a file, each as the number of its line, its kind, and what is where in the line by what replaced."""
    lines = without_noise(text).split("\n")
    depth = 0
    for index, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith(("#if", "#endif")):
            depth += 1 if bare.startswith("#if") else -1
        if depth or not bare or DECLARATION.match(line):
            continue
        # In C a function of our headers may be one line.
        if is_c and re.match(r"(?:static|extern|enum|typedef|\S+ \w+\()", line) and "return" not in line:
            continue
        for found in OPERATOR.finditer(line):
            yield index, "operator", found.start(), found.end(), OPERATORS[found[0]]
        for found in NUMBER.finditer(line):
            yield index, "constant", found.start(), found.end(), str(int(found[0].replace("_", "")) + 1)
        for found in TRUTH.finditer(line):
            yield index, "constant", found.start(), found.end(), "false" if found[0] == "true" else "true"
        for start, end in conditions(line, is_c):
            yield index, "condition", start, end, "!({})"
        before = next((lines[place].strip() for place in range(index - 1, -1, -1) if lines[place].strip()), "")
        after = next((other.strip() for other in lines[index + 1:] if other.strip()), "")
        yield from dropped(index, line, before, after, is_c)


def dropped(index, line, before, after, is_c):
    """The statement of a line, left out."""
    nothing = ";" if is_c else "_ = ()"
    body = re.search(r"\{ ([^{}]+) \}$", line)
    if body and re.match(r"\s*(?:\} else )?if ", line):
        yield index, "statement", body.start(1), body.end(1), nothing
    if is_c and re.match(r"\s+if \(.*;$", line):
        yield index, "statement", len(line) - len(line.lstrip()), len(line), nothing
    # Part of a statement of several lines.
    if re.search(r"(?:[(\[,=?:+&|]|\breturn|\belse)$", before) and not re.match(r"(?:case|default)\b", before):
        return
    if re.match(r"[.?:+&|)\]]|\?\?", after):
        return
    found = (C_STATEMENT if is_c else STATEMENT).match(line)
    if found and is_balanced(line) and not re.match(r"(?:return|throw|if|for|while|switch|let|var)\b", found[2]):
        # The first value of a property, which every initializer must give; or the value of a function, a property or
        # a closure.
        is_first = re.search(r"^self\.(\w+) = \1$", line.strip())
        is_value = after == "}" and re.search(r"->.*\{$|\bvar\b.*\{$|\bin$|\bget \{$", before)
        if not is_first and not is_value:
            yield index, "statement", found.start(2), len(line), nothing
    found = LEAVING.match(line)
    if found and not is_c and is_balanced(line) and not re.search(r"\belse \{$|^guard\b", before):
        if found[2] in ("continue", "return") or before.startswith("if "):
            yield index, "statement", found.start(2), len(line), nothing


def mutants_of(folder, path):
    text = path.read_text()
    lines = text.split("\n")
    name = os.path.relpath(path, ROOT)
    for index, kind, start, end, by in faults(text, path.suffix == ".h"):
        line = lines[index]
        by = by.format(line[start:end]) if kind == "condition" else by
        changed = "\n".join(lines[:index] + [line[:start] + by + line[end:]] + lines[index + 1:])
        yield {
            "id": hashlib.sha1(f"{name}\n{changed}".encode()).hexdigest()[:16],
            "folder": folder, "file": name, "line": index + 1, "kind": kind,
            "was": line.strip(), "now": (line[:start] + by + line[end:]).strip(), "text": changed,
        }


def chosen(only, count, seed):
    """So many mutants in an order that the seed gives, a folder after the other, so that any number is spread."""
    queues = []
    for folder, (globs, _, _) in FOLDERS.items():
        paths = sorted({path.resolve() for glob in globs for path in (ROOT / LIBRARY).glob(glob)})
        all_of_it = [mutant for path in paths for mutant in mutants_of(folder, path)]
        random.Random(f"{seed} {folder}").shuffle(all_of_it)
        queues.append([each for each in all_of_it if only in f"{folder} {each['file']}:{each['line']}:"])
        if not only:
            del queues[-1][AT_MOST.get(folder, len(all_of_it)):]
    order = [mutant for place in range(max(map(len, queues))) for row in queues for mutant in row[place:place + 1]]
    return order[:count], len(order)


# MARK: - A copy in which they are tried

def tree():
    """The files of this tree that a build reads, and a number that tells whether they have changed."""
    said = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "Package.swift", "Migrations", "Sources",
         "Tests", "Demo", "docs", "README.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in said.split("\0") if name and (ROOT / name).is_file()]


class Copy:
    """A copy of the tree with a build of its own, which changes one file at a time."""

    def __init__(self, number):
        self.root = PLACE / str(number)
        self.changed = None
        self.running = None

    def start(self, *command, **options):
        # A session of its own: Ctrl-C ends this program alone, which then ends what runs, and does not take that end
        # for a result.
        self.running = subprocess.Popen(
            command, cwd=self.root, text=True, errors="replace", start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        return self.running

    def bring_up_to_date(self, names):
        """Writes only what differs, which is all that the next build compiles."""
        for name in names:
            there, here = self.root / name, ROOT / name
            if not there.exists() or there.read_bytes() != here.read_bytes():
                there.parent.mkdir(parents=True, exist_ok=True)
                there.write_bytes(here.read_bytes())
        for folder in ("Sources", "Tests", "Migrations"):
            for path in (self.root / folder).rglob("*"):
                if path.is_file() and str(path.relative_to(self.root)) not in names:
                    path.unlink()

    def put(self, mutant):
        self.restore()
        self.changed = mutant["file"]
        (self.root / self.changed).write_text(mutant["text"])

    def restore(self):
        """The file gets a new time, too: by an old one the compiler would take the fault's object file for this one's."""
        if self.changed:
            (self.root / self.changed).write_bytes((ROOT / self.changed).read_bytes())
        self.changed = None

    def build(self):
        """None, or what the compiler said."""
        build = self.start("swift", "build", "--build-tests", "-j", "1")
        said = build.communicate()[0].split("\n")
        errors = [line for line in said if "error: " in line]
        return None if build.returncode == 0 else (errors or said[-3:])[0]

    def test(self, suites, limit):
        """How it ended, and the first test that failed: `killed`, `hung`, or `survived`."""
        scratch = tempfile.mkdtemp(prefix="mutant.")
        tests = self.start(
            "swift", "test", "--skip-build", "--parallel", "--experimental-maximum-parallelization-width", "4",
            "--filter", rf"BreakerStoreTests\.({suites})/", env={**os.environ, "TMPDIR": scratch},
            preexec_fn=limit_memory)
        is_over = threading.Event()

        def give_up():
            is_over.set()
            end_all(tests)

        timer = threading.Timer(limit, give_up)
        timer.start()
        ran = False
        try:
            for line in tests.stdout:
                ran = ran or re.search(r"Test run with [1-9]", line)
                found = re.search(r"Test (\S+.*?) recorded an issue.*? at (\S+?):", line)
                if found:
                    return "killed", f"{found[2]} {found[1]}"
            code = tests.wait()
            if is_over.is_set():
                return "hung", None
            return ("survived", None) if code == 0 and ran else ("killed", f"the tests ended with {code}")
        finally:
            timer.cancel()
            end_all(tests)
            tests.stdout.close()
            shutil.rmtree(scratch, ignore_errors=True)


def end_all(process):
    """Ends the process and all that it has started, which have process groups of their own."""
    if process.poll() is not None:
        return
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    ids = [process.pid]
    for parent in ids:
        ids += [child for child, of in pairs if of == parent]
    for each in ids:
        try:
            os.kill(each, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def limit_memory():
    # A fault may make a loop that never ends take memory.
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


# MARK: - The run

def known_result(mutant, tests):
    """A fault that a test noticed stays noticed; one that none did is tried again when a test has changed."""
    path = RESULTS / f"{mutant['id']}.json"
    if not path.exists():
        return None
    result = json.loads(path.read_text())
    return None if result["outcome"] == "survived" and result["tests"] != tests else result


def run(mutants, tests, names):
    waiting = queue.Queue()
    for mutant in mutants:
        waiting.put(mutant)
    copies = [Copy(number) for number in range(1, COPIES + 1)]
    limits, problems, lock = {}, [], threading.Lock()

    def prepare(copy):
        copy.bring_up_to_date(names)
        error = copy.build()
        if error:
            problems.append(f"the tree does not build: {error}")

    def base(folder, copy):
        """The suites pass without a fault, or they would notice anything."""
        for stage, suites in enumerate(FOLDERS[folder][1:]):
            begun = time.monotonic()
            outcome, by = copy.test(suites, 1200)
            seconds = time.monotonic() - begun
            print(f"{folder}: without a fault {'more' if stage else 'its'} suites take {seconds:.0f} s", flush=True)
            limits[folder, stage] = max(120, 6 * seconds)
            if outcome != "survived":
                problems.append(f"{folder}: a test fails without a fault: {by or 'hung'}")

    def try_all(copy):
        while not problems:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            begun = time.monotonic()
            copy.put(mutant)
            error = copy.build()
            built = time.monotonic()
            outcome, by = ("not built", error) if error else ("survived", None)
            for stage, suites in enumerate(FOLDERS[mutant["folder"]][1:]):
                if outcome == "survived":
                    outcome, by = copy.test(suites, limits[mutant["folder"], stage])
            if problems:
                return
            result = {key: value for key, value in mutant.items() if key != "text"}
            result |= {"outcome": outcome, "by": by, "tests": tests,
                       "built_in": round(built - begun, 1), "tested_in": round(time.monotonic() - built, 1)}
            (RESULTS / f"{mutant['id']}.json").write_text(json.dumps(result, indent=1) + "\n")
            with lock:
                print(f"{outcome:9} {result['built_in']:5.0f} + {result['tested_in']:3.0f} s  {said(result)}"
                      + (f"\n          by {by}" if outcome == "killed" else ""), flush=True)
        copy.restore()

    try:
        in_threads(prepare, [(copy,) for copy in copies])
        folders = sorted({mutant["folder"] for mutant in mutants})
        for place in range(0, 0 if problems else len(folders), COPIES):
            in_threads(base, list(zip(folders[place:place + COPIES], copies)))
        in_threads(try_all, [(copy,) for copy in copies])
    except KeyboardInterrupt:
        problems.append("stopped; the next run goes on")
        for copy in copies:
            end_all(copy.running)
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    return not problems


def in_threads(work, arguments):
    threads = [threading.Thread(target=work, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def said(result):
    where = result["file"].removeprefix(LIBRARY)
    return f"{where}:{result['line']}  {result['was']}  ->  {result['now']}"


def report(results, asked):
    print(f"\n{'folder':10} {'killed':>6} {'of':>5} {'score':>6}   hung  not built")
    for folder in [*FOLDERS, "all"]:
        own = [each for each in results if folder in (each["folder"], "all")]
        if not own:
            continue
        count = {name: sum(each["outcome"] == name for each in own) for name in ("killed", "hung", "not built")}
        built = len(own) - count["not built"]
        killed = count["killed"] + count["hung"]
        score = f"{100 * killed / built:.0f} %" if built else "-"
        print(f"{folder:10} {killed:6} {built:5} {score:>6} {count['hung']:6} {count['not built']:10}")
    print(f"{len(results)} of {asked} run\n\nNo test noticed:")
    for each in sorted(results, key=lambda each: (each["file"], each["line"])):
        if each["outcome"] == "survived":
            print(f"  {said(each)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="a folder, or part of FILE:LINE:")
    parser.add_argument("--count", type=int, default=330)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the faults, and try none")
    options = parser.parse_args()
    mutants, known = chosen(options.only, options.count, options.seed)
    if options.list:
        for mutant in mutants:
            print(f"{mutant['kind']:9} {said(mutant)}")
        print(f"{len(mutants)} of {known}")
        return 0
    names = tree()
    tests = hashlib.sha1(b"".join((ROOT / name).read_bytes() for name in names if name.startswith("Tests"))).hexdigest()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    RESULTS.mkdir(parents=True, exist_ok=True)
    left = [mutant for mutant in mutants if known_result(mutant, tests) is None]
    passed = True
    try:
        passed = not left or run(left, tests, names)
    finally:
        report([each for each in (known_result(mutant, tests) for mutant in mutants) if each], len(mutants))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

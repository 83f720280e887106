.DEFAULT_GOAL := help
.PHONY: help setup fleet demo demo-fleet test test-all test-fleet nights trait-check prometheus browser torture mutants upgrade versions filesystems fuzz tsan coverage bench bench-inspect install uninstall deb deb-check lint docs api api-check clean bench-fleet nightly

# Each target makes sure that this machine has what the target needs, and no more: scripts/setup.sh has the purposes.

# More for what is run, e.g. `make test FLAGS=--enable-code-coverage` or `make bench FLAGS=--json`.
FLAGS :=

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-19s %s\n", $$1, $$2 }'

setup: ## install what is missing to build and test, Swift apart
	@scripts/setup.sh

demo: ## show four processes sharing a circuit, beside four that do not, and check what is shown
	@scripts/setup.sh build
	@scripts/demo.sh

demo-fleet: ## show three hosts sharing a circuit through a PostgreSQL that they start, beside three that do not
	@scripts/setup.sh fleet-demo
	@scripts/demo-fleet.sh

test: setup ## run the quick tests: all but the suites that scripts/test.sh names
	@scripts/test.sh --quick $(FLAGS)

test-all: setup ## run all tests
	@scripts/test.sh $(FLAGS)

# Which part, and for how many seconds each: `make torture PART=kill DURATION=60 SEED=7`. All of it by default.
# `fleet`, which needs PostgreSQL, runs when it is asked for: `make torture PART=fleet`.
# Of `hostile`, ONLY='text' repeats the cases whose names hold that; of `block` it names a file system, of `counts` a
# scene, of `fleet` rounds, as 7 or 7-12. SHORT=1 runs what the tests run. Of `power` and `block`, WITHOUT=trip-sync
# leaves out syncs, which they must notice; of `histories`, WITHOUT=stale-answer, lost-failure, second-probe or late-result
# makes its callers do wrong, which it must notice. In `kill` and `stale`, SQLITE='FOLDER FOLDER' makes each process load the
# libsqlite3.so.0 of one of these.
PART :=
DURATION :=
SEED :=
ONLY :=
SHORT :=
WITHOUT :=
SQLITE :=

# The part `fleet` needs libpq: it is built with the trait PostgreSQL, in a folder of its own.
FLEET := $(filter fleet,$(PART))

torture: ## break stores on purpose, for long
	@scripts/setup.sh torture $(if $(FLEET),fleet-demo)
	@swift run $(if $(FLEET),--traits PostgreSQL --scratch-path .build/fleet) breaker-torture $(if $(PART),--part $(PART)) $(if $(DURATION),--duration $(DURATION)) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only '$(ONLY)') $(if $(SHORT),--short) $(if $(WITHOUT),--without $(WITHOUT)) $(foreach folder,$(SQLITE),--sqlite '$(folder)')

# Which releases: `make upgrade RELEASES="0.5.0"`.
RELEASES := 0.5.0 0.5.1 0.6.0 0.6.1

upgrade: ## move files of earlier releases to this one's schema
	@scripts/setup.sh python
	@scripts/upgrade.py $(RELEASES)

# Which, how many, and in which order: `make mutants ONLY=Circuit COUNT=40 SEED=1`; ONLY=Gate.swift:42: repeats one line's.
COUNT :=

mutants: setup ## plant faults in the library, one at a time, and say which no test notices (docs/mutants.md)
	@scripts/mutants.py $(if $(ONLY),--only '$(ONLY)') $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

# The folder that has a folder for each version, with its sqlite3.h and libsqlite3.so.0 (scripts/versions.sh).
SQLITES :=

versions: setup ## hold the library against versions of SQLite, and let processes with different ones share a file
	@scripts/versions.sh "$(SQLITES)" $(DURATION)

# Which ones: `make filesystems KINDS="ext4 btrfs"`. All of them by default.
KINDS :=

filesystems: ## as root: run what depends on the file system on ext4, xfs, btrfs, overlay and tmpfs
	@scripts/setup.sh torture
	@scripts/filesystems.sh $(KINDS)

# For how many seconds each, and what: `make fuzz DURATION=1800 TARGET="log rows"`.
TARGET :=

fuzz: ## feed bytes that libFuzzer makes up to all that reads bytes
	@scripts/setup.sh build
	@scripts/fuzz.sh "$(or $(DURATION),60)" $(TARGET)

tsan: setup ## run the tests under the thread sanitizer, but those that it slows down beyond use
	@scripts/tsan.sh

test-fleet: ## run the tests of BreakerFleet, with the trait PostgreSQL and a server of their own
	@scripts/setup.sh fleet
	@scripts/test-fleet.sh $(FLAGS)

# Which incidents: `make nights NUMBERS="2 6"`; `FLAGS=--print` shows the screens.
NUMBERS :=

nights: ## as root: play eleven incidents, and check what on-call then sees at 80 columns
	@scripts/setup.sh python fleet-demo
	@scripts/nights.py $(FLAGS) $(NUMBERS)

trait-check: ## build as a user without libpq does, and check that nothing is said of it
	@scripts/setup.sh build
	@scripts/trait-check.sh

prometheus: ## have a real Prometheus read the metrics, the alert rules and the dashboard
	@scripts/setup.sh python
	@scripts/prometheus.py

browser: ## have a real browser show a report of a store with hostile texts
	@scripts/setup.sh python
	@scripts/browser.py

coverage: setup ## run all tests, print the line coverage of the library, fail under 90 %
	@scripts/test.sh --enable-code-coverage
	@scripts/coverage.sh

bench: ## print the figures of the benchmarks, fail when a count is over its limit
	@scripts/setup.sh build
	@swift run -c release --package-path Benchmarks breaker-bench $(FLAGS)

bench-inspect: ## print time and memory of breaker-inspect, fail when memory is over its limit
	@scripts/setup.sh python
	@scripts/bench-inspect.py $(FLAGS)

bench-fleet: ## print what a fleet of 50 hosts costs, fail when statements or probes at once are over their limit
	@scripts/setup.sh python fleet-demo
	@scripts/bench-fleet.sh $(DURATION)

# On Linux with Swift linked in: what is installed needs SQLite alone, and libpq if it is breaker-fleet.
RELEASE = swift build -c release $(if $(filter Linux,$(shell uname)),--static-swift-stdlib)

# The trait is in the flags of every module, so that its builds have a folder of their own.
fleet: ## build breaker-fleet, which joins hosts through PostgreSQL and needs libpq, in .build/fleet
	@scripts/setup.sh fleet-build
	@$(RELEASE) --traits PostgreSQL --scratch-path .build/fleet --product breaker-fleet

PREFIX := /usr/local
# A breaker-inspect and a breaker-fleet that are built already: with any of them `make install` builds none.
PROGRAM :=
FLEET_PROGRAM :=

install: ## build breaker-inspect, and breaker-fleet where libpq is, and install them into PREFIX with their manual pages
ifeq ($(PROGRAM)$(FLEET_PROGRAM),)
	@scripts/setup.sh build
	@$(RELEASE) --scratch-path .build/static --product breaker-inspect
	@scripts/install.sh .build/static/release/breaker-inspect '$(DESTDIR)$(PREFIX)'
	@if scripts/setup.sh has-libpq; then \
		$(MAKE) fleet && scripts/install.sh .build/fleet/release/breaker-fleet '$(DESTDIR)$(PREFIX)'; \
	else echo "install: breaker-fleet is left out, for libpq is not here (Debian's package is libpq-dev)" >&2; fi
else
	@scripts/install.sh $(if $(PROGRAM),'$(PROGRAM)') $(if $(FLEET_PROGRAM),'$(FLEET_PROGRAM)') '$(DESTDIR)$(PREFIX)'
endif

uninstall: ## take away from PREFIX what `make install` has put there
	@scripts/install.sh --remove '$(DESTDIR)$(PREFIX)'

deb: ## make the Debian packages of the programs in .build/deb
	@scripts/setup.sh build
	@scripts/deb.sh

deb-check: ## as root: make the Debian packages, and try them in a bare Debian
	@scripts/setup.sh python fleet-build
	@scripts/deb-check.sh

lint: ## check format and layout
	@scripts/setup.sh python
	@scripts/lint.sh

docs: ## build the documentation into .build/docs
	@scripts/setup.sh build
	@scripts/docs.sh

api: docs ## write the public declarations into docs/api.txt
	@scripts/setup.sh python
	@scripts/api.py --write

api-check: docs ## hold the public declarations against docs/api.txt
	@scripts/setup.sh python
	@scripts/api.py

# Which parts: `make nightly PARTS="tsan upgrade"`; `scripts/nightly.sh --list` names them.
PARTS :=

nightly: ## run all that .ci/run has no time for, which takes hours; as root, for some of it
	@scripts/setup.sh tests fleet-build
	@scripts/nightly.sh $(PARTS)

clean: ## remove all build products
	@rm -rf .build Benchmarks/.build

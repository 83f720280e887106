"""Tries to have a store for itself alone: take_alone.py STORE

Prints what SQLite makes of the modes that need it. A process that lives beside the store keeps its lock on the database:
then the journal's mode can't change.
"""

import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1], timeout=1, isolation_level=None)
for mode in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE"):
    try:
        print(connection.execute(f"PRAGMA {mode}").fetchone()[0])
    except sqlite3.OperationalError as error:
        print(error)

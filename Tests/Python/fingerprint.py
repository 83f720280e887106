"""Holds the fingerprints of rules that a store has against those that docs/store-format.md says how to make.

Only the standard library is used. Prints the name of each circuit that has a fingerprint, and whether it is the same.

usage: fingerprint.py DOCUMENT DATABASE
"""

import re
import sqlite3
import struct
import sys

COLUMNS = """name, rules_of, label, trip_rule, trip_count, trip_window, recovery, recovery_cap, probe_lease, probe_limit,
probe_successes, minimum_reporters, recovery_multiplier, recovery_jitter"""

with open(sys.argv[1], encoding="utf-8") as document:
    block = re.search(r"```python\n(.*?)```", document.read(), re.DOTALL).group(1)
known = {"struct": struct}
exec(block, known)
database = sqlite3.connect(sys.argv[2])
for row in database.execute(f"SELECT {COLUMNS} FROM circuit WHERE rules_of IS NOT NULL ORDER BY name"):
    made = known["fingerprint"](*row[2:12], multiplier=row[12], jitter=row[13])
    print(row[0], made == row[1])

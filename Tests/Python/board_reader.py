"""Prints what the board of a store says, as JSON; written after docs/store-format.md, "The board".

Only the standard library is used, and nothing is written.

usage: board_reader.py BOARD [UPTIME EPOCH WINDOW]
"""

import json
import os
import struct
import sys

WORD = (1 << 64) - 1
SIZES = {1: 128, 2: 192, 3: 1024, 4: 64}
FIRST = {1: 64, 2: 64, 3: 8, 4: 1024}
MOST = {1: 1 << 15, 2: 1 << 14, 3: 1 << 12, 4: 1 << 16}
TOTALS = ["succeeded", "failed", "slow", "ignored", "refused", "lateFailed", "lateSlow", "lateSucceeded"]


class Unusable(Exception):
    """The file is no board."""


def rol(word, bits):
    return (word << bits | word >> (64 - bits)) & WORD


def check(a, b, c, d):
    s = (a + 0x9E3779B97F4A7C15 & WORD) * 0xD6E8FEB86659FD93 & WORD
    s ^= (rol(b, 17) + 0xBF58476D1CE4E5B9 & WORD) * 0xA24BAED4963EE407 & WORD
    s ^= (rol(c, 31) + 0x94D049BB133111EB & WORD) * 0x9FB21C651E98DF25 & WORD
    s ^= (rol(d, 47) + 0x2545F4914F6CDD1D & WORD) * 0xC2B2AE3D27D4EB4F & WORD
    s = (s ^ s >> 29) * 0xE7037ED1A0B428DB & WORD
    return (s ^ s >> 32) | 1


def mix(key):
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & WORD
    key = (key ^ key >> 27) * 0x94D049BB133111EB & WORD
    return key ^ key >> 31


class Board:
    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        header = self.words(0, 512)
        if header[0] != struct.unpack("=Q", b"BrkBoard")[0] or header[1] != 1 or header[5] != check(*header[1:5]):
            raise Unusable("the header is no board's")
        self.boot, self.birth, self.number = header[2:5]
        self.segments = []
        capacities, place = dict(FIRST), 4096
        if header[6] > 252:
            raise Unusable("too many segments")
        for index in range(header[6]):
            offset, described = header[8 + index * 2 : 10 + index * 2]
            kind, capacity = described & 255, described >> 8
            place = (place + 65535) // 65536 * 65536
            if kind not in SIZES or offset != place or capacity != capacities[kind]:
                raise Unusable("a segment lies elsewhere")
            capacities[kind] = min(capacity * 2, MOST[kind])
            place += capacity * SIZES[kind]
            self.segments.append((kind, offset, capacity))
        if place > os.fstat(self.file).st_size:
            raise Unusable("the file is cut")

    def words(self, offset, count):
        data = os.pread(self.file, count * 8, offset)
        if len(data) != count * 8:
            raise Unusable("the file is cut")
        return struct.unpack(f"={count}Q", data)

    def cells(self, wanted):
        for kind, offset, capacity in self.segments:
            size = SIZES[kind] // 8
            for place in range(capacity if kind == wanted else 0):
                cell = self.words(offset + place * size * 8, size)
                if cell[0]:
                    yield cell

    def cell(self, wanted, key):
        """The cell of a key, found as workers find it."""
        for kind, offset, capacity in self.segments:
            for step in range(16 if kind == wanted else 0):
                cell = self.words(offset + (mix(key) + step) % capacity * SIZES[kind], SIZES[kind] // 8)
                if cell[0] == key:
                    return cell
                if cell[0] == 0:
                    return None
        return None

    def window(self, totals, key, uptime, epoch, window):
        """What the window of failures holds: bad, good, or nothing that is known."""
        ring = self.cell(3, key)
        looks = [ring[6 + index * 5 : 11 + index * 5] for index in range(18)] if ring else []
        looks = [look for look in looks if check(*look[:4]) == look[4] and look[1] == epoch and look[0] <= uptime]
        if not looks:
            return None
        start = uptime - window
        if max(look[0] for look in looks) <= uptime - 2 * window:
            return [0, 0]
        bad = [look[2] for look in looks if look[0] >= start]
        good = [look[3] for look in looks if look[0] <= start]
        return [
            totals["failed"] - min(bad) if bad else 0,
            totals["succeeded"] - (max(good) if good else min(look[3] for look in looks)),
        ]


def main(path, *question):
    board = Board(path)
    told = {"boot": board.boot, "birth": board.birth, "number": board.number, "circuits": {}, "degraded": {}}
    for cell in board.cells(1):
        totals = dict(zip(TOTALS, cell[1:9]))
        if cell != board.cell(1, cell[0]):
            raise Unusable("a cell is not where its key says")
        durations = board.cell(2, cell[0])
        if durations:
            totals["durations"], totals["durationSum"] = durations[1:17], durations[17]
        if question:
            totals["window"] = board.window(totals, cell[0], *question)
        told["circuits"][cell[0]] = totals
    for cell in board.cells(4):
        if cell[2] == check(cell[0], cell[1], 0, 0):
            reason = cell[3] if cell[4] == check(cell[0], cell[1], cell[3], 0) else 0
            told["degraded"][cell[0]] = {"since": cell[1], "reason": reason}
    print(json.dumps(told))


try:
    main(sys.argv[1], *map(int, sys.argv[2:]))
except (Unusable, OSError) as error:
    sys.exit(f"{sys.argv[1]}: {error}")

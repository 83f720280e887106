"""Prints what the board of a store says, as JSON; written after docs/store-format.md, "The board".

Only the standard library is used, and nothing is written.

usage: board_reader.py BOARD [UPTIME STRETCH WINDOW]
"""

import json
import os
import struct
import sys

WORD = (1 << 64) - 1
WORDS = {1: 8, 2: 20, 3: 37, 4: 8, 5: 34}
TOTALS = ["succeeded", "failed", "slow", "ignored", "refused"]


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
        if header[0] != struct.unpack("=Q", b"BrkBoard")[0] or header[1] != 2 or header[5] != check(*header[1:5]):
            raise Unusable("the header is no board's")
        self.boot, self.incarnation, self.number = header[2:5]
        self.segments = []
        place = 4096
        if header[6] > 252:
            raise Unusable("too many segments")
        for index in range(header[6]):
            offset, described = header[8 + index * 2 : 10 + index * 2]
            kind, words, capacity = described & 255, described >> 8 & 255, described >> 16
            place = (place + 65535) // 65536 * 65536
            if offset != place or not capacity or capacity & capacity - 1 or words != WORDS.get(kind, words):
                raise Unusable("a segment lies elsewhere")
            place += capacity * words * 8
            # One of a kind that this program does not know is passed over.
            if kind in WORDS:
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
            for place in range(capacity if kind == wanted else 0):
                cell = self.words(offset + place * WORDS[kind] * 8, WORDS[kind])
                if cell[0]:
                    yield cell

    def cell(self, wanted, first, second):
        """The cell of a key, found as workers find it."""
        for kind, offset, capacity in self.segments:
            for step in range(16 if kind == wanted else 0):
                place = (mix(first + second * 0x9E3779B97F4A7C15 & WORD) + step) % capacity
                cell = self.words(offset + place * WORDS[kind] * 8, WORDS[kind])
                if cell[:2] == (first, second):
                    return cell
        return None

    def window(self, incarnation, uptime, generation, window):
        """What the window of failures holds: bad and good; nothing if it was never counted in."""
        length = max(-(-window // 16), 10_000)
        ring = self.cell(3, incarnation, length)
        if not ring:
            return None
        tick = uptime // length + 18 * generation

        def sum_of(words):
            total = 0
            for word in words:
                behind = tick - (word >> 28) & (1 << 36) - 1
                behind -= behind >> 35 << 36
                if word and -1 <= behind <= -(-window // length):
                    total += word & (1 << 28) - 1
            return total

        return [sum_of(ring[3:20]), sum_of(ring[20:37])]


def main(path, *question):
    board = Board(path)
    told = {"boot": board.boot, "incarnation": board.incarnation, "number": board.number, "circuits": {}, "degraded": {}}
    for cell in board.cells(1):
        totals = dict(zip(TOTALS, cell[2:7]))
        if cell != board.cell(1, *cell[:2]):
            raise Unusable("a cell is not where its key says")
        durations = board.cell(2, *cell[:2])
        if durations:
            totals["durations"], totals["durationSum"] = durations[2:18], durations[18]
        if question:
            totals["window"] = board.window(cell[0], *question)
        told["circuits"][cell[0]] = totals
    for cell in board.cells(4):
        if cell[3] == check(*cell[:3], 0):
            told["degraded"][cell[0]] = {"since": cell[1], "reason": cell[2]}
    print(json.dumps(told))


try:
    main(sys.argv[1], *map(int, sys.argv[2:]))
except (Unusable, OSError) as error:
    sys.exit(f"{sys.argv[1]}: {error}")

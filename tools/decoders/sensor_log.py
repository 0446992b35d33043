#!/usr/bin/env python3
"""Prints the readings of a sensor log as CSV, from docs/format/ordered-index.md and sensor-log.md alone.

sensor_log.py IMAGE: the image file of a simulated NOR part whose log was stopped.
"""

import datetime

import part
from part import Damaged, up_to

IDENTITY_BYTES, FIRST_CELL = 32, 48
BATCH_LEVEL = 15


def zeros(data):
    return sum(8 - byte.bit_count() for byte in data)


def crc16(data):
    """CRC-16/IBM-SDLC."""
    register = 0xFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x8408 if register & 1 else 0)
    return register ^ 0xFFFF


def number(data, at, length):
    return int.from_bytes(data[at : at + length], "little")


class Settings:
    """What the identity of every block says, and where the fields of a cell follow from it."""

    def __init__(self, identity, program_unit):
        self.key_bytes, self.value_bytes = identity[5], identity[6]
        self.blocks_of_turnstile, self.levels, self.slots, _, self.pool = identity[7:12]
        field = min(max(program_unit, 2), 4)
        self.low_key = up_to(2, field)
        header = self.low_key + up_to(self.key_bytes, field)
        self.bitmap = header + up_to(10, field)
        pool = self.bitmap + up_to(-(-self.slots // 8), field)
        self.first_slot = pool + 4 * self.pool
        self.slot_bytes = up_to(self.key_bytes + self.value_bytes + 2, field)
        self.cell_bytes = self.first_slot + self.slots * self.slot_bytes


def identity_of(nor, block):
    """A block's identity; None if it is not whole."""
    start = block * nor.unit_bytes
    identity = nor.cells[start : start + IDENTITY_BYTES]
    whole = number(identity, 28, 2) == zeros(identity[:28]) and number(identity, 30, 2) == crc16(identity[:28])
    return identity if whole and identity[:5] == b"NFAT\1" else None


def cells(nor):
    """The settings and the bytes of each cell of the blocks that are in use."""
    for block in range(nor.units):
        identity, start = identity_of(nor, block), block * nor.unit_bytes
        if identity is None or any(nor.cells[start + 44 : start + 48]):
            continue
        settings = Settings(identity, nor.program_unit)
        for at in range(start + FIRST_CELL, start + nor.unit_bytes - settings.cell_bytes + 1, settings.cell_bytes):
            yield settings, nor.cells[at : at + settings.cell_bytes]


def readings(nor):
    """Seconds and thousandths of every slot that counts, by seconds."""
    found = {}
    if all(identity_of(nor, block) is None for block in range(nor.units)):
        raise Damaged("no block of a sorted map")
    for settings, cell in cells(nor):
        stamp = number(cell, 0, 2)
        level, kind, flags = stamp & 15, stamp >> 8 & 3, stamp >> 12
        if kind == 0 or level == BATCH_LEVEL or flags & 1 or not flags & 8:
            continue  # the head, a batch, not complete, or dead
        for slot in range(settings.slots):
            at = settings.first_slot + slot * settings.slot_bytes
            data = cell[at : at + settings.key_bytes + settings.value_bytes]
            code = number(cell, at + len(data), 2)
            counts = cell[settings.bitmap + slot // 8] >> slot % 8 & 1
            if not counts or data + code.to_bytes(2, "little") == b"\xff" * (len(data) + 2):
                continue
            if code & 1023 != zeros(data) or code >> 10 != crc16(data) & 63:
                raise Damaged(f"slot {slot} of the cell of {cell[settings.low_key:][:4].hex()}: its code is wrong")
            found[int.from_bytes(data[:4], "big")] = int.from_bytes(data[4:], "little", signed=True)
    return sorted(found.items())


def main():
    options = part.arguments(__doc__, part.NOR_GEOMETRY, "IMAGE").parse_args()
    part.run("sensor_log.py", options.IMAGE, lambda: show(options))


def show(options):
    found = readings(part.open_nor(options))
    print("timestamp,value")
    for seconds, thousandths in found:
        time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
        sign, size = "-" if thousandths < 0 else "", abs(thousandths)
        print(f"{time:%Y-%m-%dT%H:%M:%SZ},{sign}{size // 1000}.{size % 1000:03}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prints what an object heap with TinyStore's structure holds, from docs/format/nor-store.md and object-heap.md alone.

object_heap.py IMAGE: the image file of a simulated NOR part with the heap on the part itself. Of a transaction that a
power cut interrupted, the committed state is printed.
"""

import part
from part import Damaged

RELEASE_TREE, READY, ROOT, SETTING, CHAIN, ERASE, MOVE, NEW, SWAP, RELEASE, LINK, COMMIT, ABORT = range(13)
LOG_UNIT, DATA_UNIT = 13, 14
ERASED_WORD = 0xFFFFFFFF
LEAF, RECORD, NODE, OPAQUE = range(4)


def zeros(number, bits):
    return bits - (number & ((1 << bits) - 1)).bit_count()


def crc_8(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ (0x07 if crc & 0x80 else 0)) & 0xFF
    return crc


def crc_6(data):
    """CRC-6/DARC: the polynomial 0x19 reflected is 0x26."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x26 if crc & 1 else 0)
    return crc


class Heap:
    """A heap on a part."""

    def __init__(self, nor):
        self.nor = nor
        self.granule = max(4, nor.program_unit, (1 << (nor.unit_bytes - 1).bit_length()) >> 14)
        self.read_units()
        self.read_log()
        self.apply_settings()
        self.resolve_moves()

    # Units and the log: nor-store.md, chapters 2 and 3.

    def word(self, address):
        return int.from_bytes(self.nor.cells[address : address + 4], "little")

    def entry(self, address):
        """Kind, a and b of an entry; None where it is erased, False where it is torn."""
        number = int.from_bytes(self.nor.cells[address : address + 8], "little")
        if number == (1 << 64) - 1:
            return None
        data = number & ((1 << 52) - 1)
        if number >> 52 & 63 != zeros(data, 52) or number >> 58 != crc_6(data.to_bytes(7, "little")):
            return False
        return data & 15, data >> 4 & 0xFFFFFF, data >> 28

    def read_units(self):
        self.logs, self.data = [], {}
        for unit in range(self.nor.units):
            start = unit * self.nor.unit_bytes
            identity = self.nor.cells[start : start + 16]
            data = int.from_bytes(identity[:14], "little")
            if identity[:4] != b"NORN" or identity[14] != zeros(data, 112) or identity[15] != crc_8(identity[:14]):
                continue
            if identity[4] != 1 or int.from_bytes(identity[6:8], "little") != self.nor.units:
                raise Damaged(f"unit {unit} has an identity of another version or part")
            assignment = self.entry(start + 16)
            if assignment and assignment[0] == LOG_UNIT:
                self.logs.append((assignment[1], unit))
            elif assignment and assignment[0] == DATA_UNIT and assignment[1] > 0:
                self.data.setdefault(assignment[1], []).append(unit)

    def entries(self, unit):
        start, found = unit * self.nor.unit_bytes + 24, []
        for address in range(start, start + (self.nor.unit_bytes - 24) // 8 * 8, 8):
            entry = self.entry(address)
            if entry is None:
                break
            if entry:
                found.append(entry)
        return found

    def read_log(self):
        complete = {number: self.entries(unit) for number, unit in self.logs}
        complete = {number: found for number, found in complete.items() if (READY, 0, 0) in found}
        if not complete:
            raise Damaged("no log unit is complete")
        self.newest = next(iter(complete))
        for number in complete:
            if 1 <= (number - self.newest) % (1 << 24) <= (1 << 23) - 2:
                self.newest = number
        newest = complete[self.newest]
        self.head = newest[: newest.index((READY, 0, 0)) + 1]
        first = next(a for kind, a, _ in self.head if kind == CHAIN)
        self.log, number = [], first
        while number != self.newest:
            self.log += self.body(complete[number])
            number = (number + 1) % (1 << 24)
        self.log += self.body(newest)

    def body(self, found):
        return found[found.index((READY, 0, 0)) + 1 :]

    def apply_settings(self):
        settings = {a & 0xFF: (b & 0xFFFF) << 16 | a >> 8 for kind, a, b in self.head if kind == SETTING}
        self.detects = bool(settings[0] >> 24 & 1)
        self.roots = {}
        for kind, a, b in self.head:
            if kind == ROOT:
                self.roots[a & 0xFF] = (a >> 8 & 0xFF, b)
        pending, self.committing = {}, set()
        swaps = set()
        for at, (kind, a, b) in enumerate(self.log):
            if kind == ROOT:
                pending[a & 0xFF] = (a >> 8 & 0xFF, b)
            elif kind == SWAP:
                swaps.add(a)
            elif kind in (COMMIT, ABORT):
                if kind == COMMIT:
                    self.roots.update(pending)
                    # A commit that is the last entry may have left words and deltas open.
                    is_last = at == len(self.log) - 1
                    self.committing = swaps if is_last and swaps else self.committing if self.is_repeated(at) else set()
                pending, swaps = {}, set()

    def is_repeated(self, at):
        """Whether this is the second of two commits, with error detection."""
        return self.detects and at > 0 and self.log[at - 1][0] == COMMIT

    def resolve_moves(self):
        """One unit for each logical number: of a pending move, the target."""
        moves = {a: b for kind, a, b in self.head + self.log if kind == MOVE}
        for logical, units in self.data.items():
            if len(units) > 1:
                units = [unit for unit in units if moves.get(unit) not in units]
            self.data[logical] = units[0]

    # Sectors: nor-store.md, chapters 4 to 6 and 14.

    def sector(self, pointer):
        """Kind and bytes of a live sector, or None."""
        unit = self.data.get(pointer >> 12)
        if unit is None:
            return None
        start = unit * self.nor.unit_bytes
        word = self.word(start + 24 + 4 * (pointer & 0xFFF))
        if word == ERASED_WORD or word >> 26 & 31 != zeros(word, 26) or not word >> 31:
            return None
        at = start + (word & 0x3FFF) * self.granule
        return word >> 24 & 3, self.nor.cells[at : at + (word >> 14 & 0x3FF) * self.granule]

    def expect(self, pointer, kind):
        found = self.sector(pointer)
        if found is None or found[0] != kind:
            raise Damaged(f"no sector of kind {kind} at {pointer >> 12}:{pointer & 0xFFF}")
        return found[1]

    def link(self, data):
        """The pointer of a link to a live sector, or None."""
        word = int.from_bytes(data[:4], "little")
        if word >> 29 != 7 or word >> 24 & 31 != zeros(word, 24) or self.sector(word & 0xFFFFFF) is None:
            return None
        return word & 0xFFFFFF

    def child(self, pointer, index):
        """The committed child of a node, or None."""
        node, stride = self.expect(pointer, NODE), 8 if self.detects else 4
        words = [int.from_bytes(node[stride * place :][:4], "little") for place in range(24)]
        if words[index] == ERASED_WORD:
            return None
        spares = words[16:]
        if ERASED_WORD in spares:
            spares = spares[: spares.index(ERASED_WORD)]
        child = None
        for word in [words[index]] + [word for word in spares if word >> 24 & 15 == index]:
            is_open = word >> 30 & 1
            if word >> 31 and (not is_open or pointer in self.committing):
                child = word & 0xFFFFFF
        return child or None

    def leaves(self, root, height):
        """Key and pointer of each leaf of a tree."""
        if height == 0:
            return
        waiting = [(0, height - 1, root)]
        while waiting:
            key, level, node = waiting.pop()
            for index in range(15, -1, -1):
                child = self.child(node, index)
                if child is not None and level > 0:
                    waiting.append((key << 4 | index, level - 1, child))
                elif child is not None:
                    yield key << 4 | index, child

    def deltas(self, pointer, data):
        """Item and value of each delta that counts, in order; values of narrow ones have two bytes."""
        found, at = [], 4
        while at + 4 <= len(data):
            word = int.from_bytes(data[at : at + 4], "little")
            form, is_void, length = word >> 24 & 3, False, 4
            data_bits = word & ((1 << 26) - 1)
            if form == 1:
                length = 4 + 4 * (word & 0x7F)
                is_void = not word >> 8 & 1
                as_made, at_once = data_bits | 1 << 8, word >> 7 & 1
            else:
                is_void = form == 0 or not form & 2
                as_made, at_once = data_bits | 1 << 25, form & 1
            if word == ERASED_WORD or word >> 26 & 31 != zeros(as_made, 26):
                break
            is_open = not at_once and word >> 31
            if not is_void and (not is_open or pointer in self.committing):
                value = data[at + 4 : at + length] if form == 1 else (word & 0xFFFF).to_bytes(2, "little")
                found.append((word >> 16 & 0xFF, value))
            at += length
        return found

    # Objects: object-heap.md.

    def flag(self, flags, index):
        """Whether a flag is erased."""
        if self.detects:
            return flags[index // 4] >> 2 * (index % 4) & 3 == 3
        return bool(flags[index // 8] >> index % 8 & 1)

    def flag_bytes(self, count):
        return -(-count // 4) if self.detects else -(-count // 8)

    def values(self, first, widths, initialized):
        """The values of a list's fields; `initialized` are its initialization flags, or None."""
        count, chain, pointer = len(widths), [], first
        while pointer is not None and len(chain) < 256:
            kind, data = self.sector(pointer)
            chain.append((kind, pointer, data))
            pointer = self.link(data)
        flags_end = 4 + self.flag_bytes(count)
        slots = part.up_to(flags_end + (count if self.detects else 0), 4)
        last = {}
        for kind, pointer, data in chain:
            if kind == OPAQUE:
                last.update(self.deltas(pointer, data))
        found = []
        for index, width in enumerate(widths):
            at = slots + sum(widths[:index])
            if index in last:
                found.append(last[index][:width])
            elif initialized is not None and self.flag(initialized, index):
                found.append(bytes(width))
            else:
                holders = (data for kind, _, data in chain if kind == RECORD and self.flag(data[4:flags_end], index))
                holder = next(holders, None)
                if holder is None:
                    raise Damaged(f"field {index} has no value")
                found.append(holder[at : at + width])
        return found

    def header(self, link):
        """Widths and header of a header sector."""
        pointer = self.link(link)
        if pointer is None:
            return b"", b""
        data, start = self.expect(pointer, OPAQUE), 8 if self.detects else 4
        return data, data[start:]

    def object(self, slot, pointer):
        """Generation, kind, header and values of the object or array in a slot."""
        data = self.expect(pointer, LEAF)
        reference, form, width = int.from_bytes(data[:4], "little"), data[12], data[13]
        if reference & 0xFFFF != slot:
            raise Damaged(f"slot {slot} holds the descriptor of another one")
        sector, rest = self.header(data[8:12])
        own_bytes = int.from_bytes(sector[:2], "little")
        if form & 8:
            values = self.split_array(data, width, form)
            return reference >> 16, "array", rest[:own_bytes], values
        count = int.from_bytes(data[14:16], "little")
        widths = list(rest[:count]) if form & 4 else [width] * count
        own = rest[count if form & 4 else 0 :][:own_bytes]
        initialized = data[18 if self.detects else 16 :] if form & 2 else None
        values = self.values(self.link(data[4:8]), widths, initialized)
        return reference >> 16, "array" if form & 1 else "object", own, values

    def split_array(self, data, width, form):
        per_section, height = data[14], data[15]
        at = 20 if self.detects else 16
        count = int.from_bytes(data[at : at + 4], "little")
        values = []
        for section, pointer in sorted(self.leaves(self.link(data[4:8]), height)):
            elements = min(per_section, count - section * per_section)
            leaf = self.expect(pointer, LEAF)
            values += self.values(self.link(leaf), [width] * elements, leaf[4:] if form & 2 else None)
        return values

    def objects(self):
        height, root = self.roots[0]
        for slot, pointer in sorted(self.leaves(root, height)):
            yield slot, *self.object(slot, pointer)

    def names(self):
        height, root = self.roots[1]
        for _, pointer in self.leaves(root, height):
            leaf = self.expect(pointer, LEAF)
            start = 7 if self.detects else 5
            yield leaf[start : start + leaf[4]], int.from_bytes(leaf[:2], "little"), int.from_bytes(leaf[2:4], "little")


def main():
    options = part.arguments(__doc__, part.NOR_GEOMETRY, "IMAGE").parse_args()
    part.run("object_heap.py", options.IMAGE, lambda: show(options))


def show(options):
    heap = Heap(part.open_nor(options))
    names, objects = sorted(heap.names()), list(heap.objects())
    for name, slot, generation in names:
        print(f"root {name.decode('utf-8', 'replace')} #{slot}.{generation}")
    for slot, generation, kind, own, values in objects:
        print(f"{kind} #{slot}.{generation} {own.hex() or '-'} {' '.join(value.hex() for value in values)}")


if __name__ == "__main__":
    main()

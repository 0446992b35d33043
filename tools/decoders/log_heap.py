#!/usr/bin/env python3
"""Prints what a log-structured heap holds, from docs/format/log-heap.md alone.

log_heap.py IMAGE: the image file of a simulated NOR part, or a raw dump, whose heap was stopped outside of a transaction.
"""

import zlib

import part
from part import Damaged

NOWHERE = 0x7F0000
ROOT, NEXT, FOUND = 2, 3, 4
REWRITE, APPEND, STATE = 0, 1, 5
STATE_END, STATE_QUIET, STATE_TAILS, STATE_DONE = 0, 1, 2, 3
LOG_STREAM = 3
FIRST_OF_DELTA, MORE_OF_DELTA, FIRST_OF_SEAL, VOID = 1, 2, 3, 4
PLAIN, WIDTHS, HEADER, MAP_NODE = range(4)


def zeros(number, bits):
    return bits - (number & ((1 << bits) - 1)).bit_count()


class Heap:
    """A heap on a part."""

    def __init__(self, nor):
        self.nor = nor
        self.granule = max(nor.program_unit, 4)
        self.detects = False
        self.find_log()

    def at(self, granule, length):
        start = granule * self.granule
        return self.nor.cells[start : start + length]

    def granules(self, length):
        return -(-length // self.granule)

    def place(self, granule):
        """Content and further bytes of a place; None where it is erased, or torn."""
        raw = self.at(granule, self.granule)
        if raw == b"\xff" * self.granule or len(raw) < self.granule:
            return None
        if self.granule == 4:
            word = int.from_bytes(raw, "little")
            return (word >> 5, b"") if zeros(word >> 5, 27) == word & 31 else None
        rest = int.from_bytes(raw[1:], "little")
        if raw[0] != zeros(rest, 8 * (self.granule - 1)):
            return None
        return rest & 0x7FFFFFF, raw[5:]

    # The head of a unit and the log.

    def unit_heads(self):
        """Sequence, first granule, granules and stream of each unit with a head."""
        granules = self.nor.unit_bytes // self.granule
        shape = (self.granule.bit_length() - 1) << 28 ^ granules << 12 ^ self.nor.units
        for unit in range(self.nor.units):
            head = self.at(unit * granules, 24)
            whole = zlib.crc32(head[:20]) == int.from_bytes(head[20:], "little")
            if head[:4] != b"NLH1" or not whole or int.from_bytes(head[4:8], "little") != shape:
                continue
            if head[17] in (0xFE, 0xFF):
                self.detects = head[17] == 0xFE
                yield int.from_bytes(head[8:12], "little"), unit * granules, granules, head[16]

    def records(self, first, granules):
        for granule in range(first + self.granules(24), first + granules):
            content = self.place(granule)
            if content is None:
                return
            yield content[0] >> 24, content[0] & 0xFFFFFF

    def find_log(self):
        logs = [head for head in self.unit_heads() if head[3] == LOG_STREAM]
        for _, first, granules, _ in sorted(logs, reverse=True):
            records = list(self.records(first, granules))
            if any(kind == STATE and argument == STATE_END for kind, argument in records):
                self.read_log(records)
                return
        raise Damaged("no unit has a log whose head is complete")

    def read_log(self, records):
        ends = [at for at, (kind, argument) in enumerate(records) if kind == STATE and argument == STATE_END]
        roots = [at for at, (kind, _) in enumerate(records) if kind == ROOT]
        states = [argument >> 16 for kind, argument in records if kind == STATE]
        if not states or states[-1] not in (STATE_END, STATE_QUIET, STATE_DONE):
            raise Damaged("the heap was not stopped: the log's last state says that something is in doubt")
        self.root = records[roots[-1]][1]
        self.found = {}
        if roots[-1] < ends[0]:
            self.take_found(records[: ends[0]])

    def take_found(self, head):
        """The entries on the path down to the owner, which count whatever the nodes say."""
        entries = [argument for kind, argument in head if kind == FOUND]
        owners = [argument for kind, argument in head if kind in (REWRITE, APPEND)]
        if not entries:
            return
        index, level = owners[-1] & 0xFFFF, owners[-1] >> 16 & 7
        for up, entry in enumerate(reversed(entries)):
            self.found[level + up, index >> 4 * up] = entry

    # Sectors.

    def sector(self, granule):
        """The header of a sector, as a dictionary, and the granule after its values where its tail begins."""
        header = int.from_bytes(self.at(granule, 8), "little")
        if zeros(header & ((1 << 56) - 1), 56) + zeros(header >> 62, 2) != header >> 56 & 63:
            raise Damaged(f"granule {granule}: the header of a sector has another number of zeros than it says")
        found = {
            "slot": header & 0xFFFF,
            "generation": header >> 16 & 0xFFFF,
            "fields": header >> 32 & 0xFF,
            "width": header >> 40 & 0xFF,
            "places": header >> 48 & 63,
            "class": header >> 54 & 3,
            "kind": header >> 62,
        }
        found["body"] = self.body(granule, found)
        return found

    def body(self, granule, header):
        """Offset and widths of the values, the object's header, and the first granule of the tail."""
        kind, fields, start = header["kind"], header["fields"], granule * self.granule + 8
        code = 4 if self.detects else 0
        if kind == MAP_NODE:
            return start, [3] * 16, b"", granule + self.granules(8 + 48 + code)
        if kind == PLAIN:
            widths = [header["width"]] * fields
            return start, widths, b"", granule + self.granules(8 + sum(widths) + code)
        cells, own = self.nor.cells, b""
        if kind == WIDTHS:
            widths, values = list(cells[start : start + fields]), start + fields
        else:
            length, width = cells[start], cells[start + 1]
            at = start + 2
            widths = [width] * fields
            if width == 0:
                widths, at = list(cells[at : at + fields]), at + fields
            own, values = cells[at : at + length], at + length
        return values, widths, own, granule + header["width"]


    def entry_of(self, level, index, root_level):
        """Where the owner of an index on a level is; None if it is nowhere."""
        if (level, index) in self.found:
            entry = self.found[level, index]
        elif level == root_level:
            entry = self.root
        else:
            above = self.entry_of(level + 1, index >> 4, root_level)
            if above is None:
                return None
            entry = self.node_entry(above, index & 15)
        return None if entry & 0x7FFFFF >= NOWHERE else entry & 0x7FFFFF

    def node_entry(self, granule, which):
        node = self.sector(granule)
        values, _, _, tail = node["body"]
        at = values + 3 * which
        entry = int.from_bytes(self.nor.cells[at : at + 3], "little")
        for spare in range(node["places"]):
            change = self.place(tail + spare)
            if change is None:
                break
            if change[0] >> 23 == which:
                entry = change[0] & 0x7FFFFF
        return entry

    # Objects.

    def tail(self, granule, places):
        """The places of a tail that count as such, and None for what a seal or a void passes over."""
        read = [self.place(granule + place) for place in range(places)]
        kinds = [None if content is None else content[0] >> 24 for content in read]
        at = 0
        while at < places:
            if kinds[at] not in (FIRST_OF_DELTA, MORE_OF_DELTA, FIRST_OF_SEAL, VOID):
                repaired = [kind in (FIRST_OF_SEAL, VOID) for kind in kinds[at + 1 : at + 3]]
                if not any(repaired):
                    break
                read[at] = None
            at += 1
        return read[:at]

    def deltas(self, granule, places, widths):
        """The deltas that count: field and value, the earliest first."""
        read, found, at = self.tail(granule, places), [], 0
        while at < len(read):
            content = read[at]
            kind = None if content is None else content[0] >> 24
            if kind == VOID:
                first = content[0] >> 16 & 0xFF
                found = [delta for delta in found if delta[0] < first]
            if kind not in (FIRST_OF_DELTA, FIRST_OF_SEAL):
                at += 1
                continue
            if kind == FIRST_OF_SEAL:
                found = [delta for delta in found if delta[1] != at]
            field = content[0] >> 16 & 0xFF
            value, end = (content[0] & 0xFFFF).to_bytes(2, "little") + content[1], at + 1
            width = widths[field] if field < len(widths) else 0
            while len(value) < width and end < len(read) and read[end] and read[end][0] >> 24 == MORE_OF_DELTA:
                value += (read[end][0] & 0xFFFFFF).to_bytes(3, "little") + read[end][1]
                end += 1
            if 0 < width <= len(value):
                found.append((at, end, field, value[:width]))
            at = end
        return [(field, value) for _, _, field, value in found]

    def values(self, granule):
        header = self.sector(granule)
        start, widths, own, tail = header["body"]
        values = []
        for width in widths:
            values.append(self.nor.cells[start : start + width])
            start += width
        for field, value in self.deltas(tail, header["places"], widths):
            values[field] = value
        return header, values, own

    def owners(self):
        """Slot and granule of every object, the array sections too."""
        if self.root >= NOWHERE:
            return
        root_level = self.sector(self.found.get((None, 0), self.root))["generation"]
        for slot in range(16**root_level):
            granule = self.entry_of(0, slot, root_level)
            if granule is not None:
                yield slot, granule

    def objects(self):
        """Slot, generation, kind, header and values of every object and array, and the named roots."""
        held = {slot: self.values(granule) for slot, granule in self.owners()}
        sections = set()
        shown = []
        for slot, (header, values, own) in sorted(held.items()):
            if header["generation"] == 0 or slot in sections or header["class"] == 3:
                continue
            if header["class"] == 2:
                count = int.from_bytes(values[0], "little")
                width, per_section, is_whole, _ = values[1]
                if not is_whole & 1:
                    continue
                taken = [slot + 1 + section for section in range(-(-count // per_section))]
                sections.update(taken)
                values = [value for section in taken for value in held[section][1]][:count]
            kind = "array" if header["class"] else "object"
            shown.append((slot, header["generation"], kind, own, values))
        return shown, self.named_roots(held)

    def named_roots(self, held):
        roots, slot, seen = [], 0, set()
        while slot in held and slot not in seen and held[slot][0]["generation"] == 0:
            seen.add(slot)
            _, values, own = held[slot]
            while own:
                length = own[4]
                name = own[5 : 5 + length].decode("utf-8", "replace")
                roots.append((name, int.from_bytes(own[:2], "little"), int.from_bytes(own[2:4], "little")))
                own = own[5 + length :]
            slot = int.from_bytes(values[0], "little")
            if slot == 0:
                break
        return sorted(roots)


def main():
    options = part.arguments(__doc__, part.NOR_GEOMETRY, "IMAGE").parse_args()
    part.run("log_heap.py", options.IMAGE, lambda: show(options))


def show(options):
    objects, roots = Heap(part.open_nor(options)).objects()
    for name, slot, generation in roots:
        print(f"root {name} #{slot}.{generation}")
    for slot, generation, kind, own, values in objects:
        print(f"{kind} #{slot}.{generation} {own.hex() or '-'} {' '.join(value.hex() for value in values)}")


if __name__ == "__main__":
    main()

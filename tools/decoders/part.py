"""The cells of a part: of an image file of a simulated NOR or NAND part (docs/format/sim-image.md), or of a raw dump."""

import argparse
import mmap
import struct
import zlib


class Damaged(Exception):
    """Bytes that the format does not allow; says where."""


def arguments(description, *names):
    """The arguments of a decoder: those whose names are in brackets may be left out, from the last one on."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        is_optional = name.startswith("[")
        parser.add_argument(name.strip("[]"), nargs="?" if is_optional else None)
    return parser


class NorPart:
    """The cells of a NOR part, and its geometry."""

    def __init__(self, cells, units, unit_bytes, program_unit):
        self.cells = cells
        self.units = units
        self.unit_bytes = unit_bytes
        self.program_unit = program_unit


class Pages:
    """Pages of an image, each of which is read when it is looked at; an erased one is ones."""

    def __init__(self, image, start, records, whole):
        self.image, self.start, self.records, self.whole = image, start, records, whole
        self.erased = b"\xff" * whole

    def __len__(self):
        return len(self.records)

    def __getitem__(self, at):
        return self.part(at, 0, self.whole)

    def part(self, at, first, last):
        """The bytes from `first` to `last` of a page."""
        if not self.records[at]:
            return self.erased[first:last]
        start = self.start + at * self.whole
        return self.image[start + first : start + last]


class NandPart:
    """The cells of a NAND part by pages, each with its out-of-band area; an erased page reads as ones.

    `bad` are the blocks that the maker marked.
    """

    def __init__(self, pages, blocks, pages_a_block, page_bytes, oob_bytes, bad):
        self.pages = pages
        self.blocks = blocks
        self.pages_a_block = pages_a_block
        self.page_bytes = page_bytes
        self.oob_bytes = oob_bytes
        self.bad = bad

    def page(self, block, page):
        """The bytes of a page with its out-of-band area."""
        return self.pages[block * self.pages_a_block + page]


def mapped(path):
    """The bytes of a file, which are read when they are looked at."""
    with open(path, "rb") as file:
        if not file.read(1):
            raise Damaged("the file is empty")
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def up_to(length, multiple):
    """The length rounded up."""
    return -(-length // multiple) * multiple


def check_length(image, length):
    if len(image) != length:
        raise Damaged(f"the file has {len(image)} bytes; its header says {length}")


def open_nor(path):
    """The part in an image file."""
    image = open(path, "rb").read()
    if image[:8] != b"NORNSIM\0":
        raise Damaged("no image of a simulated NOR part")
    if struct.unpack_from("<I", image, 76)[0] != zlib.crc32(image[:76]):
        raise Damaged("the CRC of its header is wrong")
    units, unit_bytes = struct.unpack_from("<II", image, 64)
    program_unit = image[72]
    start = up_to(4096 + 8 * units, 4096)
    cells = image[start : start + units * unit_bytes]
    if len(cells) != units * unit_bytes:
        raise Damaged(f"the cells end after {len(cells)} bytes")
    return NorPart(cells, units, unit_bytes, program_unit)


def open_nand(path):
    """The part in an image file."""
    image = mapped(path)
    if image[:8] != b"NORNNAND":
        raise Damaged("no image of a simulated NAND part")
    if struct.unpack_from("<I", image, 72)[0] != zlib.crc32(image[:72]):
        raise Damaged("the CRC of its header is wrong")
    blocks, pages_a_block, page_bytes, oob_bytes = struct.unpack_from("<HHHH", image, 64)
    record_bytes = 1 << (8 + pages_a_block - 1).bit_length()
    start = up_to(4096 + blocks * record_bytes, 4096)
    whole = page_bytes + oob_bytes
    check_length(image, start + 2 * blocks * pages_a_block * whole)
    records, bad = bytearray(), set()
    for block in range(blocks):
        at = 4096 + block * record_bytes
        record = image[at : at + record_bytes]
        if record[4] & 4:
            bad.add(block)
        records += record[8 : 8 + pages_a_block]
    return NandPart(Pages(image, start, records, whole), blocks, pages_a_block, page_bytes, oob_bytes, bad)

"""The cells of a part: of an image file of a simulated NOR or NAND part (docs/format/sim-image.md), or of a raw dump."""

import argparse
import mmap
import os
import struct
import sys
import zlib


class Damaged(Exception):
    """Bytes that the format does not allow; says where."""


def arguments(description, geometry, *names):
    """The arguments of a decoder: those whose names are in brackets may be left out, from the last one on.

    `geometry` are options for what a raw dump does not say, with their meanings.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in names:
        is_optional = name.startswith("[")
        parser.add_argument(name.strip("[]"), nargs="?" if is_optional else None)
    for option, meaning in geometry:
        parser.add_argument(option, type=positive, metavar="N", help="of a raw dump: " + meaning)
    return parser


def positive(text):
    """A number from 1 on."""
    number = int(text, 0)
    if number < 1:
        raise ValueError(text)
    return number


NOR_GEOMETRY = [
    ("--unit-bytes", "bytes of an erase unit"),
    ("--program-unit", "bytes of the smallest program, 1 if left out"),
]
NAND_GEOMETRY = [
    ("--page-bytes", "bytes of a page without its out-of-band area, which follows each page"),
    ("--oob-bytes", "bytes of an out-of-band area, a 32nd of the page's if left out"),
    ("--pages-per-block", "pages of a block"),
]


def run(name, path, decode):
    """Runs a decoder. What is wrong with the file ends it with one line, whatever is in the file."""
    try:
        decode()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone. The interpreter flushes once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Damaged as error:
        sys.exit(f"{name}: {path}: {error}")
    except OSError as error:
        sys.exit(f"{name}: {error.filename or path}: {error.strerror}")
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError,
            struct.error) as error:
        # A decoder follows what it finds: a wrong number leads to a place that is not there.
        sys.exit(f"{name}: {path}: damaged, or of another format: {type(error).__name__}: {error}")


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


def expect_binary(image, path):
    """Refuses files for a chip's programmer, of which these decoders read none."""
    forms = [(b":", "Intel HEX"), (b"UF2\n", "UF2"), (b"\x7fELF", "ELF")]
    for start, form in forms:
        if image[: len(start)] == start:
            raise Damaged(f"{form}, and decoders read binary files: `norn image import {path} NEW.img` makes an image of it")


def raw_nor(image, options):
    """The part that a raw dump is of."""
    unit_bytes = options.unit_bytes
    if unit_bytes is None:
        raise Damaged("no image of a simulated NOR part; of a raw dump --unit-bytes says the size of erase units")
    if not image or len(image) % unit_bytes:
        raise Damaged(f"{len(image)} bytes are no whole erase units of {unit_bytes} bytes")
    return NorPart(image, len(image) // unit_bytes, unit_bytes, options.program_unit or 1)


def open_nor(options):
    """The part in a file, which is an image or a raw dump."""
    image = open(options.IMAGE, "rb").read()
    if image[:8] == b"NORNNAND":
        raise Damaged("an image of a NAND part, and this is a decoder of what NOR parts hold")
    if image[:8] != b"NORNSIM\0":
        expect_binary(image, options.IMAGE)
        return raw_nor(image, options)
    if struct.unpack_from("<I", image, 76)[0] != zlib.crc32(image[:76]):
        raise Damaged("the CRC of its header is wrong")
    units, unit_bytes = struct.unpack_from("<II", image, 64)
    program_unit = image[72]
    start = up_to(4096 + 8 * units, 4096)
    cells = image[start : start + units * unit_bytes]
    if len(cells) != units * unit_bytes:
        raise Damaged(f"the cells end after {len(cells)} bytes")
    return NorPart(cells, units, unit_bytes, program_unit)


def raw_nand(image, options):
    """The part that a raw dump is of."""
    page_bytes, pages_a_block = options.page_bytes, options.pages_per_block
    if page_bytes is None or pages_a_block is None:
        raise Damaged("no image of a simulated NAND part; of a raw dump --page-bytes and --pages-per-block are needed")
    oob_bytes = options.oob_bytes or page_bytes // 32
    whole = page_bytes + oob_bytes
    if not len(image) or len(image) % (whole * pages_a_block):
        raise Damaged(f"{len(image)} bytes are no whole blocks of {pages_a_block} pages of {page_bytes} + {oob_bytes} bytes")
    blocks = len(image) // (whole * pages_a_block)
    mark = page_bytes + (5 if page_bytes == 512 else 0)
    marks = {block: [image[(block * pages_a_block + page) * whole + mark] for page in (0, 1)] for block in range(blocks)}
    bad = {block for block, found in marks.items() if found != [0xFF, 0xFF]}
    pages = Pages(image, 0, b"\1" * (blocks * pages_a_block), whole)
    return NandPart(pages, blocks, pages_a_block, page_bytes, oob_bytes, bad)


def open_nand(options):
    """The part in a file, which is an image or a raw dump."""
    image = mapped(options.IMAGE)
    if image[:8] == b"NORNSIM\0":
        raise Damaged("an image of a NOR part, and this is a decoder of what NAND parts hold")
    if image[:8] != b"NORNNAND":
        expect_binary(image, options.IMAGE)
        return raw_nand(image, options)
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

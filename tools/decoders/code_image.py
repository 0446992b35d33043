#!/usr/bin/env python3
"""Prints the programs in two rooms of a NAND part, from docs/format/code-image.md alone.

code_image.py IMAGE [ROOM FILE]: an image file that `norn code` made; with a room, A or B, writes its program to FILE.
"""

import part
from part import Damaged

ROOMS = "AB"
NONE, NEWEST = 0, 2**32 - 1


def crc32c(data):
    register = 0xFFFFFFFF
    for byte in data:
        register = TABLE[(register ^ byte) & 0xFF] ^ register >> 8
    return register ^ 0xFFFFFFFF


def table_entry(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


TABLE = [table_entry(byte) for byte in range(256)]


def corrected(data):
    """The bytes before their code of 4 bytes, with one wrong bit corrected; None where more are wrong."""
    for wrong in [None, *range(8 * len(data))]:
        tried = bytearray(data)
        if wrong is not None:
            tried[wrong // 8] ^= 1 << wrong % 8
        if crc32c(tried[:-4]) == int.from_bytes(tried[-4:], "little"):
            return bytes(tried[:-4])
    return None


def number(data, at, length):
    return int.from_bytes(data[at : at + length], "little")


class Switch:
    """The record in force: which room's program runs."""

    def __init__(self, record):
        self.runs = record[5]
        self.is_on_trial = record[6] == 1
        self.boots_left = record[7]
        self.sequence = number(record, 8, 4)
        self.rooms = [(number(record, at, 2), number(record, at + 2, 2)) for at in (12, 16)]
        self.programs = [number(record, at, 4) for at in (20, 24)]


def switch_in(nand):
    """The newest record whose copies in pages 0 and 1 are whole, or 0 and 2."""
    newest = None
    for block in (block for block in range(min(nand.blocks, 8)) if block not in nand.bad):
        copies = [corrected(nand.page(block, page)[:64]) for page in range(3)]
        whole = [copy is not None and copy[:4] == b"NSWI" and copy[4] == 2 for copy in copies]
        if whole[0] and (whole[1] or whole[2]):
            record = Switch(copies[0])
            if newest is None or 0 < (record.sequence - newest.sequence) % 2**32 < 2**31:
                newest = record
    if newest is None:
        raise Damaged("the first eight blocks have no record of a switch")
    return newest


class Header:
    """The header of an image."""

    def __init__(self, block, header):
        self.block = block
        self.code_bytes = header[5]
        self.page_bytes = number(header, 6, 2)
        self.length = number(header, 8, 4)
        self.room = number(header, 12, 2)
        self.bad = [number(header, 16 + 2 * at, 2) for at in range(number(header, 14, 2))]
        self.generation = number(header, 32, 4)
        self.code = number(header, 36, 4)
        self.version = f"{number(header, 40, 2)}.{number(header, 42, 2)}.{number(header, 44, 4)}"
        self.name = min(max(crc32c(header), 1), 2**32 - 2)


def headers_in(nand, room):
    first, blocks = room
    for block in range(first, min(first + min(blocks, 9), nand.blocks)):
        header = corrected(nand.page(block, 0)[:64])
        if header and header[:4] == b"NPAG" and number(header, 12, 2) == first and number(header, 48, 2) == block:
            yield Header(block, header)


def program_in(nand, room, name):
    """The header of a room's program; None if it has none."""
    if name == NONE:
        return None
    headers = list(headers_in(nand, room))
    if name == NEWEST:
        return max(headers, key=lambda header: header.generation, default=None)
    return next((header for header in headers if header.name == name), None)


def bytes_of(nand, header):
    """The program's bytes, with one wrong bit of each cache page corrected."""
    stride = header.page_bytes + header.code_bytes
    in_page = nand.page_bytes // stride
    program, block, page = b"", header.block, nand.pages_a_block
    while len(program) < header.length:
        if page == nand.pages_a_block:
            block, page = block + 1, 0
            while block in header.bad:
                block += 1
        for column in range(0, in_page * stride, stride):
            if len(program) >= header.length:
                break
            raw = nand.page(block, page)[column : column + stride]
            cache_page = corrected(raw) if header.code_bytes else raw
            if cache_page is None:
                raise Damaged(f"block {block}, page {page}, column {column}: more than one bit is wrong")
            program += cache_page
        page += 1
    program = program[: header.length]
    if crc32c(program) != header.code:
        raise Damaged(f"block {header.block}: the bytes of the program are not those of its header")
    return program


def main():
    parser = part.arguments(__doc__, part.NAND_GEOMETRY, "IMAGE", "[ROOM]", "[FILE]")
    options = parser.parse_args()
    if options.ROOM is not None and (options.ROOM not in ROOMS or options.FILE is None):
        parser.error("a room is A or B, with a FILE to write")
    part.run("code_image.py", options.IMAGE, lambda: show(options))


def show(options):
    nand = part.open_nand(options)
    switch = switch_in(nand)
    for name, room, program in zip(ROOMS, switch.rooms, switch.programs):
        header = program_in(nand, room, program)
        runs = " runs" if switch.runs == ROOMS.index(name) else ""
        if header is None:
            print(f"{name}: no program")
            continue
        program = bytes_of(nand, header)
        print(f"{name}: {header.version}, {header.length} bytes{runs}")
        if options.ROOM == name:
            with open(options.FILE, "wb") as output:
                output.write(program)
    if switch.is_on_trial:
        print(f"on trial, boots left: {switch.boots_left}")


if __name__ == "__main__":
    main()

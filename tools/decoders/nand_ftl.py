#!/usr/bin/env python3
"""Writes the contents of a block device on NAND to a file, from docs/format/nand-ftl.md alone.

nand_ftl.py IMAGE FILE: the image file of a simulated NAND part, and where the logical pages go; those without contents
are zeros. Prints how many have some.
"""

import zlib

import part
from part import Damaged

WORD_BYTES = 512  # of every part of the catalogue
MARKS = {512: 5, 2048: 0}  # which byte of the out-of-band area marks bad blocks, by bytes of a page
FIRST_CHUNK, FORMAT_BEGINS = 0x800000, 0xFFFFFE
HEADER_BYTES = 48


def number(data, at, length):
    return int.from_bytes(data[at : at + length], "little")


def ones(length):
    return 256**length - 1


def code_of(data):
    """Bits 0 to 14: the numbers of all ones, exclusive or; bit 15: their parity."""
    code = parity = 0
    for at, byte in enumerate(data):
        for bit in range(8):
            if byte >> bit & 1:
                code, parity = code ^ (8 * (at + 1) + bit), parity ^ 1
    return code & 0x7FFF | parity << 15


def corrected(data, code):
    """The bytes with at most one bit put right."""
    difference = code_of(data) ^ code
    at, bit = divmod(difference & 0x7FFF, 8)
    if difference >> 15 and 1 <= at <= len(data):
        data = bytearray(data)
        data[at - 1] ^= 1 << bit
    return bytes(data)


class Page:
    """A page that counts."""

    def __init__(self, at, data, fields):
        self.at, self.data = at, data
        self.lba, self.sequence = number(fields, 0, 3), number(fields, 3, 5)


def read_page(nand, at):
    """A page, if it counts."""
    raw = nand.pages[at]
    data, oob = raw[: nand.page_bytes], raw[nand.page_bytes :]
    words = max(nand.page_bytes // WORD_BYTES, 1)
    share = len(oob) // words
    mark = MARKS[nand.page_bytes]
    fields = bytes(byte for column, byte in enumerate(oob[:share]) if column != mark)
    own = fields[:9]

    def counts(data, own, check):
        return zlib.crc32(data + own) == number(check, 0, 4)

    if number(own, 0, 3) == ones(3) or number(own, 3, 5) == ones(5):
        return None
    if not counts(data, own, fields[9:13]):
        word = corrected(data[:WORD_BYTES] + fields[:13], number(fields, 13, 2))
        data_words, own, check = [word[:-13]], word[-13:-4], word[-4:]
        for which in range(1, words):
            start = which * WORD_BYTES
            code = number(oob, which * share, 2)
            data_words.append(corrected(data[start : start + WORD_BYTES], code))
        data = b"".join(data_words)
        if not counts(data, own, check):
            return None
    return Page(at, data, own)


def read_page_at(nand, at):
    """A page, if it counts and there is one of this number."""
    is_there = at < len(nand.pages) and at // nand.pages_a_block not in nand.bad
    return read_page(nand, at) if is_there else None


class Checkpoint:
    """A page of the checkpoint."""

    def __init__(self, nand, page):
        data = page.data
        if data[:4] != b"NFT2":
            raise Damaged(f"page {page.at}: a chunk of another version, {data[:4]}")
        self.chunk = page.lba - FIRST_CHUNK
        self.logical_pages = number(data, 4, 4)
        self.since, self.as_of = number(data, 8, 8), number(data, 16, 8)
        self.has_suspect = number(data, 24, 4) != ones(4)
        self.open = [number(data, 32 + 4 * which, 4) for which in range(4)]
        self.width = ((len(nand.pages) + 1).bit_length() + 7) // 8
        entry_bytes = 4 * ((nand.page_bytes - HEADER_BYTES) // 8)
        self.in_chunk = entry_bytes // self.width
        map_chunks = -(-self.logical_pages // self.in_chunk)
        self.chunks = map_chunks + -(-nand.blocks // (entry_bytes // 4))
        self.entries = data[nand.page_bytes - entry_bytes :]
        self.runs, self.trims = self.journal(data, number(data, 28, 2), number(data, 30, 2))

    def journal(self, data, run_count, trim_count):
        """The pages of all runs by what they are of, and the trimmed ranges."""
        runs, trims, at, width = {}, [], HEADER_BYTES, self.width
        for _ in range(run_count):
            first, length = number(data, at, width), number(data, at + width, 2)
            at += width + 2
            for offset in range(length):
                of = number(data, at, width)
                at += width
                if of != ones(width):
                    runs.setdefault(of, []).append(first + offset)
        for _ in range(trim_count):
            start, count = number(data, at, width), number(data, at + width, width)
            at += 2 * width
            trims.append(range(start, start + count))
        return runs, trims

    def entry(self, lba):
        """The page of a logical page of the chunk."""
        return number(self.entries, lba % self.in_chunk * self.width, self.width)


class Counting:
    """The pages that count, each of which is read when it is asked for."""

    def __init__(self, nand):
        self.nand, self.known = nand, {}

    def get(self, at):
        """A page, or None if it does not count."""
        if at not in self.known:
            self.known[at] = read_page_at(self.nand, at)
        return self.known[at]


def tail(nand, base, pages):
    """The newest page of each logical page after the base."""
    if base.has_suspect:
        return {}
    newest = {}
    starts = {block: block * nand.pages_a_block for block in range(nand.blocks)}
    for block, start in starts.items():
        first = pages.get(start)
        opened = [at for at in base.open if at // nand.pages_a_block == block]
        begin = opened[0] if opened else start
        if not opened and (first is None or first.sequence <= base.as_of):
            continue
        for at in range(begin, start + nand.pages_a_block):
            page = pages.get(at)
            if page and page.sequence > base.as_of and page.lba < FIRST_CHUNK:
                if page.lba not in newest or page.sequence > newest[page.lba].sequence:
                    newest[page.lba] = page
    return newest


def checkpoints_of(nand, pages):
    """All pages of the checkpoint. Of the others only the first tag is looked at, in which a bit may be wrong."""
    words = max(nand.page_bytes // WORD_BYTES, 1)
    mark = MARKS[nand.page_bytes]
    columns = [column for column in range(nand.oob_bytes // words) if column != mark][:3]
    entries_a_page = (nand.page_bytes - HEADER_BYTES) // 8
    chunks_max = 2 + 2 * (len(nand.pages) + nand.blocks) // entries_a_page
    for at in range(len(nand.pages)):
        oob = nand.pages.part(at, nand.page_bytes, nand.page_bytes + columns[2] + 1)
        lba = oob[columns[0]] | oob[columns[1]] << 8 | oob[columns[2]] << 16
        if lba & 0x7FFFFF < chunks_max or lba & FIRST_CHUNK and lba != 0xFFFFFF:
            page = pages.get(at)
            if page and FIRST_CHUNK <= page.lba < FORMAT_BEGINS:
                yield Checkpoint(nand, page)


def chain_of(checkpoints):
    """The newest page of the checkpoint, the one before it, and so on through all chunks."""
    chain = [max(checkpoints, key=lambda one: one.as_of)]
    by_end = {(one.chunk, one.as_of): one for one in checkpoints}
    while len(chain) < chain[0].chunks:
        last = chain[-1]
        older = by_end.get(((last.chunk - 1) % last.chunks, last.since))
        if older is None:
            break
        chain.append(older)
    return chain


def journaled(chain):
    """What the journals say of logical pages: the place in the chain, and the pages that may be it."""
    said = {}
    for place, one in enumerate(chain):
        for of, pages in one.runs.items():
            said.setdefault(of, (place, pages))
        for trim in one.trims:
            for lba in trim:
                said.setdefault(lba, (place, []))
    return said


def contents(nand):
    """The logical pages, None for those without contents."""
    pages = Counting(nand)
    for block in range(nand.blocks):
        first = pages.get(block * nand.pages_a_block)
        if first and first.lba == FORMAT_BEGINS:
            raise Damaged("the part was being formatted")
    checkpoints = list(checkpoints_of(nand, pages))
    if not checkpoints:
        raise Damaged("no page of a checkpoint counts")
    chain = chain_of(checkpoints)
    said, newest = journaled(chain), tail(nand, chain[0], pages)
    chunks = {one.chunk: (place, one) for place, one in reversed(list(enumerate(chain)))}
    pages.known.clear()
    for lba in range(chain[0].logical_pages):
        if lba in newest:
            yield newest[lba].data
            continue
        place, candidates = said.get(lba, (len(chain), []))
        chunk_place, one = chunks.get(lba // chain[0].in_chunk, (len(chain), None))
        if chunk_place < place:
            candidates = [one.entry(lba)]
        counting = [page for page in (read_page_at(nand, at) for at in candidates) if page]
        page = max(counting, key=lambda page: page.sequence, default=None)
        yield page.data if page and page.lba == lba else None


def main():
    options = part.arguments(__doc__, part.NAND_GEOMETRY, "IMAGE", "FILE").parse_args()
    part.run("nand_ftl.py", options.IMAGE, lambda: copy(options))


def copy(options):
    nand = part.open_nand(options)
    count = 0
    with open(options.FILE, "wb") as output:
        for data in contents(nand):
            count += data is not None
            output.write(data or bytes(nand.page_bytes))
    print(f"{count} logical pages have contents")


if __name__ == "__main__":
    main()

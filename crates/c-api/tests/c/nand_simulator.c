/* The simulated part: see nand_simulator.h. */
#include "nand_simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_PAGES = NAND_BLOCKS * NAND_PAGES, MARK_COLUMN = NAND_PAGE_BYTES + 5 };

static uint32_t next_random(struct nand_simulator *part) {
    uint32_t x = part->random;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    part->random = x;
    return x;
}

static void expect(int is_kept, const char *what) {
    if (!is_kept) {
        fprintf(stderr, "the library has broken the contract: %s\n", what);
        abort();
    }
}

/* Whether the power fails in this operation. */
static int fails_now(struct nand_simulator *part) {
    part->is_loaded = 0;
    if (part->operations_left < 0) return 0;
    if (part->operations_left > 0) {
        part->operations_left--;
        return 0;
    }
    part->is_off = 1;
    return 1;
}

/* Whether the block goes bad in this operation. */
static int breaks_now(struct nand_simulator *part, uint32_t block) {
    if (!part->breaks_next) return 0;
    part->breaks_next = 0;
    part->has_failed[block] = 1;
    return 1;
}

static int simulator_load(void *context, uint32_t page) {
    struct nand_simulator *part = context;
    uint32_t wrong = next_random(part) % (NAND_PAGE_BYTES * 8 * 2);
    expect(page < PART_PAGES, "a load outside of the part");
    if (part->is_off) return NAND_OFF;
    part->loads++;
    memcpy(part->data, part->cells[page], sizeof part->data);
    if (part->is_unstable[page / NAND_PAGES]) {
        for (uint32_t i = 0; i < NAND_REGISTER_BYTES; i++) part->data[i] |= (uint8_t)next_random(part);
    }
    if (part->unstable_bit[page] != 0 && next_random(part) % 2) {
        part->data[part->unstable_bit[page] / 8] ^= (uint8_t)(1 << part->unstable_bit[page] % 8);
    } else if (wrong < NAND_PAGE_BYTES * 8) {
        part->data[wrong / 8] ^= (uint8_t)(1 << wrong % 8);
    }
    part->column = 0;
    part->is_loaded = 1;
    return 0;
}

static int simulator_fetch(void *context, uint32_t column, void *buffer, uint32_t bytes) {
    struct nand_simulator *part = context;
    if (part->is_off) return NAND_OFF;
    expect(part->is_loaded, "a fetch without a load");
    expect(column >= part->column, "a fetch that goes backwards");
    expect(column <= NAND_REGISTER_BYTES && bytes <= NAND_REGISTER_BYTES - column, "a fetch outside of the register");
    memcpy(buffer, &part->data[column], bytes);
    part->column = column + bytes;
    return 0;
}

/* Puts the pieces into the register. */
static void fill(struct nand_simulator *part, const struct norn_nand_piece *pieces, uint32_t count) {
    uint32_t column = 0;
    expect(count <= NORN_NAND_PIECES_MAX, "too many pieces");
    for (uint32_t i = 0; i < count; i++) {
        expect(pieces[i].column >= column, "pieces that do not ascend");
        column = pieces[i].column + pieces[i].bytes;
        expect(column <= NAND_REGISTER_BYTES, "a piece outside of the register");
        memcpy(&part->data[pieces[i].column], pieces[i].data, pieces[i].bytes);
    }
}

/* What a program leaves that is cut: nothing of it, half of its bits, or all but one, which is undecided. */
static void tear(struct nand_simulator *part, uint32_t page) {
    uint8_t *cells = part->cells[page];
    uint32_t shape = next_random(part) % 3, zero = next_random(part) % NAND_PAGE_BYTES;
    for (uint32_t i = 0; i < NAND_REGISTER_BYTES && shape > 0; i++) {
        cells[i] &= (uint8_t)(part->data[i] | (shape == 1 ? next_random(part) : 0));
    }
    while (shape == 2 && cells[zero] == 0xFF) zero = (zero + 1) % NAND_REGISTER_BYTES;
    for (uint32_t bit = 0; shape == 2 && bit < 8; bit++) {
        if ((cells[zero] >> bit & 1) == 0) part->unstable_bit[page] = (uint16_t)(zero * 8 + bit);
    }
}

static int program_register(struct nand_simulator *part, uint32_t page) {
    uint32_t block = page / NAND_PAGES;
    expect(page < PART_PAGES, "a program outside of the part");
    if (part->is_off) return NAND_OFF;
    if (part->hook) part->hook(part->hook_context);
    expect(block != NAND_BAD_BLOCK && !part->has_failed[block], "a program in a bad block");
    expect(!part->is_unstable[block], "a program in a block whose erase was cut");
    expect(page % NAND_PAGES >= part->next_page[block], "a page programmed twice, or after a later one");
    expect(part->data[MARK_COLUMN] == 0xFF, "a program of the mark of bad blocks");
    part->programs++;
    part->next_page[block] = (uint8_t)(page % NAND_PAGES + 1);
    if (fails_now(part)) {
        tear(part, page);
        return NAND_OFF;
    }
    if (breaks_now(part, block)) return NORN_NAND_BLOCK_FAILED;
    memcpy(part->cells[page], part->data, sizeof part->data);
    return 0;
}

static int simulator_program(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    struct nand_simulator *part = context;
    memset(part->data, 0xFF, sizeof part->data);
    fill(part, pieces, count);
    return program_register(part, page);
}

static int simulator_copy(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    struct nand_simulator *part = context;
    expect(part->is_off || part->is_loaded, "a program of a register that is empty");
    fill(part, pieces, count);
    return program_register(part, page);
}

static int simulator_erase(void *context, uint32_t block) {
    struct nand_simulator *part = context;
    int is_cut;
    expect(block < NAND_BLOCKS, "an erase outside of the part");
    if (part->is_off) return NAND_OFF;
    expect(block != NAND_BAD_BLOCK && !part->has_failed[block], "an erase of a bad block");
    part->erases++;
    is_cut = fails_now(part);
    if (!is_cut && breaks_now(part, block)) return NORN_NAND_BLOCK_FAILED;
    for (uint32_t page = block * NAND_PAGES; page < (block + 1) * NAND_PAGES; page++) {
        for (uint32_t i = 0; i < NAND_REGISTER_BYTES; i++) {
            part->cells[page][i] |= is_cut ? (uint8_t)next_random(part) : 0xFF;
        }
        part->unstable_bit[page] = 0;
    }
    part->is_unstable[block] = (uint8_t)is_cut;
    part->next_page[block] = 0;
    return is_cut ? NAND_OFF : 0;
}

void nand_init(struct nand_simulator *part, uint32_t seed) {
    memset(part, 0, sizeof *part);
    memset(part->cells, 0xFF, sizeof part->cells);
    part->cells[NAND_BAD_BLOCK * NAND_PAGES][MARK_COLUMN] = 0;
    part->random = seed * 2654435761u + 1;
    part->operations_left = -1;
}

void nand_power(struct nand_simulator *part, long operations) {
    part->is_off = 0;
    part->is_loaded = 0;
    part->operations_left = operations;
}

struct norn_nand nand_of(struct nand_simulator *part) {
    struct norn_nand nand = {0};
    nand.context = part;
    nand.load = simulator_load;
    nand.fetch = simulator_fetch;
    nand.program = simulator_program;
    nand.program_loaded = simulator_copy;
    nand.erase = simulator_erase;
    nand.block_count = NAND_BLOCKS;
    nand.pages_per_block = NAND_PAGES;
    nand.page_bytes = NAND_PAGE_BYTES;
    nand.oob_bytes = NAND_OOB_BYTES;
    nand.columns = NORN_COLUMNS_FORWARDS;
    nand.bad_mark_column = MARK_COLUMN;
    nand.bad_mark_pages = 2;
    nand.good_blocks_min = NAND_BLOCKS - 4;
    nand.correction_bits = 1;
    nand.correction_bytes = NAND_PAGE_BYTES;
    return nand;
}

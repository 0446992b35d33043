/*
 * A NAND part in memory, whose power fails at a chosen operation. It keeps to what the contract of `struct norn_nand`
 * allows and no more: loads err by a bit, a block is marked bad, and it ends the program where a caller breaks its side.
 */
#ifndef NAND_SIMULATOR_H
#define NAND_SIMULATOR_H

#include <stdint.h>

#include "norn.h"

enum {
    NAND_BLOCKS = 64,
    NAND_PAGES = 8, /* of a block */
    NAND_PAGE_BYTES = 512,
    NAND_OOB_BYTES = 16,
    NAND_REGISTER_BYTES = NAND_PAGE_BYTES + NAND_OOB_BYTES,
    NAND_BAD_BLOCK = 3,
    /* What the functions return once the power is off. */
    NAND_OFF = 78
};

struct nand_simulator {
    uint8_t cells[NAND_BLOCKS * NAND_PAGES][NAND_REGISTER_BYTES];
    /* The bit of a page that a cut has left neither programmed nor not: it differs from load to load. 0: none. */
    uint16_t unstable_bit[NAND_BLOCKS * NAND_PAGES];
    /* Blocks whose erase was cut: their zeros may read as ones. */
    uint8_t is_unstable[NAND_BLOCKS];
    /* The page of a block that may be programmed next. */
    uint8_t next_page[NAND_BLOCKS];
    /* Whether the next program or erase fails, so that its block has gone bad. */
    int breaks_next;
    uint8_t has_failed[NAND_BLOCKS];
    uint8_t data[NAND_REGISTER_BYTES];
    uint32_t column;
    int is_loaded;
    /* Programs and erases until the power fails in one; negative: never. */
    long operations_left;
    int is_off;
    uint32_t random;
    long loads, programs, erases;
    /* Called in each program, if it is there. */
    void (*hook)(void *context);
    void *hook_context;
};

/* Makes an erased part. */
void nand_init(struct nand_simulator *part, uint32_t seed);

/* Turns the power on, until it fails in the operation after so many. */
void nand_power(struct nand_simulator *part, long operations);

/* The part for the library. */
struct norn_nand nand_of(struct nand_simulator *part);

#endif

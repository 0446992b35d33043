/*
 * A NOR part in memory, whose power fails at a chosen operation. It keeps to what the contract of `struct norn_nor`
 * allows and no more: it ends the program where a caller breaks its side.
 */
#ifndef NOR_SIMULATOR_H
#define NOR_SIMULATOR_H

#include <stdint.h>

#include "norn.h"

enum {
    SIMULATOR_UNITS = 16,
    SIMULATOR_UNIT_BYTES = 1024,
    SIMULATOR_PROGRAM_UNIT = 8,
    SIMULATOR_BYTES = SIMULATOR_UNITS * SIMULATOR_UNIT_BYTES,
    /* What the functions return once the power is off. */
    SIMULATOR_OFF = 77
};

struct nor_simulator {
    uint8_t cells[SIMULATOR_BYTES];
    /* Program units that were programmed since their unit was erased. */
    uint8_t is_programmed[SIMULATOR_BYTES / SIMULATOR_PROGRAM_UNIT];
    /* Units whose erase was cut: their zeros may read as ones. */
    uint8_t is_unstable[SIMULATOR_UNITS];
    /* How often a program unit may be programmed: what the part says of itself. NORN_REPROGRAMMING_ONCE at first. */
    uint32_t reprogramming;
    /* Programs and erases until the power fails in one; negative: never. */
    long operations_left;
    int is_off;
    uint32_t random;
    /* Whether it forgives: below a driver that is at fault, on purpose. A program then clears what is 0. */
    int is_lenient;
    /* Called in each program, if it is there. */
    void (*hook)(void *context);
    void *hook_context;
};

/* Fills the part with arbitrary bytes, as a part that was used for something else. */
void simulator_init(struct nor_simulator *part, uint32_t seed);

/* Turns the power on, until it fails in the operation after so many. */
void simulator_power(struct nor_simulator *part, long operations);

/* Cuts the power in each operation of `run`, which begins on the part as it is, makes `changes` and returns how many were
   acknowledged. Calls `recover` with that on what was left, for each number of operations below `mount_cuts` after
   which the power is to fail again. Returns how often it was cut; the part is then as the whole run left it. */
long simulator_cut_everywhere(struct nor_simulator *part, uint32_t changes, uint32_t (*run)(uint32_t changes),
                              void (*recover)(long operations, uint32_t acknowledged), long mount_cuts);

/* The part for the library. */
struct norn_nor simulator_nor(struct nor_simulator *part);

#endif

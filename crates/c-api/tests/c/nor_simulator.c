/* The simulated part: see nor_simulator.h. */
#include "nor_simulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next_random(struct nor_simulator *part) {
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
static int fails_now(struct nor_simulator *part) {
    if (part->operations_left < 0) return 0;
    if (part->operations_left > 0) {
        part->operations_left--;
        return 0;
    }
    part->is_off = 1;
    return 1;
}

static int simulator_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    struct nor_simulator *part = context;
    uint8_t *out = buffer;
    expect(address <= SIMULATOR_BYTES && bytes <= SIMULATOR_BYTES - address, "a read outside of the part");
    if (part->is_off) return SIMULATOR_OFF;
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = part->cells[address + i];
        if (part->is_unstable[(address + i) / SIMULATOR_UNIT_BYTES]) out[i] |= (uint8_t)next_random(part);
    }
    return 0;
}

static int simulator_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    struct nor_simulator *part = context;
    const uint8_t *in = data;
    int is_cut;
    expect(address <= SIMULATOR_BYTES && bytes <= SIMULATOR_BYTES - address, "a program outside of the part");
    expect(address % SIMULATOR_PROGRAM_UNIT == 0 && bytes % SIMULATOR_PROGRAM_UNIT == 0, "a part of a program unit");
    if (part->is_off) return SIMULATOR_OFF;
    if (part->hook) part->hook(part->hook_context);
    for (uint32_t i = 0; i < bytes && !part->is_lenient; i++) {
        int is_unstable = part->is_unstable[(address + i) / SIMULATOR_UNIT_BYTES];
        expect(!is_unstable || in[i] == 0, "a program in a unit whose erase was cut");
        expect(is_unstable || (in[i] & ~part->cells[address + i]) == 0, "a program that sets bits");
    }
    for (uint32_t unit = address / SIMULATOR_PROGRAM_UNIT; unit < (address + bytes) / SIMULATOR_PROGRAM_UNIT; unit++) {
        int is_once = part->reprogramming == NORN_REPROGRAMMING_ONCE;
        expect(!is_once || !part->is_programmed[unit] || part->is_lenient, "a program unit programmed twice");
        part->is_programmed[unit] = 1;
    }
    is_cut = fails_now(part);
    for (uint32_t i = 0; i < bytes; i++) {
        uint8_t kept = is_cut ? (uint8_t)next_random(part) : 0;
        part->cells[address + i] &= (uint8_t)(in[i] | kept);
    }
    return is_cut ? SIMULATOR_OFF : 0;
}

static int simulator_erase(void *context, uint32_t address) {
    struct nor_simulator *part = context;
    uint32_t unit = address / SIMULATOR_UNIT_BYTES;
    int is_cut;
    expect(address < SIMULATOR_BYTES && address % SIMULATOR_UNIT_BYTES == 0, "an erase of no unit");
    if (part->is_off) return SIMULATOR_OFF;
    is_cut = fails_now(part);
    for (uint32_t i = 0; i < SIMULATOR_UNIT_BYTES; i++) {
        part->cells[address + i] |= is_cut ? (uint8_t)next_random(part) : 0xFF;
    }
    part->is_unstable[unit] = (uint8_t)is_cut;
    if (!is_cut) {
        uint32_t first = address / SIMULATOR_PROGRAM_UNIT;
        memset(&part->is_programmed[first], 0, SIMULATOR_UNIT_BYTES / SIMULATOR_PROGRAM_UNIT);
    }
    return is_cut ? SIMULATOR_OFF : 0;
}

void simulator_init(struct nor_simulator *part, uint32_t seed) {
    memset(part, 0, sizeof *part);
    part->random = seed * 2654435761u + 1;
    for (uint32_t i = 0; i < SIMULATOR_BYTES; i++) part->cells[i] = (uint8_t)next_random(part);
    memset(part->is_programmed, 1, sizeof part->is_programmed);
    part->operations_left = -1;
    part->reprogramming = NORN_REPROGRAMMING_ONCE;
}

void simulator_power(struct nor_simulator *part, long operations) {
    part->is_off = 0;
    part->operations_left = operations;
}

long simulator_cut_everywhere(struct nor_simulator *part, uint32_t changes, uint32_t (*run)(uint32_t changes),
                              void (*recover)(long operations, uint32_t acknowledged), long mount_cuts) {
    static struct nor_simulator begun, cut;
    begun = *part;
    for (long cuts = 0;; cuts++) {
        uint32_t acknowledged;
        *part = begun;
        part->random += (uint32_t)cuts;
        simulator_power(part, cuts);
        acknowledged = run(changes);
        if (!part->is_off) return cuts;
        cut = *part;
        for (long of_mount = 0; of_mount < mount_cuts; of_mount++) {
            *part = cut;
            recover(of_mount, acknowledged);
        }
    }
}

struct norn_nor simulator_nor(struct nor_simulator *part) {
    struct norn_nor nor = {0};
    nor.context = part;
    nor.read = simulator_read;
    nor.program = simulator_program;
    nor.erase = simulator_erase;
    nor.unit_bytes = SIMULATOR_UNIT_BYTES;
    nor.unit_count = SIMULATOR_UNITS;
    nor.program_unit_bytes = SIMULATOR_PROGRAM_UNIT;
    nor.reprogramming = part->reprogramming;
    return nor;
}

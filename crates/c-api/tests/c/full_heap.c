/*
 * What a full heap takes to be used again, as the header says it: after NORN_ERROR_FULL, deletions that free what two
 * erase units hold, 8 bytes and the elements of an object counted in whole program units, make room for what was
 * refused. Over parts, sizes and orders of deletion, several times on each part; what is left reads as it was written.
 *
 *     full_heap [ROUNDS [SEED]]
 */
#include <string.h>

#include "expect.h"
#include "norn.h"

enum { UNITS_MAX = 24, BYTES_MAX = 64 * 1024, OBJECTS_MAX = 4000, HEADER = 8, UNITS_TO_FREE = 2 };

static uint8_t cells[BYTES_MAX];
static uint32_t memory[NORN_HEAP_BYTES(UNITS_MAX) / 4];
static norn_ref objects[OBJECTS_MAX];
static uint32_t count;
static struct norn_heap heap;
static struct norn_nor nor;
static uint32_t seed = 2006;

static uint32_t below(uint32_t bound) {
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed % bound;
}

static int part_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    (void)context;
    memcpy(buffer, cells + address, bytes);
    return 0;
}

static int part_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    const uint8_t *from = data;
    (void)context;
    for (uint32_t at = 0; at < bytes; at++) cells[address + at] &= from[at];
    return 0;
}

static int part_erase(void *context, uint32_t address) {
    (void)context;
    memset(cells + address, 0xFF, nor.unit_bytes);
    return 0;
}

static void begin(uint32_t units, uint32_t unit_bytes, uint32_t program_unit) {
    struct norn_heap_config config;
    nor.read = part_read, nor.program = part_program, nor.erase = part_erase;
    nor.unit_bytes = unit_bytes, nor.unit_count = units, nor.program_unit_bytes = program_unit;
    nor.reprogramming = NORN_REPROGRAMMING_ONCE;
    memset(cells, 0xFF, sizeof cells);
    config.nor = &nor, config.memory = memory, config.memory_bytes = sizeof memory;
    EXPECT_OK(norn_heap_format(&heap, &config));
    EXPECT_OK(norn_heap_mount(&heap, &config));
    count = 0;
}

/* Creates an object, and writes its number into it. */
static int create(uint8_t size) {
    uint8_t value[255];
    int error = norn_heap_create_array(&heap, size, 1, &objects[count]);
    if (error != NORN_OK) return error;
    memset(value, (int)(objects[count] % 251), sizeof value);
    error = norn_heap_array_write(&heap, objects[count], 0, value, size);
    count++;
    EXPECT(count < OBJECTS_MAX && (error == NORN_OK || error == NORN_ERROR_FULL));
    /* A full heap may have no room for a value: an array of zeros then, which is not counted. */
    if (error != NORN_OK) {
        EXPECT_OK(norn_heap_delete(&heap, objects[--count]));
    }
    return error;
}

enum order { LAST_FIRST, FIRST_FIRST, AT_RANDOM, ORDERS };

static void delete_one(enum order order) {
    uint32_t at = order == LAST_FIRST ? count - 1 : order == FIRST_FIRST ? 0 : below(count);
    EXPECT_OK(norn_heap_delete(&heap, objects[at]));
    memmove(objects + at, objects + at + 1, (count - at - 1) * sizeof objects[0]);
    count--;
}

static void expect_values(uint8_t size) {
    for (uint32_t at = 0; at < count; at++) {
        uint8_t value[255];
        EXPECT_OK(norn_heap_array_read(&heap, objects[at], 0, value, size));
        for (uint8_t byte = 0; byte < size; byte++) EXPECT(value[byte] == objects[at] % 251);
    }
}

/* Fills the heap, and frees what has to be enough. Returns how many deletions that were. */
static uint32_t fill_and_free(uint8_t size, enum order order) {
    uint32_t object = (HEADER + size + nor.program_unit_bytes - 1) / nor.program_unit_bytes * nor.program_unit_bytes;
    uint32_t freed = 0, deletions = 0;
    int error;
    while ((error = create(size)) == NORN_OK) {}
    EXPECT(error == NORN_ERROR_FULL);
    for (; freed < UNITS_TO_FREE * nor.unit_bytes && count > 0; freed += object, deletions++) delete_one(order);
    EXPECT_OK(create(size));
    return deletions;
}

int main(int argc, char **argv) {
    static const uint32_t parts[][3] = {{12, 1024, 4}, {16, 1024, 8}, {16, 2048, 8}, {24, 1024, 4}, {16, 4096, 32}};
    static const uint8_t sizes[] = {1, 16, 100, 255};
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 3;
    uint32_t runs = 0, deletions = 0;
    if (argc > 2) seed = (uint32_t)strtoul(argv[2], NULL, 10);
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        for (size_t size = 0; size < sizeof sizes; size++) {
            for (int order = 0; order < ORDERS; order++) {
                begin(parts[part][0], parts[part][1], parts[part][2]);
                for (long round = 0; round < rounds; round++, runs++) deletions += fill_and_free(sizes[size], order);
                expect_values(sizes[size]);
                EXPECT_OK(norn_heap_unmount(&heap));
            }
        }
    }
    EXPECT(runs > 0 && deletions > runs);
    printf("%u full heaps took what was refused after %u deletions\n", (unsigned)runs, (unsigned)deletions);
    return 0;
}

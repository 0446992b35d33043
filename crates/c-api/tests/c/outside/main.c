/* A project outside of Norn's tree: a boot counter on a part in RAM, which a board replaces by its own functions. */
#include <string.h>

#include <norn.h>

enum { UNITS = 16, UNIT_BYTES = 1024 };

static uint8_t cells[UNITS * UNIT_BYTES];
static struct norn_heap heap;
static uint32_t memory[NORN_HEAP_BYTES(UNITS) / 4];

static int part_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    (void)context;
    memcpy(buffer, &cells[address], bytes);
    return 0;
}

static int part_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    const uint8_t *from = data;
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) cells[address + i] &= from[i];
    return 0;
}

static int part_erase(void *context, uint32_t address) {
    (void)context;
    memset(&cells[address], 0xFF, UNIT_BYTES);
    return 0;
}

static const struct norn_nor nor = {
    .read = part_read,
    .program = part_program,
    .erase = part_erase,
    .unit_bytes = UNIT_BYTES,
    .unit_count = UNITS,
    .program_unit_bytes = 8,
    .reprogramming = NORN_REPROGRAMMING_ONCE,
};

/* Counts a start; returns the number of starts, or an error. */
static int count_start(void) {
    const struct norn_heap_config config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
    uint32_t starts = 0;
    norn_ref counter = 0;
    int error = norn_heap_mount(&heap, &config);
    if (error == NORN_ERROR_NOT_FORMATTED) {
        error = norn_heap_format(&heap, &config);
        if (error == NORN_OK) error = norn_heap_mount(&heap, &config);
    }
    if (error == NORN_OK) error = norn_heap_root(&heap, "starts", &counter);
    if (error == NORN_OK && counter == 0) {
        error = norn_heap_begin(&heap);
        if (error == NORN_OK) error = norn_heap_create(&heap, 1, 4, &counter);
        if (error == NORN_OK) error = norn_heap_set_root(&heap, "starts", counter);
        if (error == NORN_OK) error = norn_heap_commit(&heap);
    }
    if (error == NORN_OK) error = norn_heap_get_field(&heap, counter, 0, &starts, sizeof starts);
    starts++;
    if (error == NORN_OK) error = norn_heap_put_field(&heap, counter, 0, &starts, sizeof starts);
    if (error == NORN_OK) error = norn_heap_unmount(&heap);
    return error == NORN_OK ? (int)starts : error;
}

int main(void) {
    for (int start = 1; start <= 3; start++) {
        if (count_start() != start) return start;
    }
    return 0;
}

/* The part in RAM. On a board with flash of its own, these functions program the chip. */
#include "board.h"

/* Memory that a reset leaves as it is, and a word before it that says that it is a part. */
static volatile uint32_t *const magic = (volatile uint32_t *)0x21000000;
static volatile uint8_t *const cells = (volatile uint8_t *)0x21000004;
static const uint32_t IS_PART = 0x6E726F4E;

static int part_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    uint8_t *to = buffer;
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) to[i] = cells[address + i];
    return 0;
}

/* Programming clears bits. What it would program a second time is refused: the chip has a code over each word. */
static int part_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    const uint8_t *from = data;
    (void)context;
    for (uint32_t i = 0; i < bytes; i++) {
        if (cells[address + i] != 0xFF) return 1;
    }
    for (uint32_t i = 0; i < bytes; i++) cells[address + i] = from[i];
    return 0;
}

static int part_erase(void *context, uint32_t address) {
    (void)context;
    for (uint32_t i = 0; i < PART_UNIT_BYTES; i++) cells[address + i] = 0xFF;
    return 0;
}

const struct norn_nor board_part = {
    .read = part_read,
    .program = part_program,
    .erase = part_erase,
    .unit_bytes = PART_UNIT_BYTES,
    .unit_count = PART_UNITS,
    .program_unit_bytes = PART_WORD_BYTES,
    .reprogramming = NORN_REPROGRAMMING_ONCE,
};

void board_start_part(void) {
    if (*magic == IS_PART) return;
    for (uint32_t unit = 0; unit < PART_UNITS; unit++) part_erase(0, unit * PART_UNIT_BYTES);
    *magic = IS_PART;
}

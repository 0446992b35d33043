/* A part in a file. On a board these three functions program the chip. */
#include "file_nor.h"

#include <string.h>

enum { FILE_FAILED = 1 };

/* Flash only clears bits when it is programmed, and sets them a unit at a time. */

static int file_read(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    FILE *file = context;
    if (fseek(file, (long)address, SEEK_SET) != 0) return FILE_FAILED;
    return fread(buffer, 1, bytes, file) == bytes ? 0 : FILE_FAILED;
}

static int file_write(FILE *file, uint32_t address, const void *data, uint32_t bytes) {
    if (fseek(file, (long)address, SEEK_SET) != 0) return FILE_FAILED;
    if (fwrite(data, 1, bytes, file) != bytes) return FILE_FAILED;
    /* A call that has returned is complete. */
    return fflush(file) == 0 ? 0 : FILE_FAILED;
}

static int file_program(void *context, uint32_t address, const void *data, uint32_t bytes) {
    const uint8_t *from = data;
    uint8_t word[FILE_NOR_PROGRAM_UNIT];
    for (uint32_t done = 0; done < bytes; done += sizeof word) {
        int error = file_read(context, address + done, word, sizeof word);
        if (error != 0) return error;
        for (size_t i = 0; i < sizeof word; i++) word[i] &= from[done + i];
        error = file_write(context, address + done, word, sizeof word);
        if (error != 0) return error;
    }
    return 0;
}

static int file_erase(void *context, uint32_t address) {
    uint8_t erased[FILE_NOR_UNIT_BYTES];
    memset(erased, 0xFF, sizeof erased);
    return file_write(context, address, erased, sizeof erased);
}

int file_nor_open(struct norn_nor *nor, const char *path) {
    FILE *file = fopen(path, "r+b");
    int is_new = file == NULL;
    if (is_new) file = fopen(path, "w+b");
    if (file == NULL) return -1;
    for (uint32_t unit = 0; is_new && unit < FILE_NOR_UNITS; unit++) {
        if (file_erase(file, unit * FILE_NOR_UNIT_BYTES) != 0) {
            fclose(file);
            return -1;
        }
    }
    memset(nor, 0, sizeof *nor);
    nor->context = file;
    nor->read = file_read;
    nor->program = file_program;
    nor->erase = file_erase;
    nor->unit_bytes = FILE_NOR_UNIT_BYTES;
    nor->unit_count = FILE_NOR_UNITS;
    nor->program_unit_bytes = FILE_NOR_PROGRAM_UNIT;
    nor->reprogramming = NORN_REPROGRAMMING_ONCE;
    return 0;
}

void file_nor_close(struct norn_nor *nor) {
    fclose(nor->context);
}

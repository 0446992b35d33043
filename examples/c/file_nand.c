/* A NAND part in a file. On a board these functions command the chip, whose register takes the place of `data`. */
#include "file_nand.h"

#include <string.h>

enum { FILE_FAILED = 1 };

static int seek(struct file_nand *part, uint32_t page) {
    return fseek(part->file, (long)page * (long)sizeof part->data, SEEK_SET) == 0 ? 0 : FILE_FAILED;
}

static int file_load(void *context, uint32_t page) {
    struct file_nand *part = context;
    if (seek(part, page) != 0) return FILE_FAILED;
    return fread(part->data, 1, sizeof part->data, part->file) == sizeof part->data ? 0 : FILE_FAILED;
}

static int file_fetch(void *context, uint32_t column, void *buffer, uint32_t bytes) {
    struct file_nand *part = context;
    memcpy(buffer, &part->data[column], bytes);
    return 0;
}

/* Programs what is in the register, changed by the pieces. A call that has returned is complete. */
static int file_program_loaded(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    struct file_nand *part = context;
    for (uint32_t i = 0; i < count; i++) memcpy(&part->data[pieces[i].column], pieces[i].data, pieces[i].bytes);
    if (seek(part, page) != 0) return FILE_FAILED;
    if (fwrite(part->data, 1, sizeof part->data, part->file) != sizeof part->data) return FILE_FAILED;
    return fflush(part->file) == 0 ? 0 : FILE_FAILED;
}

static int file_program(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    struct file_nand *part = context;
    memset(part->data, 0xFF, sizeof part->data);
    return file_program_loaded(context, page, pieces, count);
}

static int file_erase(void *context, uint32_t block) {
    for (uint32_t page = block * FILE_NAND_PAGES; page < (block + 1) * FILE_NAND_PAGES; page++) {
        int error = file_program(context, page, NULL, 0);
        if (error != 0) return error;
    }
    return 0;
}

int file_nand_open(struct norn_nand *nand, struct file_nand *part, const char *path) {
    int is_new;
    part->file = fopen(path, "r+b");
    is_new = part->file == NULL;
    if (is_new) part->file = fopen(path, "w+b");
    if (part->file == NULL) return -1;
    for (uint32_t block = 0; is_new && block < FILE_NAND_BLOCKS; block++) {
        if (file_erase(part, block) != 0) {
            fclose(part->file);
            return -1;
        }
    }
    memset(nand, 0, sizeof *nand);
    nand->context = part;
    nand->load = file_load;
    nand->fetch = file_fetch;
    nand->program = file_program;
    nand->program_loaded = file_program_loaded;
    nand->erase = file_erase;
    nand->block_count = FILE_NAND_BLOCKS;
    nand->pages_per_block = FILE_NAND_PAGES;
    nand->page_bytes = FILE_NAND_PAGE_BYTES;
    nand->oob_bytes = FILE_NAND_OOB_BYTES;
    nand->columns = NORN_COLUMNS_ANYWHERE;
    nand->bad_mark_column = FILE_NAND_PAGE_BYTES + 5;
    nand->bad_mark_pages = 2;
    nand->good_blocks_min = FILE_NAND_BLOCKS - 4;
    nand->correction_bits = 1;
    nand->correction_bytes = FILE_NAND_PAGE_BYTES;
    return 0;
}

void file_nand_close(struct file_nand *part) {
    fclose(part->file);
}

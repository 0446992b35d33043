/*
 * A block device: pages that are read, written and trimmed, each whole whatever happens.
 *
 *     disk FILE                   what the device is and has done
 *     disk FILE write PAGE TEXT   writes a page
 *     disk FILE read PAGE         shows its text
 *     disk FILE trim PAGE         forgets it
 *
 * Build: cc -std=c99 disk.c file_nand.c $(pkg-config --cflags --libs norn) -o disk
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nand.h"

enum { LOGICAL_PAGES = 3000 };

static int mount(struct norn_ftl *disk, const struct norn_nand *nand) {
    static uint32_t memory[NORN_FTL_BYTES(FILE_NAND_BLOCKS, FILE_NAND_PAGES, FILE_NAND_PAGE_BYTES, FILE_NAND_OOB_BYTES,
                                          LOGICAL_PAGES) / 4];
    const struct norn_ftl_config config = {
        .nand = nand, .memory = memory, .memory_bytes = sizeof memory, .logical_pages = LOGICAL_PAGES};
    int error = norn_ftl_mount(disk, &config);
    if (error == NORN_ERROR_NOT_FORMATTED) {
        error = norn_ftl_format(disk, &config);
        if (error == NORN_OK) error = norn_ftl_mount(disk, &config);
    }
    return error;
}

static int show_device(struct norn_ftl *disk) {
    struct norn_ftl_info info;
    int error = norn_ftl_tell(disk, &info);
    if (error != NORN_OK) return error;
    printf("%lu pages of %lu bytes on %lu good blocks\n", (unsigned long)info.logical_pages,
           (unsigned long)info.page_bytes, (unsigned long)info.good_blocks);
    return NORN_OK;
}

static int write_text(struct norn_ftl *disk, uint32_t page, const char *text) {
    char bytes[FILE_NAND_PAGE_BYTES] = {0};
    int more = 1;
    memcpy(bytes, text, strlen(text) < sizeof bytes ? strlen(text) : sizeof bytes - 1);
    int error = norn_ftl_write(disk, page, bytes, sizeof bytes);
    /* Collects ahead of time, where a board has nothing else to do. */
    while (error == NORN_OK && more > 0) more = norn_ftl_recycle_step(disk, FILE_NAND_PAGES / 2);
    return more < 0 ? more : error;
}

static int show_text(struct norn_ftl *disk, uint32_t page) {
    char bytes[FILE_NAND_PAGE_BYTES];
    int error = norn_ftl_read(disk, page, bytes, sizeof bytes);
    if (error == NORN_OK) printf("%.*s\n", (int)sizeof bytes, bytes);
    return error;
}

static int serve(struct norn_ftl *disk, int argc, char **argv) {
    uint32_t page = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    if (argc == 2) return show_device(disk);
    if (argc == 5) return write_text(disk, page, argv[4]);
    return strcmp(argv[2], "read") == 0 ? show_text(disk, page) : norn_ftl_trim(disk, page, 1);
}

static int is_understood(int argc, char **argv) {
    if (argc == 4) return strcmp(argv[2], "read") == 0 || strcmp(argv[2], "trim") == 0;
    return argc == 2 || (argc == 5 && strcmp(argv[2], "write") == 0);
}

int main(int argc, char **argv) {
    static struct norn_ftl disk;
    static struct file_nand part;
    struct norn_nand nand;
    int error, last;
    if (!is_understood(argc, argv)) {
        fprintf(stderr, "usage: disk FILE [write PAGE TEXT | read PAGE | trim PAGE]\n");
        return 2;
    }
    if (file_nand_open(&nand, &part, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    error = mount(&disk, &nand);
    if (error == NORN_OK) {
        error = serve(&disk, argc, argv);
        last = norn_ftl_unmount(&disk);
        if (error == NORN_OK) error = last;
    }
    file_nand_close(&part);
    if (error != NORN_OK) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

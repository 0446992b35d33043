/* A NAND part in a file, for programs on a host: 128 blocks of 32 pages of 512 bytes, each with 16 out of band, as small
   SLC parts have; 2 MB. */
#ifndef FILE_NAND_H
#define FILE_NAND_H

#include <stdio.h>

#include "norn.h"

enum { FILE_NAND_BLOCKS = 128, FILE_NAND_PAGES = 32, FILE_NAND_PAGE_BYTES = 512, FILE_NAND_OOB_BYTES = 16 };

/* What a driver has besides the part: the register of a chip. */
struct file_nand {
    FILE *file;
    uint8_t data[FILE_NAND_PAGE_BYTES + FILE_NAND_OOB_BYTES];
};

/* Opens a part in a file, erased if the file is new. Returns 0, or -1 with errno set. */
int file_nand_open(struct norn_nand *nand, struct file_nand *part, const char *path);

void file_nand_close(struct file_nand *part);

#endif

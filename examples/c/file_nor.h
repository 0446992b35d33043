/* A NOR part in a file, for programs on a host: 64 units of 2 KB whose 8-byte words are programmed once, as an STM32L4.
   It can do more: a program that sets `reprogramming` to NORN_REPROGRAMMING_UNLIMITED has a serial NOR part. */
#ifndef FILE_NOR_H
#define FILE_NOR_H

#include <stdio.h>

#include "norn.h"

enum { FILE_NOR_UNITS = 64, FILE_NOR_UNIT_BYTES = 2048, FILE_NOR_PROGRAM_UNIT = 8 };

/* Opens a part in a file, erased if the file is new. Returns 0, or -1 with errno set. */
int file_nor_open(struct norn_nor *nor, const char *path);

void file_nor_close(struct norn_nor *nor);

#endif

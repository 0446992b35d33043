/*
 * Code that is executed from NAND through a cache of 1 KB: a calculator whose program is text. Digits are put on a
 * stack, + - * take the two last numbers off it, and . shows the last.
 *
 *     code FILE write PROGRAM    writes a program, which takes the place of the one before when it is whole
 *     code FILE run TIMES        runs it so often
 *
 * Build: cc -std=c99 code.c file_nand.c $(pkg-config --cflags --libs norn) -o code
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nand.h"

enum { CACHE_PAGE_BYTES = 60, FRAMES = 16, STACK = 16 };

struct machine {
    struct norn_pager *pager;
    long stack[STACK];
    uint32_t depth;
};

static void give(void *context, uint32_t offset, void *buffer, uint32_t bytes) {
    memcpy(buffer, (const char *)context + offset, bytes);
}

static struct norn_pager_config place(const struct norn_nand *nand) {
    static uint32_t memory[NORN_PAGER_BYTES(FRAMES, CACHE_PAGE_BYTES) / 4];
    const struct norn_pager_config config = {.nand = nand, .memory = memory, .memory_bytes = sizeof memory,
                                             .first_block = 0, .block_count = FILE_NAND_BLOCKS,
                                             .cache_page_bytes = CACHE_PAGE_BYTES, .frames = FRAMES};
    return config;
}

/* Executes an instruction. Returns 0 if the stack does not suffice. */
static int execute(struct machine *machine, char instruction) {
    long *stack = machine->stack;
    if (instruction >= '0' && instruction <= '9') {
        if (machine->depth == STACK) return 0;
        stack[machine->depth++] = instruction - '0';
        return 1;
    }
    if (instruction == '.') {
        if (machine->depth == 0) return 0;
        printf("%ld\n", stack[--machine->depth]);
        return 1;
    }
    if (strchr("+-*", instruction) == NULL || machine->depth < 2) return 0;
    machine->depth--;
    if (instruction == '+') stack[machine->depth - 1] += stack[machine->depth];
    if (instruction == '-') stack[machine->depth - 1] -= stack[machine->depth];
    if (instruction == '*') stack[machine->depth - 1] *= stack[machine->depth];
    return 1;
}

/* Runs the program once, out of the cache. Returns 1 if it cannot go on. */
static int run_once(struct machine *machine, uint32_t code_bytes) {
    for (uint32_t at = 0; at < code_bytes;) {
        const void *code;
        uint32_t bytes;
        int error = norn_pager_view(machine->pager, at, &code, &bytes);
        if (error != NORN_OK) return error;
        for (uint32_t i = 0; i < bytes; i++) {
            if (!execute(machine, ((const char *)code)[i])) return 1;
        }
        at += bytes;
    }
    return NORN_OK;
}

static int run(struct norn_pager *pager, const struct norn_nand *nand, uint32_t times) {
    const struct norn_pager_config config = place(nand);
    struct machine machine = {.pager = pager};
    struct norn_pager_info info;
    int error = norn_pager_mount(pager, &config);
    if (error == NORN_OK) error = norn_pager_tell(pager, &info);
    for (uint32_t i = 0; i < times && error == NORN_OK; i++) error = run_once(&machine, info.code_bytes);
    if (error == NORN_OK) error = norn_pager_tell(pager, &info);
    if (error != NORN_OK) return error;
    printf("%lu bytes: %lu hits, %lu misses\n", (unsigned long)info.code_bytes, (unsigned long)info.hits,
           (unsigned long)info.misses);
    return norn_pager_unmount(pager);
}

static int write_program(struct norn_pager *pager, const struct norn_nand *nand, char *program) {
    struct norn_pager_config config = place(nand);
    return norn_pager_write(pager, &config, (uint32_t)strlen(program), give, program);
}

int main(int argc, char **argv) {
    static struct norn_pager pager;
    static struct file_nand part;
    struct norn_nand nand;
    int error;
    if (argc != 4 || (strcmp(argv[2], "write") != 0 && strcmp(argv[2], "run") != 0)) {
        fprintf(stderr, "usage: code FILE write PROGRAM, or code FILE run TIMES\n");
        return 2;
    }
    if (file_nand_open(&nand, &part, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    if (strcmp(argv[2], "write") == 0) error = write_program(&pager, &nand, argv[3]);
    else error = run(&pager, &nand, (uint32_t)strtoul(argv[3], NULL, 10));
    file_nand_close(&part);
    if (error > 0) fprintf(stderr, "%s: the program cannot go on\n", argv[1]);
    if (error < 0) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

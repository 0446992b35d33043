/*
 * The conformance suite from C: a part that keeps its contract keeps every rule, and each of some drivers with a mistake
 * that ports have made is found by the rule that it breaks.
 */
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "nor_simulator.h"
#include "norn.h"

static struct nor_simulator nor_part;
static struct nand_simulator nand_part;
static struct norn_nor nor_below;
static struct norn_nand nand_below;

/* What was reported. */
static struct {
    uint32_t count, kept, broken, failed, not_tried;
    int32_t found;
    char first[100];
} told;

static void note(void *context, const struct norn_finding *finding) {
    EXPECT(context == &told && finding->rule != NULL && finding->rule_bytes > 5);
    told.count++;
    told.kept += finding->outcome == NORN_RULE_KEPT;
    told.broken += finding->outcome == NORN_RULE_BROKEN;
    told.failed += finding->outcome == NORN_RULE_FAILED;
    told.not_tried += finding->outcome == NORN_RULE_NOT_TRIED;
    if (finding->outcome != NORN_RULE_BROKEN && finding->outcome != NORN_RULE_FAILED) return;
    if (finding->outcome == NORN_RULE_BROKEN) EXPECT(finding->expected != finding->found);
    if (told.first[0] == '\0') {
        snprintf(told.first, sizeof told.first, "%.*s", (int)finding->rule_bytes, finding->rule);
        told.found = (int32_t)finding->found;
    }
}

static int check_nor_part(const struct norn_nor *nor) {
    uint8_t memory[NORN_NOR_CHECK_BYTES];
    memset(&told, 0, sizeof told);
    return norn_nor_check(nor, memory, sizeof memory, note, &told);
}

static int check_nand_part(const struct norn_nand *nand) {
    uint8_t memory[NAND_REGISTER_BYTES];
    memset(&told, 0, sizeof told);
    return norn_nand_check(nand, memory, sizeof memory, note, &told);
}

/* A chip that wraps within its pages of 256 bytes, below a driver that does not split programs. */
static int program_wrapping(void *context, uint32_t address, const void *data, uint32_t bytes) {
    const uint8_t *from = data;
    uint32_t page = address / 256 * 256;
    for (uint32_t done = 0; done < bytes; done += SIMULATOR_PROGRAM_UNIT) {
        uint32_t at = page + (address - page + done) % 256;
        int error = nor_below.program(context, at, &from[done], SIMULATOR_PROGRAM_UNIT);
        if (error != 0) return error;
    }
    return 0;
}

/* A driver that erases the next unit as well. */
static int erase_two(void *context, uint32_t address) {
    int error = nor_below.erase(context, address);
    if (error == 0 && address + SIMULATOR_UNIT_BYTES < SIMULATOR_BYTES) {
        error = nor_below.erase(context, address + SIMULATOR_UNIT_BYTES);
    }
    return error;
}

/* A driver that only starts an erase: the last bytes are not done. */
static int erase_early(void *context, uint32_t address) {
    struct nor_simulator *part = context;
    uint8_t last = part->cells[address + SIMULATOR_UNIT_BYTES - 1];
    int error = nor_below.erase(context, address);
    part->cells[address + SIMULATOR_UNIT_BYTES - 1] = last;
    return error;
}

/* A driver that reads whole words only. */
static int read_words(void *context, uint32_t address, void *buffer, uint32_t bytes) {
    return address % 4 == 0 && bytes % 4 == 0 ? nor_below.read(context, address, buffer, bytes) : 55;
}

/* A driver that takes a program of no bytes for a mistake. */
static int program_some(void *context, uint32_t address, const void *data, uint32_t bytes) {
    return bytes == 0 ? 56 : nor_below.program(context, address, data, bytes);
}

static void nor_parts(void) {
    struct norn_nor nor;
    uint8_t memory[NORN_NOR_CHECK_BYTES];
    simulator_init(&nor_part, 17);
    nor_below = simulator_nor(&nor_part);
    EXPECT_OK(check_nor_part(&nor_below));
    EXPECT(told.count == 19 && told.broken == 0 && told.failed == 0 && told.not_tried < 6);
    nor_part.reprogramming = NORN_REPROGRAMMING_UNLIMITED;
    nor_below = simulator_nor(&nor_part);
    EXPECT_OK(check_nor_part(&nor_below));

    nor_part.is_lenient = 1;
    nor = nor_below, nor.program = program_wrapping;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nor_part(&nor));
    EXPECT(strcmp(told.first, "a program may cross borders of pages and units") == 0);
    nor = nor_below, nor.erase = erase_two;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nor_part(&nor));
    EXPECT(strcmp(told.first, "an erase changes no other unit") == 0);
    nor = nor_below, nor.erase = erase_early;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nor_part(&nor));
    EXPECT(strcmp(told.first, "an erased unit reads as ones") == 0);
    nor = nor_below, nor.read = read_words;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nor_part(&nor));
    EXPECT(told.failed > 0 && told.found == 55);
    nor = nor_below, nor.program = program_some;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nor_part(&nor));
    EXPECT(told.failed == 1 && told.found == 56);

    EXPECT_ERROR(NORN_ERROR_VIOLATION, norn_nor_check(&nor, memory, sizeof memory, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_nor_check(&nor, memory, 3, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_nor_check(&nor, NULL, 64, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_nor_check(NULL, memory, sizeof memory, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_nor_check((const struct norn_nor *)(const void *)((char *)&nor + 1), memory,
                                                      sizeof memory, NULL, NULL));
    nor = nor_below, nor.erase = NULL;
    EXPECT_ERROR(NORN_ERROR_NULL, check_nor_part(&nor));
    nor = nor_below, nor.unit_bytes = 1020;
    EXPECT_ERROR(NORN_ERROR_PART, check_nor_part(&nor));
    EXPECT(told.count == 0);
}

/* A driver that leaves the out-of-band area out. */
static int program_data_only(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    struct norn_nand_piece kept[NORN_NAND_PIECES_MAX];
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pieces[i].column >= NAND_PAGE_BYTES) continue;
        kept[left] = pieces[i];
        if (kept[left].column + kept[left].bytes > NAND_PAGE_BYTES) kept[left].bytes = NAND_PAGE_BYTES - kept[left].column;
        left++;
    }
    return nand_below.program(context, page, kept, left);
}

/* A driver that copies the page without the changes. */
static int copy_unchanged(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t count) {
    (void)pieces, (void)count;
    return nand_below.program_loaded(context, page, pieces, 0);
}

/* A driver whose erase of a block reaches half of its pages. */
static int erase_half(void *context, uint32_t block) {
    static uint8_t kept[NAND_REGISTER_BYTES];
    struct nand_simulator *part = context;
    int error;
    memcpy(kept, part->cells[(block + 1) * NAND_PAGES - 1], sizeof kept);
    error = nand_below.erase(context, block);
    memcpy(part->cells[(block + 1) * NAND_PAGES - 1], kept, sizeof kept);
    return error;
}

/* A driver that says something else of a block each time. */
static int changing(void *context, uint32_t block) {
    static int asked;
    (void)context;
    return block == NAND_BAD_BLOCK || (block == 30 && ++asked % 2);
}

/* A driver whose part reports a failure in the erase of a block; after that, the part stops who programs or erases it. */
static int erase_failing(void *context, uint32_t block) {
    struct nand_simulator *part = context;
    part->breaks_next = block == NAND_BLOCKS - 1;
    return nand_below.erase(context, block);
}

static void nand_parts(void) {
    struct norn_nand nand;
    uint8_t memory[NAND_REGISTER_BYTES];
    nand_init(&nand_part, 17);
    nand_below = nand_of(&nand_part);
    EXPECT_OK(check_nand_part(&nand_below));
    EXPECT(told.count == 20 && told.broken == 0 && told.failed == 0 && told.not_tried < 5);

    nand = nand_below, nand.program = program_data_only;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(strcmp(told.first, "a program puts pieces in the out-of-band area") == 0);
    nand = nand_below, nand.program_loaded = copy_unchanged;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(strcmp(told.first, "a page that was loaded can be programmed elsewhere") == 0);
    nand = nand_below, nand.erase = erase_half;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(strcmp(told.first, "an erased block reads as ones") == 0);
    nand_init(&nand_part, 18);
    nand = nand_below, nand.good_blocks_min = NAND_BLOCKS;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(strcmp(told.first, "the part has as many good blocks as it says") == 0);
    nand = nand_below, nand.is_marked_bad = changing;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(strcmp(told.first, "marks of bad blocks stay") == 0);

    nand_init(&nand_part, 19);
    nand = nand_below, nand.erase = erase_failing;
    EXPECT_ERROR(NORN_ERROR_VIOLATION, check_nand_part(&nand));
    EXPECT(told.failed == 1 && told.broken == 0 && told.found == NORN_NAND_BLOCK_FAILED && told.not_tried < 5);
    EXPECT(nand_part.has_failed[NAND_BLOCKS - 1]);

    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_nand_check(&nand_below, memory, sizeof memory - 1, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_nand_check(NULL, memory, sizeof memory, NULL, NULL));
    nand = nand_below, nand.fetch = NULL;
    EXPECT_ERROR(NORN_ERROR_NULL, check_nand_part(&nand));
    nand = nand_below, nand.page_bytes = 513;
    EXPECT_ERROR(NORN_ERROR_PART, check_nand_part(&nand));
}

int main(void) {
    nor_parts();
    nand_parts();
    puts("parts that keep their contract pass, and drivers with a mistake are found by its rule");
    return 0;
}

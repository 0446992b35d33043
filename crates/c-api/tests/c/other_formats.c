/*
 * A part that holds another format of Norn's than the one that is mounted: the mount says so and names it, whichever
 * the two are, nothing is written, and what is there is mounted afterwards. A blank part is not formatted, and so is
 * one whose format was cut short.
 */
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "nor_simulator.h"
#include "norn.h"

enum { LOGICAL_PAGES = 200, CACHE_PAGE = 60, FRAMES = 4 };

static struct nor_simulator nor_part;
static struct nand_simulator nand_part;
static struct norn_nor nor;
static struct norn_nand nand;
static struct norn_heap heap;
static struct norn_index index_;
static struct norn_ftl ftl;
static struct norn_realtime realtime;
static struct norn_pager pager;
static uint32_t nor_memory[NORN_HEAP_BYTES(SIMULATOR_UNITS) / 4];
static uint32_t nand_memory[NORN_FTL_BYTES(NAND_BLOCKS, NAND_PAGES, NAND_PAGE_BYTES, NAND_OOB_BYTES, LOGICAL_PAGES) /
                            4];
static uint32_t pager_memory[NORN_PAGER_BYTES(128, 252) / 4];
static struct norn_heap_config heap_config;
static struct norn_index_config index_config;
static struct norn_ftl_config ftl_config;
static struct norn_realtime_config realtime_config;
static struct norn_pager_config pager_config;

static void expect_named(const struct norn_failure *failure, const char *name) {
    EXPECT(failure->error == NORN_ERROR_OTHER_FORMAT && failure->what != NULL);
    EXPECT(failure->what_bytes == strlen(name) && memcmp(failure->what, name, failure->what_bytes) == 0);
}

static void begin_on_nor(void) {
    simulator_init(&nor_part, 3);
    nor_part.reprogramming = NORN_REPROGRAMMING_UNLIMITED;
    nor = simulator_nor(&nor_part);
    heap_config.nor = &nor, heap_config.memory = nor_memory, heap_config.memory_bytes = sizeof nor_memory;
    index_config.nor = &nor, index_config.key_bytes = 4, index_config.value_bytes = 4;
}

static void nor_parts(void) {
    static uint8_t saved[SIMULATOR_BYTES];
    struct norn_failure failure;
    begin_on_nor();
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_heap_mount(&heap, &heap_config));
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_index_mount(&index_, &index_config));

    EXPECT_OK(norn_heap_format(&heap, &heap_config));
    memcpy(saved, nor_part.cells, sizeof saved);
    EXPECT_ERROR(NORN_ERROR_OTHER_FORMAT, norn_index_mount(&index_, &index_config));
    EXPECT_OK(norn_index_failure(&index_, &failure));
    expect_named(&failure, "a log-structured heap");
    EXPECT(memcmp(saved, nor_part.cells, sizeof saved) == 0);
    EXPECT_OK(norn_heap_mount(&heap, &heap_config));
    EXPECT_OK(norn_heap_unmount(&heap));

    EXPECT_OK(norn_index_format(&index_, &index_config));
    EXPECT_ERROR(NORN_ERROR_OTHER_FORMAT, norn_heap_mount(&heap, &heap_config));
    EXPECT_OK(norn_heap_failure(&heap, &failure));
    expect_named(&failure, "a sorted map");
    EXPECT_OK(norn_index_mount(&index_, &index_config));
    EXPECT_OK(norn_index_unmount(&index_));

    /* A format that is cut after it has laid out some units is no other format. */
    begin_on_nor();
    simulator_power(&nor_part, 2 * SIMULATOR_UNITS);
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_index_format(&index_, &index_config));
    simulator_power(&nor_part, -1);
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_index_mount(&index_, &index_config));

    /* A part that cannot be read is no other format either. */
    EXPECT_OK(norn_heap_format(&heap, &heap_config));
    simulator_power(&nor_part, 0);
    nor_part.is_off = 1;
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_index_mount(&index_, &index_config));
}

static void give_code(void *context, uint32_t offset, void *buffer, uint32_t bytes) {
    (void)context;
    for (uint32_t at = 0; at < bytes; at++) ((uint8_t *)buffer)[at] = (uint8_t)(offset + at);
}

static void begin_on_nand(void) {
    static const struct norn_operation_times times = {.read_us = 75, .write_us = 250, .erase_us = 2000};
    nand_init(&nand_part, 9);
    nand = nand_of(&nand_part);
    ftl_config.nand = &nand, ftl_config.memory = nand_memory, ftl_config.memory_bytes = sizeof nand_memory;
    ftl_config.logical_pages = LOGICAL_PAGES;
    realtime_config.nand = &nand;
    realtime_config.memory = nand_memory, realtime_config.memory_bytes = sizeof nand_memory;
    realtime_config.times = times, realtime_config.checkpoint_period_us = 100000;
    realtime_config.alpha = 2, realtime_config.tokens = 20;
    pager_config.nand = &nand, pager_config.memory = pager_memory, pager_config.memory_bytes = sizeof pager_memory;
    pager_config.cache_page_bytes = CACHE_PAGE, pager_config.frames = FRAMES, pager_config.block_count = NAND_BLOCKS;
}

static void nand_parts(void) {
    struct norn_failure failure;
    begin_on_nand();
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_ftl_mount(&ftl, &ftl_config));
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_pager_mount(&pager, &pager_config));

    EXPECT_OK(norn_ftl_format(&ftl, &ftl_config));
    EXPECT_ERROR(NORN_ERROR_OTHER_FORMAT, norn_pager_mount(&pager, &pager_config));
    EXPECT_OK(norn_pager_failure(&pager, &failure));
    expect_named(&failure, "a block device on NAND");
    EXPECT_OK(norn_ftl_mount(&ftl, &ftl_config));
    EXPECT_OK(norn_ftl_unmount(&ftl));

    begin_on_nand();
    EXPECT_OK(norn_pager_write(&pager, &pager_config, 5000, give_code, NULL));
    EXPECT_ERROR(NORN_ERROR_OTHER_FORMAT, norn_ftl_mount(&ftl, &ftl_config));
    EXPECT_OK(norn_ftl_failure(&ftl, &failure));
    expect_named(&failure, "a code image");
    EXPECT_ERROR(NORN_ERROR_OTHER_FORMAT, norn_realtime_start(&realtime, &realtime_config));
    EXPECT_OK(norn_pager_mount(&pager, &pager_config));
    EXPECT_OK(norn_pager_unmount(&pager));
}

int main(void) {
    nor_parts();
    nand_parts();
    puts("a mount names the format that is there");
    return 0;
}

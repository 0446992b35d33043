/*
 * Every call of the block device once, with what it refuses: pages that there are not, memory that is too small, null or
 * misaligned pointers, handles that are not mounted, copied or busy; and that the constants are what the functions say.
 */
#include <limits.h>
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "norn.h"

enum { LOGICAL_PAGES = 200, PAGE = NAND_PAGE_BYTES };

static struct norn_ftl ftl;
static uint32_t memory[NORN_FTL_BYTES(NAND_BLOCKS, NAND_PAGES, NAND_PAGE_BYTES, NAND_OOB_BYTES, LOGICAL_PAGES) / 4];
static struct nand_simulator part;
static struct norn_nand nand;
static struct norn_ftl_config config;

static void begin(void) {
    memset(&ftl, 0, sizeof ftl);
    nand_init(&part, 7);
    nand = nand_of(&part);
    memset(&config, 0, sizeof config);
    config.nand = &nand;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.logical_pages = LOGICAL_PAGES;
    memset(memory, 0xA5, sizeof memory);
    EXPECT_OK(norn_ftl_format(&ftl, &config));
    EXPECT_OK(norn_ftl_mount(&ftl, &config));
}

static struct norn_failure failure(void) {
    struct norn_failure known;
    EXPECT_OK(norn_ftl_failure(&ftl, &known));
    return known;
}

static struct norn_ftl_info info(void) {
    struct norn_ftl_info known;
    EXPECT_OK(norn_ftl_tell(&ftl, &known));
    return known;
}

static int holds(uint32_t page, int value) {
    uint8_t bytes[PAGE];
    EXPECT_OK(norn_ftl_read(&ftl, page, bytes, sizeof bytes));
    for (int i = 0; i < PAGE; i++) {
        if (bytes[i] != value) return 0;
    }
    return 1;
}

static void pages(void) {
    uint8_t two[2 * PAGE];
    begin();
    memset(two, 0x11, sizeof two);
    EXPECT(holds(0, 0));
    EXPECT_OK(norn_ftl_write(&ftl, 7, two, sizeof two));
    EXPECT(holds(6, 0) && holds(7, 0x11) && holds(8, 0x11) && holds(9, 0));
    EXPECT_OK(norn_ftl_trim(&ftl, 8, 1));
    EXPECT(holds(7, 0x11) && holds(8, 0));
    EXPECT_OK(norn_ftl_sync(&ftl));
    EXPECT_OK(norn_ftl_write(&ftl, 9, NULL, 0));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_write(&ftl, 9, NULL, PAGE));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_read(&ftl, 9, NULL, PAGE));
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_ftl_write(&ftl, 9, two, PAGE - 1));
    EXPECT(failure().limit == PAGE);
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_ftl_write(&ftl, LOGICAL_PAGES - 1, two, sizeof two));
    EXPECT(failure().limit == LOGICAL_PAGES);
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_ftl_read(&ftl, UINT32_MAX, two, PAGE));
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_ftl_trim(&ftl, 0, LOGICAL_PAGES + 1));
    EXPECT(info().logical_pages == LOGICAL_PAGES && info().page_bytes == PAGE && info().written == 2);
    EXPECT(info().good_blocks == NAND_BLOCKS - 1 && info().free_pages > 0 && info().live_pages >= 1);
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_tell(&ftl, NULL));
    EXPECT_OK(norn_ftl_unmount(&ftl));
    EXPECT_OK(norn_ftl_mount(&ftl, &config));
    EXPECT(holds(7, 0x11) && holds(8, 0) && info().written == 0 && info().scanned == 0);
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

/* Writes a part that is in use many times over; a block goes bad meanwhile. */
static void collection(void) {
    uint8_t one[PAGE];
    uint32_t steps = 0;
    int more;
    long before;
    begin();
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t page = i < LOGICAL_PAGES ? i : i * 31 % LOGICAL_PAGES;
        memset(one, (int)(page + 1), sizeof one);
        if (i == 1000) part.breaks_next = 1;
        EXPECT_OK(norn_ftl_write(&ftl, page, one, sizeof one));
    }
    EXPECT(info().erased > 100 && info().copied > 0 && info().retired == 1);
    EXPECT(info().good_blocks == NAND_BLOCKS - 2);
    before = part.programs + part.erases;
    while ((more = norn_ftl_recycle_step(&ftl, 6)) == 1) EXPECT(++steps < 2000);
    EXPECT(more == 0 && steps > 0);
    EXPECT(part.programs + part.erases >= before + (long)steps);
    EXPECT_ERROR(0, norn_ftl_recycle_step(&ftl, UINT32_MAX));
    more = norn_ftl_level_step(&ftl);
    EXPECT(more == 0 || more == 1);
    /* A write between two steps: the block that was begun is not lost to it. */
    EXPECT_ERROR(1, norn_ftl_recycle_step(&ftl, 1));
    EXPECT_OK(norn_ftl_write(&ftl, 3, one, sizeof one));
    EXPECT_OK(norn_ftl_check(&ftl, NULL, NULL));
    for (uint32_t page = 4; page < LOGICAL_PAGES; page++) EXPECT(holds(page, (int)(page + 1) & 0xFF));
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

static uint32_t violations;

static void count_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    EXPECT(context == &violations && address < NAND_BLOCKS * NAND_PAGES && what != NULL && what_bytes > 0);
    violations++;
}

/* Flash that lies under a mounted device: the check finds it, a read says which page, and nothing does worse. */
static void damage(void) {
    uint8_t one[PAGE];
    int error = NORN_OK;
    begin();
    memset(one, 0x77, sizeof one);
    EXPECT_OK(norn_ftl_write(&ftl, 5, one, sizeof one));
    EXPECT_OK(norn_ftl_check(&ftl, count_violation, &violations));
    EXPECT(violations == 0);
    for (uint32_t page = 0; page < NAND_BLOCKS * NAND_PAGES; page++) {
        if (part.cells[page][0] == 0x77) memset(part.cells[page], 0x3C, 64);
    }
    EXPECT_ERROR(NORN_ERROR_VIOLATION, norn_ftl_check(&ftl, count_violation, &violations));
    EXPECT(violations == 1);
    EXPECT_ERROR(NORN_ERROR_VIOLATION, norn_ftl_check(&ftl, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_UNREADABLE, norn_ftl_read(&ftl, 5, one, sizeof one));
    EXPECT(failure().address == 5 && failure().limit == 0);
    EXPECT_OK(norn_ftl_unmount(&ftl));
    /* A part with anything on it. */
    for (uint32_t seed = 1; seed < 20; seed++) {
        uint32_t x = seed;
        for (uint32_t i = 0; i < sizeof part.cells; i++) {
            x = x * 1664525u + 1013904223u;
            if (i % NAND_REGISTER_BYTES == NAND_PAGE_BYTES + 5) continue;
            part.cells[i / NAND_REGISTER_BYTES][i % NAND_REGISTER_BYTES] = (uint8_t)(x >> 24);
        }
        memset(part.next_page, NAND_PAGES, sizeof part.next_page);
        error = norn_ftl_mount(&ftl, &config);
        EXPECT(error == NORN_ERROR_NOT_FORMATTED);
    }
    EXPECT(failure().error == NORN_ERROR_NOT_FORMATTED);
}

static void use_within(void *context) {
    uint8_t one[PAGE] = {0};
    ++*(int *)context;
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_ftl_write(&ftl, 0, one, sizeof one));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_ftl_mount(&ftl, &config));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_ftl_format(&ftl, &config));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_ftl_unmount(&ftl));
}

static void handles(void) {
    static struct norn_ftl copy, other;
    struct norn_failure known;
    uint8_t one[PAGE] = {0};
    int calls = 0;
    begin();
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_ftl_mount(&ftl, &config));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_ftl_format(&ftl, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_mount(NULL, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_sync(NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_ftl_sync((struct norn_ftl *)((char *)(void *)&ftl + 1)));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_sync(&other));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_failure(&other, &known));
    copy = ftl;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_sync(&copy));
    part.hook = use_within;
    part.hook_context = &calls;
    EXPECT_OK(norn_ftl_write(&ftl, 0, one, sizeof one));
    EXPECT(calls > 0);
    part.hook = NULL;
    /* A second handle with the same memory takes it: the first writes nothing any more. */
    EXPECT_OK(norn_ftl_mount(&other, &config));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_ftl_write(&ftl, 0, one, sizeof one));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_ftl_unmount(&ftl));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_write(&ftl, 0, one, sizeof one));
    EXPECT_OK(norn_ftl_write(&other, 0, one, sizeof one));
    EXPECT_OK(norn_ftl_unmount(&other));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_unmount(&other));
}

static void expect_refused(int error, struct norn_ftl_config with) {
    EXPECT_ERROR(error, norn_ftl_mount(&ftl, &with));
    EXPECT_ERROR(error, norn_ftl_format(&ftl, &with));
    EXPECT(failure().error == error);
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_ftl_sync(&ftl));
}

static void configurations(void) {
    struct norn_ftl_config with;
    struct norn_nand bad;
    begin();
    EXPECT_OK(norn_ftl_unmount(&ftl));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_mount(&ftl, NULL));
    with = config, with.nand = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    with = config, with.memory = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    with = config, with.memory = (char *)memory + 2;
    expect_refused(NORN_ERROR_ALIGNMENT, with);
    with = config, with.memory_bytes = 3;
    expect_refused(NORN_ERROR_MEMORY, with);
    with = config, with.memory_bytes -= 4;
    expect_refused(NORN_ERROR_MEMORY, with);
    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_ftl_format(&ftl, &with));
    EXPECT(failure().limit == sizeof memory);
    with = config, with.memory = &ftl, with.memory_bytes = sizeof ftl;
    expect_refused(NORN_ERROR_MEMORY_TAKEN, with);
    with = config, with.nand = &bad;
    bad = nand, bad.fetch = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    bad = nand, bad.page_bytes = 500;
    expect_refused(NORN_ERROR_PART, with);
    EXPECT(norn_ftl_bytes(&bad, 100) == 0 && norn_ftl_pages_max(&bad, 0) == 0);
    bad = nand, bad.block_count = 65536;
    expect_refused(NORN_ERROR_PART, with);
    bad = nand, bad.columns = 2;
    expect_refused(NORN_ERROR_PART, with);
    bad = nand, bad.bad_mark_column = 5;
    expect_refused(NORN_ERROR_PART, with);
    bad = nand, bad.correction_bytes = 0;
    expect_refused(NORN_ERROR_PART, with);
    bad = nand, bad.pages_per_block = 3;
    expect_refused(NORN_ERROR_UNSUITABLE, with);
    EXPECT(failure().what != NULL && failure().what_bytes > 0);
    with = config, with.logical_pages = norn_ftl_pages_max(&nand, 1) + 1;
    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_ftl_format(&ftl, &with));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_ftl_failure(&ftl, NULL));
    EXPECT(norn_ftl_bytes(NULL, 1) == 0);
    {
        static uint32_t large[4096];
        with.memory = large, with.memory_bytes = sizeof large;
        EXPECT_ERROR(NORN_ERROR_RANGE, norn_ftl_format(&ftl, &with));
        EXPECT(failure().limit == norn_ftl_pages_max(&nand, 1));
        /* A field that was not set. */
        with.logical_pages = 0;
        EXPECT_ERROR(NORN_ERROR_RANGE, norn_ftl_format(&ftl, &with));
        EXPECT(failure().limit == norn_ftl_pages_max(&nand, 1));
    }
}

/* NORN_FTL_BYTES against norn_ftl_bytes, over parts of all kinds. */
static void sizes(void) {
    const uint32_t blocks[] = {16, 31, 100, 1024, 4096, 65535}, per_block[] = {4, 8, 32, 64, 256};
    struct norn_nand any;
    uint32_t compared = 0;
    begin();
    for (uint32_t b = 0; b < 6; b++) {
        for (uint32_t p = 0; p < 5; p++) {
            for (uint32_t bytes = 128; bytes <= 4096; bytes *= 2) {
                any = nand;
                any.block_count = blocks[b], any.pages_per_block = per_block[p];
                any.page_bytes = bytes, any.oob_bytes = bytes / 32, any.good_blocks_min = 1;
                any.bad_mark_column = bytes;
                for (uint32_t logical = 1; logical < blocks[b] * per_block[p]; logical = logical * 3 + 1) {
                    uint32_t constant = NORN_FTL_BYTES(blocks[b], per_block[p], bytes, bytes / 32, logical);
                    EXPECT(norn_ftl_bytes(&any, logical) == constant && constant % 4 == 0);
                    compared++;
                }
            }
        }
    }
    EXPECT(compared > 500);
    EXPECT(norn_ftl_pages_max(&nand, 0) > norn_ftl_pages_max(&nand, 2) && norn_ftl_pages_max(&nand, 70000) == 0);
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

/* A program that fails: the call says so, the device is halted, and a mount finds what was acknowledged. */
static void failures(void) {
    uint8_t one[PAGE];
    begin();
    memset(one, 0x22, sizeof one);
    EXPECT_OK(norn_ftl_write(&ftl, 1, one, sizeof one));
    nand_power(&part, 0);
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_ftl_write(&ftl, 2, one, sizeof one));
    EXPECT(failure().device_error == NAND_OFF);
    nand_power(&part, -1);
    EXPECT_ERROR(NORN_ERROR_HALTED, norn_ftl_read(&ftl, 1, one, sizeof one));
    EXPECT_OK(norn_ftl_unmount(&ftl));
    EXPECT_OK(norn_ftl_mount(&ftl, &config));
    EXPECT(holds(1, 0x22));
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

/* What a call may return on a page that lies: it worked, or one of these errors. */
static int expect_bounded(int error) {
    EXPECT(error == NORN_OK || error == NORN_ERROR_UNREADABLE || error == NORN_ERROR_CORRUPTED ||
           error == NORN_ERROR_VIOLATION || error == NORN_ERROR_FULL || error == NORN_ERROR_NOT_FORMATTED ||
           error == NORN_ERROR_OTHER_FORMAT || error == NORN_ERROR_VERSION || error == NORN_ERROR_GEOMETRY ||
           error == NORN_ERROR_HALTED);
    return error;
}

/* Flash that lies: pages of zeros, of other pages' bytes and with bits flipped, one at a time. No call may do worse
   than return an error, and some find what is wrong. */
static void lies(void) {
    static struct nand_simulator saved_part;
    static struct norn_ftl saved_ftl;
    static uint32_t saved_memory[sizeof memory / 4];
    uint8_t bytes[PAGE];
    uint32_t found = 0, refused = 0;
    begin();
    for (uint32_t number = 0; number < 600; number++) {
        memset(bytes, (int)number, sizeof bytes);
        EXPECT_OK(norn_ftl_write(&ftl, number * 37 % LOGICAL_PAGES, bytes, sizeof bytes));
    }
    EXPECT_OK(norn_ftl_check(&ftl, count_violation, &violations));
    saved_part = part, saved_ftl = ftl, memcpy(saved_memory, memory, sizeof memory);
    for (uint32_t at = 0; at < NAND_BLOCKS * NAND_PAGES; at++) {
        switch (at % 3) {
        case 0: memset(part.cells[at], 0, NAND_REGISTER_BYTES); break;
        case 1: memcpy(part.cells[at], part.cells[at * 7 % (NAND_BLOCKS * NAND_PAGES)], NAND_REGISTER_BYTES); break;
        default:
            for (uint32_t bit = 0; bit < 40; bit++) part.cells[at][(bit * 131 + at) % NAND_REGISTER_BYTES] ^= 4;
        }
        part.next_page[at / NAND_PAGES] = NAND_PAGES;
        found += expect_bounded(norn_ftl_check(&ftl, count_violation, &violations)) != NORN_OK;
        for (uint32_t page = at % 7; page < LOGICAL_PAGES; page += 7) {
            (void)expect_bounded(norn_ftl_read(&ftl, page, bytes, sizeof bytes));
        }
        (void)norn_ftl_unmount(&ftl);
        if (expect_bounded(norn_ftl_mount(&ftl, &config)) == NORN_OK) {
            (void)expect_bounded(norn_ftl_check(&ftl, count_violation, &violations));
            (void)norn_ftl_unmount(&ftl);
        } else {
            refused++;
        }
        part = saved_part, ftl = saved_ftl, memcpy(memory, saved_memory, sizeof memory);
    }
    printf("%lu checks of damaged images found it, %lu mounts were refused\n", (unsigned long)found,
           (unsigned long)refused);
    EXPECT(found > 20);
    EXPECT_OK(norn_ftl_check(&ftl, count_violation, &violations));
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

static int asked;

static int say_bad(void *context, uint32_t block) {
    EXPECT(context == &part && block < NAND_BLOCKS);
    asked++;
    return block == NAND_BAD_BLOCK || block == 9;
}

static int say_gone(void *context, uint32_t block) {
    (void)context;
    return block == 5 ? 99 : 0;
}

/* Marks that a function of the driver's knows. */
static void marks(void) {
    begin();
    EXPECT_OK(norn_ftl_unmount(&ftl));
    nand.is_marked_bad = say_bad;
    EXPECT_OK(norn_ftl_format(&ftl, &config));
    EXPECT(asked >= NAND_BLOCKS);
    EXPECT_OK(norn_ftl_mount(&ftl, &config));
    EXPECT(info().good_blocks == NAND_BLOCKS - 2);
    EXPECT_OK(norn_ftl_unmount(&ftl));
    nand.is_marked_bad = say_gone;
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_ftl_format(&ftl, &config));
    EXPECT(failure().device_error == 99);
}

int main(void) {
    pages();
    collection();
    damage();
    lies();
    handles();
    configurations();
    sizes();
    failures();
    marks();
    puts("every call does what it says, and refuses what it cannot do");
    return 0;
}

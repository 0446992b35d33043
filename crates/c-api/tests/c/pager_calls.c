/*
 * Every call of the pager: code is written to a part with bad blocks and read through caches of many shapes, wrong bits
 * are corrected, hits and misses are counted, a write that loses power at any operation leaves the code before it, the
 * new one or none, and misuse is refused.
 */
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "norn.h"

enum { CODE_BYTES = 9001, FIRST = 2, ROOM = 8, CACHE_PAGE = 60, FRAMES = 16 };

static struct norn_pager pager;
static uint32_t memory[NORN_PAGER_BYTES(128, 252) / 4];
static struct nand_simulator part;
static struct norn_nand nand;
static struct norn_pager_config config;
static uint32_t version;

static uint8_t code_byte(uint32_t of_version, uint32_t at) {
    return (uint8_t)(at / 7 * 31 + at + of_version * 101);
}

static void give_code(void *context, uint32_t offset, void *buffer, uint32_t bytes) {
    uint8_t *out = buffer;
    EXPECT(context == &version && offset <= CODE_BYTES && bytes <= CODE_BYTES - offset);
    for (uint32_t i = 0; i < bytes; i++) out[i] = code_byte(version, offset + i);
}

static int write_code(void) {
    return norn_pager_write(&pager, &config, CODE_BYTES, give_code, &version);
}

static void begin(void) {
    memset(&pager, 0, sizeof pager);
    nand_init(&part, 13);
    nand = nand_of(&part);
    memset(&config, 0, sizeof config);
    config.nand = &nand;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.first_block = FIRST;
    config.block_count = ROOM;
    config.cache_page_bytes = CACHE_PAGE;
    config.frames = FRAMES;
    version = 1;
    EXPECT_OK(write_code());
    EXPECT_OK(norn_pager_mount(&pager, &config));
}

static struct norn_failure failure(void) {
    struct norn_failure known;
    EXPECT_OK(norn_pager_failure(&pager, &known));
    return known;
}

static struct norn_pager_info info(void) {
    struct norn_pager_info known;
    EXPECT_OK(norn_pager_tell(&pager, &known));
    return known;
}

static void expect_code(uint32_t of_version, uint32_t at, uint32_t bytes) {
    uint8_t buffer[400];
    EXPECT(bytes <= sizeof buffer);
    EXPECT_OK(norn_pager_read(&pager, at, buffer, bytes));
    for (uint32_t i = 0; i < bytes; i++) EXPECT(buffer[i] == code_byte(of_version, at + i));
}

static void expect_all_code(uint32_t of_version) {
    EXPECT(info().code_bytes == CODE_BYTES);
    for (uint32_t at = 0; at < CODE_BYTES; at += 400) {
        expect_code(of_version, at, CODE_BYTES - at < 400 ? CODE_BYTES - at : 400);
    }
}

static void reads(void) {
    const void *code;
    uint32_t bytes, at = 0;
    begin();
    EXPECT(info().code_bytes == CODE_BYTES && info().hits == 0 && info().misses == 0);
    expect_code(1, 100, 1);
    EXPECT(info().misses == 1 && info().hits == 0);
    expect_code(1, 101, 1);
    EXPECT(info().misses == 1 && info().hits == 1);
    expect_code(1, CACHE_PAGE * 2 - 1, 2);
    EXPECT(info().misses == 2 && info().hits == 2);
    expect_code(1, 5, 0);
    expect_all_code(1);
    EXPECT(info().corrected_bits > 0);
    while (at < CODE_BYTES) {
        EXPECT_OK(norn_pager_view(&pager, at, &code, &bytes));
        EXPECT(bytes > 0 && bytes <= CACHE_PAGE && at + bytes <= CODE_BYTES);
        for (uint32_t i = 0; i < bytes; i++) EXPECT(((const uint8_t *)code)[i] == code_byte(1, at + i));
        at += bytes;
    }
    /* As long as a loop fits the cache, nothing of it is loaded again. */
    for (uint32_t i = 0; i < FRAMES; i++) expect_code(1, i * CACHE_PAGE, 1);
    {
        long loads = part.loads;
        uint64_t misses = info().misses;
        for (uint32_t i = 0; i < 10 * FRAMES; i++) expect_code(1, i % FRAMES * CACHE_PAGE, 1);
        EXPECT(part.loads == loads && info().misses == misses);
    }
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_pager_read(&pager, CODE_BYTES - 1, memory, 2));
    EXPECT(failure().limit == CODE_BYTES);
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_pager_view(&pager, UINT32_MAX, &code, &bytes));
    EXPECT_OK(norn_pager_unmount(&pager));
}

/* Caches of all shapes over one part each: from one frame to 128, pages down to some bytes. */
static void shapes(void) {
    const uint32_t frames[] = {1, 2, 33, 128}, widths[] = {24, 60, 124, 252};
    for (uint32_t width = 0; width < 4; width++) {
        begin();
        EXPECT_OK(norn_pager_unmount(&pager));
        config.cache_page_bytes = widths[width];
        EXPECT_OK(write_code());
        for (uint32_t count = 0; count < 4; count++) {
            config.frames = frames[count];
            config.memory_bytes = NORN_PAGER_BYTES(frames[count], widths[width]);
            EXPECT(norn_pager_bytes(frames[count], widths[width]) == config.memory_bytes);
            EXPECT_OK(norn_pager_mount(&pager, &config));
            expect_all_code(1);
            for (uint32_t i = 0; i < 500; i++) expect_code(1, i * 7919 % (CODE_BYTES - 9), 9);
            EXPECT_OK(norn_pager_unmount(&pager));
            config.memory_bytes--;
            EXPECT_ERROR(NORN_ERROR_MEMORY, norn_pager_mount(&pager, &config));
            EXPECT(failure().limit == config.memory_bytes + 1);
        }
    }
}

/* An update whose power fails at each operation: the code is the old one or the new one, whole, or there is none. */
static void cuts(void) {
    static struct nand_simulator written;
    uint32_t found[3] = {0};
    begin();
    EXPECT_OK(norn_pager_unmount(&pager));
    written = part;
    for (long cut = 0;; cut++) {
        int error;
        part = written;
        part.random += (uint32_t)cut;
        nand_power(&part, cut);
        version = 2;
        error = write_code();
        EXPECT(error == NORN_OK || error == NORN_ERROR_DEVICE);
        if (!part.is_off) break;
        EXPECT(failure().device_error == NAND_OFF);
        nand_power(&part, -1);
        error = norn_pager_mount(&pager, &config);
        EXPECT(error == NORN_OK || error == NORN_ERROR_NOT_FORMATTED);
        if (error == NORN_OK) {
            uint8_t first;
            EXPECT_OK(norn_pager_read(&pager, 0, &first, 1));
            expect_all_code(first == code_byte(1, 0) ? 1 : 2);
            found[first == code_byte(1, 0) ? 1 : 2]++;
            EXPECT_OK(norn_pager_unmount(&pager));
        }
        found[0] += error != NORN_OK;
        EXPECT_OK(write_code());
        EXPECT_OK(norn_pager_mount(&pager, &config));
        expect_all_code(2);
        EXPECT_OK(norn_pager_unmount(&pager));
    }
    EXPECT(found[0] > 10); /* the header is the first to go and the last to come */
    EXPECT_OK(norn_pager_mount(&pager, &config));
    expect_all_code(2);
    EXPECT_OK(norn_pager_unmount(&pager));
}

/* More wrong bits than the code corrects: the address is told, and the rest can be read. */
static void damage(void) {
    uint32_t broken = 0;
    begin();
    for (uint32_t page = (FIRST + 2) * NAND_PAGES; page < (FIRST + 3) * NAND_PAGES; page++) {
        for (uint32_t i = 0; i < 40; i++) part.cells[page][i] ^= 0x15;
    }
    for (uint32_t at = 0; at < CODE_BYTES; at++) {
        uint8_t byte;
        int error = norn_pager_read(&pager, at, &byte, 1);
        EXPECT(error == NORN_OK || error == NORN_ERROR_UNREADABLE);
        if (error == NORN_OK) EXPECT(byte == code_byte(1, at));
        if (error != NORN_OK) EXPECT(failure().address == at / CACHE_PAGE * CACHE_PAGE);
        broken += error != NORN_OK;
    }
    EXPECT(broken > 0 && broken < CODE_BYTES / 2);
    EXPECT_OK(norn_pager_unmount(&pager));
}

static void misuse(void) {
    static struct norn_pager copy, other;
    const void *code;
    struct norn_nand bad;
    uint32_t bytes;
    begin();
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_pager_mount(&pager, &config));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, write_code());
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_read(NULL, 0, memory, 1));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_read(&pager, 0, NULL, 1));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_view(&pager, 0, NULL, &bytes));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_view(&pager, 0, &code, NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_pager_view(&pager, 0, &code, (uint32_t *)((char *)&bytes + 1)));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_tell(&pager, NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_pager_unmount((struct norn_pager *)((char *)(void *)&pager + 4)));
    copy = pager;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_pager_view(&copy, 0, &code, &bytes));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_pager_unmount(&other));
    EXPECT_OK(norn_pager_mount(&other, &config));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_pager_view(&pager, 0, &code, &bytes));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_pager_unmount(&pager));
    EXPECT_OK(norn_pager_unmount(&other));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_mount(&pager, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_write(&pager, &config, CODE_BYTES, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_UNSUITABLE, norn_pager_write(&pager, &config, 0, give_code, &version));
    EXPECT_OK(norn_pager_mount(&pager, &config)); /* as it was */
    EXPECT_OK(norn_pager_unmount(&pager));
    EXPECT_ERROR(NORN_ERROR_FULL, norn_pager_write(&pager, &config, 8 * 8 * 512, give_code, &version));
    EXPECT(failure().error == NORN_ERROR_FULL && failure().limit > 0);
    config.memory_bytes = 4 + NAND_PAGE_BYTES - 1;
    EXPECT_ERROR(NORN_ERROR_MEMORY, write_code());
    EXPECT(failure().limit == 4 + NAND_PAGE_BYTES);
    config.memory_bytes = sizeof memory;
    config.memory = (char *)memory + 1;
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_pager_mount(&pager, &config));
    config.memory = &pager;
    config.memory_bytes = sizeof pager;
    config.frames = 1;
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_pager_mount(&pager, &config));
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.frames = 129;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_pager_mount(&pager, &config));
    EXPECT(failure().limit == NORN_PAGER_FRAMES_MAX);
    config.frames = 0;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_pager_mount(&pager, &config));
    config.frames = FRAMES;
    config.first_block = NAND_BLOCKS;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_pager_mount(&pager, &config));
    config.first_block = 40;
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_pager_mount(&pager, &config));
    config.first_block = FIRST;
    config.cache_page_bytes = 0;
    EXPECT(norn_pager_mount(&pager, &config) < 0);
    config.cache_page_bytes = 70000;
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_pager_mount(&pager, &config));
    config.cache_page_bytes = 600;
    config.frames = 1;
    EXPECT_ERROR(NORN_ERROR_UNSUITABLE, norn_pager_mount(&pager, &config));
    EXPECT(failure().what != NULL && failure().what_bytes > 0);
    config.cache_page_bytes = CACHE_PAGE + 1;
    EXPECT_ERROR(NORN_ERROR_GEOMETRY, norn_pager_mount(&pager, &config));
    EXPECT(failure().limit == CACHE_PAGE);
    config.cache_page_bytes = CACHE_PAGE;
    config.nand = &bad;
    bad = nand, bad.load = NULL;
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_mount(&pager, &config));
    bad = nand, bad.pages_per_block = 0;
    EXPECT_ERROR(NORN_ERROR_PART, norn_pager_mount(&pager, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_pager_failure(&pager, NULL));
}

/* A load that fails: the call says so, and can be made again. */
static void failures(void) {
    uint8_t byte;
    begin();
    part.is_off = 1;
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_pager_read(&pager, 4000, &byte, 1));
    EXPECT(failure().device_error == NAND_OFF);
    part.is_off = 0;
    expect_code(1, 4000, 30);
    EXPECT_OK(norn_pager_unmount(&pager));
}

int main(void) {
    reads();
    shapes();
    cuts();
    damage();
    misuse();
    failures();
    puts("code is read as it was written, and every call refuses what it cannot do");
    return 0;
}

/*
 * Power cuts at every program and erase, from C: what a block device acknowledged is there after the next mount, each
 * page of what was in flight is old or new, and the device has every invariant. The power then fails again in that
 * mount, at each of its first operations. Then the same with a task that has deadlines.
 *
 *     ftl_cuts [CHANGES [SEED]]
 */
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "norn.h"

enum { LOGICAL_PAGES = 200, USED = 24, PAGES_AT_ONCE = 2, CUTS_OF_A_MOUNT = 4 };

static struct norn_ftl ftl;
static struct norn_realtime realtime;
static norn_task_id writer;
static uint32_t memory[NORN_FTL_BYTES(NAND_BLOCKS, NAND_PAGES, NAND_PAGE_BYTES, NAND_OOB_BYTES, LOGICAL_PAGES) / 4];
static struct nand_simulator part, formatted;

/* Whether trims are durable at once, as those of a task are. */
static int are_trims_durable;

/* The number of the change that wrote each page last; 0 where it reads as zeros. `before` is what a trim took away that
   is not durable yet. */
struct model {
    uint32_t values[USED];
    uint32_t before[USED];
};

static int mount(int (*call)(struct norn_ftl *, const struct norn_ftl_config *)) {
    struct norn_nand nand = nand_of(&part);
    struct norn_ftl_config config = {0};
    config.nand = &nand;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.logical_pages = LOGICAL_PAGES;
    return call(&ftl, &config);
}

static void fill(uint8_t *page, uint32_t value) {
    memset(page, (int)value, NAND_PAGE_BYTES);
    memcpy(page, &value, sizeof value);
}

static int is_trim(uint32_t number) {
    return number % 5 == 0;
}

static uint32_t first_page(uint32_t number) {
    return number * 7 % (USED - PAGES_AT_ONCE);
}

/* Makes change `number` in a model: most write two pages, every fifth trims one. */
static void change_model(struct model *model, uint32_t number) {
    uint32_t first = first_page(number);
    if (is_trim(number)) {
        if (model->values[first] != 0) model->before[first] = model->values[first];
        model->values[first] = 0;
    }
    for (uint32_t i = 0; !is_trim(number) && i < PAGES_AT_ONCE; i++) {
        model->values[first + i] = number;
        model->before[first + i] = 0;
    }
}

/* The model after so many changes, of which every ninth makes trims durable, or all of them do. */
static struct model model_after(uint32_t changes) {
    struct model model;
    memset(&model, 0, sizeof model);
    for (uint32_t number = 1; number <= changes; number++) {
        change_model(&model, number);
        if (are_trims_durable || number % 9 == 0) memset(model.before, 0, sizeof model.before);
    }
    return model;
}

/* Makes it on the device. */
static int change_ftl(uint32_t number) {
    uint8_t pages[PAGES_AT_ONCE * NAND_PAGE_BYTES];
    int error;
    for (uint32_t i = 0; i < PAGES_AT_ONCE; i++) fill(&pages[i * NAND_PAGE_BYTES], number);
    if (is_trim(number)) {
        error = norn_ftl_trim(&ftl, first_page(number), 1);
    } else {
        error = norn_ftl_write(&ftl, first_page(number), pages, sizeof pages);
    }
    if (error == NORN_OK && number % 9 == 0) error = norn_ftl_sync(&ftl);
    if (error == NORN_OK && number % 4 == 0) error = norn_ftl_recycle_step(&ftl, 1);
    return error < 0 ? error : NORN_OK;
}

static void show_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    (void)context;
    fprintf(stderr, "%.*s at page %lu\n", (int)what_bytes, what, (unsigned long)address);
}

/* Whether a page has a value, whole. */
static int has_value(const uint8_t *page, uint32_t value) {
    uint8_t expected[NAND_PAGE_BYTES];
    fill(expected, value);
    return memcmp(page, expected, sizeof expected) == 0;
}

/* That each page is as `done` changes left it, or as the next one does. */
static void expect_state(const struct model *done, const struct model *next) {
    uint8_t page[NAND_PAGE_BYTES];
    EXPECT_OK(norn_ftl_check(&ftl, show_violation, NULL));
    for (uint32_t i = 0; i < USED; i++) {
        EXPECT_OK(norn_ftl_read(&ftl, i, page, sizeof page));
        EXPECT(has_value(page, done->values[i]) || has_value(page, next->values[i]) ||
               (done->before[i] != 0 && has_value(page, done->before[i])));
    }
}

/* Makes changes until the power fails; returns how many were acknowledged. */
static uint32_t run(uint32_t changes) {
    uint32_t acknowledged = 0;
    int error = mount(norn_ftl_mount);
    while (error == NORN_OK && acknowledged < changes) {
        error = change_ftl(acknowledged + 1);
        if (error == NORN_OK) acknowledged++;
    }
    EXPECT(error == NORN_OK || error == NORN_ERROR_DEVICE);
    if (error == NORN_ERROR_DEVICE && acknowledged > 0) EXPECT_ERROR(NORN_ERROR_HALTED, norn_ftl_sync(&ftl));
    (void)norn_ftl_unmount(&ftl);
    return acknowledged;
}

/* Writes of a task, at its tokens, and steps of its collector. */
static int change_realtime(uint32_t number, uint64_t *now_us) {
    uint8_t page[NAND_PAGE_BYTES];
    int error = norn_realtime_advance(&realtime, *now_us);
    fill(page, number);
    for (uint32_t i = 0; error == NORN_OK && i < PAGES_AT_ONCE && !is_trim(number); i++) {
        error = norn_realtime_write(&realtime, writer, first_page(number) + i, page, sizeof page);
    }
    if (error == NORN_OK && is_trim(number)) error = norn_realtime_trim(&realtime, writer, first_page(number), 1);
    *now_us += 100000;
    while (error == NORN_OK && (error = norn_realtime_collector_step(&realtime)) == 1) error = NORN_OK;
    while (error == NORN_OK && (error = norn_realtime_background_step(&realtime)) == 1) error = NORN_OK;
    return error;
}

static uint32_t run_realtime(uint32_t changes) {
    const struct norn_task task = {.cost_us = 20000, .period_us = 100000, .writes = PAGES_AT_ONCE};
    struct norn_nand nand = nand_of(&part);
    struct norn_realtime_config config = {0};
    uint32_t acknowledged = 0;
    uint64_t now_us = 0;
    int error;
    config.nand = &nand;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.alpha = 4;
    config.times.read_us = 348;
    config.times.write_us = 919;
    config.times.erase_us = 1881;
    config.times.collector_cpu_us = 10;
    config.checkpoint_period_us = 100000;
    EXPECT_OK(norn_realtime_tokens(&config, &task, 1, &config.tokens));
    error = norn_realtime_start(&realtime, &config);
    if (error == NORN_OK) EXPECT_OK(norn_realtime_admit(&realtime, &task, &writer));
    while (error == NORN_OK && acknowledged < changes) {
        error = change_realtime(acknowledged + 1, &now_us);
        if (error == NORN_OK) acknowledged++;
    }
    EXPECT(error == NORN_OK || error == NORN_ERROR_DEVICE);
    (void)norn_realtime_stop(&realtime);
    return acknowledged;
}

/* Mounts what a cut left, the power failing again after so many operations of the mount, then for good. */
static void recover(long operations, uint32_t acknowledged) {
    struct model before = model_after(acknowledged), after = before;
    change_model(&after, acknowledged + 1);
    nand_power(&part, operations);
    if (mount(norn_ftl_mount) != NORN_OK) {
        nand_power(&part, -1);
        EXPECT_OK(mount(norn_ftl_mount));
    }
    nand_power(&part, -1);
    expect_state(&before, &after);
    EXPECT_OK(change_ftl(acknowledged + 2));
    change_model(&before, acknowledged + 2);
    change_model(&after, acknowledged + 2);
    expect_state(&before, &after);
    EXPECT_OK(norn_ftl_unmount(&ftl));
}

static long cut_everywhere(uint32_t (*run_changes)(uint32_t), uint32_t changes) {
    static struct nand_simulator cut;
    for (long cuts = 0;; cuts++) {
        uint32_t acknowledged;
        part = formatted;
        part.random += (uint32_t)cuts;
        nand_power(&part, cuts);
        acknowledged = run_changes(changes);
        if (!part.is_off) return cuts;
        cut = part;
        for (long of_mount = 0; of_mount < CUTS_OF_A_MOUNT; of_mount++) {
            part = cut;
            recover(of_mount, acknowledged);
        }
    }
}

int main(int argc, char **argv) {
    uint32_t changes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 40;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2010;
    long cuts, of_tasks;
    nand_init(&part, seed);
    EXPECT_OK(mount(norn_ftl_format));
    /* A device in use: full of pages that are not looked at, so that blocks have to be recycled. */
    EXPECT_OK(mount(norn_ftl_mount));
    for (uint32_t page = USED; page < LOGICAL_PAGES; page++) {
        uint8_t bytes[NAND_PAGE_BYTES] = {1};
        EXPECT_OK(norn_ftl_write(&ftl, page, bytes, sizeof bytes));
    }
    EXPECT_OK(norn_ftl_unmount(&ftl));
    formatted = part;
    cuts = cut_everywhere(run, changes);
    are_trims_durable = 1;
    of_tasks = cut_everywhere(run_realtime, changes);
    EXPECT(cuts > (long)changes && of_tasks > (long)changes);
    printf("%ld cuts of %u changes, %ld of as many by a task, each with %d cuts of the mount: nothing lost\n", cuts,
           (unsigned)changes, of_tasks, CUTS_OF_A_MOUNT);
    return 0;
}

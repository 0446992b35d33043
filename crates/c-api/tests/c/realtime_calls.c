/*
 * Every call of the block device with deadlines: tasks are admitted or refused with the reason, they keep their
 * deadlines on a clock that the test moves, a task that writes more than it declared is refused, and misuse is.
 */
#include <string.h>

#include "expect.h"
#include "nand_simulator.h"
#include "norn.h"

enum { LOGICAL_PAGES = 150, PAGE = NAND_PAGE_BYTES };

static struct norn_realtime realtime;
static uint32_t memory[NORN_FTL_BYTES(NAND_BLOCKS, NAND_PAGES, NAND_PAGE_BYTES, NAND_OOB_BYTES, LOGICAL_PAGES) / 4];
static struct nand_simulator part;
static struct norn_nand nand;
static struct norn_realtime_config config;
static struct norn_task sensor;

static void format(void) {
    static struct norn_ftl ftl;
    struct norn_ftl_config with = {0};
    nand_init(&part, 11);
    nand = nand_of(&part);
    with.nand = &nand;
    with.memory = memory;
    with.memory_bytes = sizeof memory;
    with.logical_pages = LOGICAL_PAGES;
    EXPECT_OK(norn_ftl_format(&ftl, &with));
}

static void begin(void) {
    format();
    memset(&realtime, 0, sizeof realtime);
    memset(&config, 0, sizeof config);
    config.nand = &nand;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    config.alpha = 4;
    config.times.read_us = 348;
    config.times.write_us = 919;
    config.times.erase_us = 1881;
    config.times.collector_cpu_us = 10;
    config.checkpoint_period_us = 100000;
    config.failure_budget = 1;
    sensor.period_us = 40000;
    sensor.writes = 2;
    sensor.cost_us = norn_task_cost_us(1000, 2, 2, &config.times);
    EXPECT_OK(norn_realtime_tokens(&config, &sensor, 1, &config.tokens));
    EXPECT_OK(norn_realtime_start(&realtime, &config));
}

static struct norn_failure failure(void) {
    struct norn_failure known;
    EXPECT_OK(norn_realtime_failure(&realtime, &known));
    return known;
}

static struct norn_realtime_info info(void) {
    struct norn_realtime_info known;
    EXPECT_OK(norn_realtime_tell(&realtime, &known));
    return known;
}

/* Runs one task by earliest deadline for some seconds; what the part does takes its longest time. */
static void deadlines(void) {
    uint64_t now_us = 0, release_us = 0, longest_us = config.times.erase_us, jobs = 0;
    uint32_t gone = 0;
    norn_task_id id;
    uint8_t page[PAGE];
    begin();
    EXPECT(sensor.cost_us == 1000 + 2 * 348 + 2 * 919);
    longest_us = config.times.erase_us;
    EXPECT_OK(norn_realtime_admit(&realtime, &sensor, &id));
    EXPECT(id != 0);
    while (release_us < 8000000) {
        struct norn_job job;
        uint64_t deadline_us = release_us + sensor.period_us;
        int is_released = release_us <= now_us, has_job;
        EXPECT_OK(norn_realtime_advance(&realtime, now_us));
        has_job = norn_realtime_next_job(&realtime, &job);
        EXPECT(has_job >= 0);
        if (has_job == 1 && (!is_released || job.deadline_us < deadline_us)) {
            EXPECT_ERROR(1, norn_realtime_collector_step(&realtime));
            EXPECT(job.task == id || job.task == 0);
            now_us += longest_us;
            jobs++;
        } else if (is_released) {
            for (uint32_t i = 0; i < sensor.writes; i++) {
                memset(page, (int)(release_us / 1000 + i), sizeof page);
                EXPECT_OK(norn_realtime_write(&realtime, id, (uint32_t)(release_us / 40000 + i * 50) % LOGICAL_PAGES,
                                              page, sizeof page));
            }
            now_us += sensor.cost_us;
            EXPECT(now_us <= deadline_us);
            release_us = deadline_us;
        } else {
            int error = norn_realtime_background_write(&realtime, 149, page, sizeof page);
            EXPECT(error == NORN_OK || error == NORN_ERROR_NO_TOKEN);
            if (error != NORN_OK) EXPECT(norn_realtime_background_step(&realtime) >= 0);
            gone += error == NORN_OK;
            now_us += longest_us;
        }
    }
    EXPECT(jobs > 200 && gone > 100);
    EXPECT(info().misses == 0 && info().token_waits == 0 && info().is_guaranteed == 1);
    EXPECT(info().recycled > 20 && info().ftl.written > 400 && info().tokens > 0);
    EXPECT_OK(norn_realtime_check(&realtime, NULL, NULL));
    EXPECT_OK(norn_realtime_stop(&realtime));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_realtime_advance(&realtime, 0));
    /* What it wrote is there for a device without tasks. */
    EXPECT_OK(norn_realtime_start(&realtime, &config));
    EXPECT_OK(norn_realtime_read(&realtime, 149, page, sizeof page));
    EXPECT_OK(norn_realtime_stop(&realtime));
}

static void admission(void) {
    struct norn_task task = sensor;
    norn_task_id id, ids[NORN_TASKS_MAX];
    uint32_t needed, admitted = 0;
    int error;
    begin();
    task.period_us = 0;
    EXPECT_ERROR(NORN_ERROR_TASK, norn_realtime_admit(&realtime, &task, &id));
    task = sensor, task.cost_us = task.period_us + 1;
    EXPECT_ERROR(NORN_ERROR_TASK, norn_realtime_admit(&realtime, &task, &id));
    task = sensor, task.period_us = 3000, task.cost_us = 100;
    EXPECT_ERROR(NORN_ERROR_COLLECTOR, norn_realtime_admit(&realtime, &task, &id));
    task = sensor, task.writes = 5;
    EXPECT_ERROR(NORN_ERROR_TOKENS, norn_realtime_admit(&realtime, &task, &id));
    needed = failure().limit;
    EXPECT(needed > info().tokens_free && failure().error == NORN_ERROR_TOKENS);
    EXPECT_OK(norn_realtime_admit(&realtime, &sensor, &id));
    EXPECT(info().tokens_free == 0);
    EXPECT_ERROR(NORN_ERROR_TOKENS, norn_realtime_admit(&realtime, &sensor, &id));
    task = sensor, task.writes = 0, task.cost_us = task.period_us - 1;
    EXPECT_ERROR(NORN_ERROR_UTILIZATION, norn_realtime_admit(&realtime, &task, &id));
    task.cost_us = 10;
    while ((error = norn_realtime_admit(&realtime, &task, &ids[0])) == NORN_OK) EXPECT(++admitted < NORN_TASKS_MAX);
    EXPECT(error == NORN_ERROR_TASKS && admitted == NORN_TASKS_MAX - 1 && failure().limit == NORN_TASKS_MAX);
    EXPECT_OK(norn_realtime_leave(&realtime, id));
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_write(&realtime, id, 0, memory, PAGE));
    EXPECT_OK(norn_realtime_stop(&realtime));
    config.checkpoint_period_us = 1000000000;
    EXPECT_OK(norn_realtime_start(&realtime, &config));
    EXPECT_ERROR(NORN_ERROR_CHECKPOINT, norn_realtime_admit(&realtime, &sensor, &id));
    EXPECT_OK(norn_realtime_stop(&realtime));
    config.checkpoint_period_us = 100000;
    config.tokens = 230;
    error = norn_realtime_start(&realtime, &config);
    EXPECT(error == NORN_ERROR_RECYCLING || error == NORN_ERROR_FULL);
    EXPECT(failure().limit > 0);
}

/* A task has a token for each page that it declared, and no more. */
static void tokens(void) {
    uint8_t page[PAGE] = {1};
    uint32_t written = 0;
    uint64_t release_us;
    norn_task_id id;
    int error;
    begin();
    EXPECT_OK(norn_realtime_admit(&realtime, &sensor, &id));
    EXPECT_OK(norn_realtime_advance(&realtime, 0));
    while ((error = norn_realtime_write(&realtime, id, written, page, sizeof page)) == NORN_OK) EXPECT(++written < 50);
    EXPECT(error == NORN_ERROR_NO_TOKEN && written >= sensor.writes);
    EXPECT_ERROR(NORN_ERROR_NO_TOKEN, norn_realtime_trim(&realtime, id, 0, 1));
    EXPECT(info().token_waits == 2 && failure().error == NORN_ERROR_NO_TOKEN);
    EXPECT_OK(norn_realtime_next_release(&realtime, &release_us));
    EXPECT(release_us > 0);
    while (norn_realtime_collector_step(&realtime) == 1) continue;
    EXPECT_OK(norn_realtime_advance(&realtime, 400000));
    while (norn_realtime_collector_step(&realtime) == 1) continue;
    EXPECT_OK(norn_realtime_trim(&realtime, id, 0, 1));
    EXPECT_OK(norn_realtime_read(&realtime, 0, page, sizeof page));
    EXPECT(page[0] == 0);
    EXPECT_OK(norn_realtime_stop(&realtime));
}

static void misuse(void) {
    static struct norn_realtime copy, other;
    struct norn_realtime_config with;
    uint8_t page[PAGE] = {1};
    uint64_t release_us = 0;
    norn_task_id id;
    int error;
    begin();
    EXPECT_OK(norn_realtime_admit(&realtime, &sensor, &id));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_realtime_start(&realtime, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_admit(&realtime, NULL, &id));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_admit(&realtime, &sensor, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_next_release(&realtime, NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_realtime_next_release(&realtime, (uint64_t *)((char *)&release_us + 1)));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_next_job(&realtime, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_tell(&realtime, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_write(&realtime, id, 0, NULL, PAGE));
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_realtime_write(&realtime, id, 0, page, 2));
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_realtime_write(&realtime, id, LOGICAL_PAGES, page, PAGE));
    /* 0 is the checkpoint's own task, and nobody else's. */
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_write(&realtime, 0, 0, page, PAGE));
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_trim(&realtime, 0, 0, 1));
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_leave(&realtime, 0));
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_leave(&realtime, 0xFFFF0001));
    EXPECT_ERROR(NORN_ERROR_NO_TASK, norn_realtime_write(&realtime, id + 1, 0, page, PAGE));
    copy = realtime;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_realtime_advance(&copy, 1));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_realtime_stop(&other));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_advance(NULL, 1));
    EXPECT_OK(norn_realtime_start(&other, &config));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_realtime_write(&realtime, id, 0, page, PAGE));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_realtime_stop(&realtime));
    error = norn_realtime_level_step(&other);
    EXPECT(error == 0 || error == 1 || error == NORN_ERROR_NO_TOKEN || error == NORN_ERROR_FULL);
    EXPECT_OK(norn_realtime_stop(&other));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_start(&realtime, NULL));
    with = config, with.alpha = 0;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_realtime_start(&realtime, &with));
    with = config, with.alpha = NAND_PAGES + 1;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_realtime_start(&realtime, &with));
    EXPECT(failure().limit == NAND_PAGES);
    with = config, with.scheduling = 2;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_realtime_start(&realtime, &with));
    with = config, with.tokens = 0;
    EXPECT_ERROR(NORN_ERROR_TOKENS, norn_realtime_start(&realtime, &with));
    with = config, with.tokens = 0xFFFFFFFF;
    EXPECT_ERROR(NORN_ERROR_FULL, norn_realtime_start(&realtime, &with));
    with = config, with.memory_bytes -= 4;
    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_realtime_start(&realtime, &with));
    with = config, with.memory = &realtime, with.memory_bytes = sizeof realtime;
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_realtime_start(&realtime, &with));
    with = config, with.nand = NULL;
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_start(&realtime, &with));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_tokens(NULL, &sensor, 1, &id));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_tokens(&config, NULL, 1, &id));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_realtime_tokens(&config, &sensor, 1, NULL));
    with = config, with.alpha = 0;
    EXPECT_ERROR(NORN_ERROR_COLLECTOR, norn_realtime_tokens(&with, &sensor, 1, &id));
    EXPECT(norn_task_cost_us(1, 1, 1, NULL) == UINT64_MAX);
    nand_init(&part, 3);
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_realtime_start(&realtime, &config));
}

/* The part fails in a task's write: the device is halted, and a start finds what was acknowledged. */
static void failures(void) {
    uint8_t page[PAGE];
    norn_task_id id;
    begin();
    EXPECT_OK(norn_realtime_admit(&realtime, &sensor, &id));
    memset(page, 0x55, sizeof page);
    EXPECT_OK(norn_realtime_write(&realtime, id, 9, page, PAGE));
    nand_power(&part, 0);
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_realtime_write(&realtime, id, 9, page, PAGE));
    EXPECT(failure().device_error == NAND_OFF);
    nand_power(&part, -1);
    EXPECT_ERROR(NORN_ERROR_HALTED, norn_realtime_write(&realtime, id, 9, page, PAGE));
    EXPECT_OK(norn_realtime_stop(&realtime));
    EXPECT_OK(norn_realtime_start(&realtime, &config));
    memset(page, 0, sizeof page);
    EXPECT_OK(norn_realtime_read(&realtime, 9, page, PAGE));
    EXPECT(page[0] == 0x55 && page[PAGE - 1] == 0x55);
    EXPECT_OK(norn_realtime_stop(&realtime));
}

int main(void) {
    deadlines();
    admission();
    tokens();
    misuse();
    failures();
    puts("tasks keep their deadlines, and every call refuses what it cannot do");
    return 0;
}

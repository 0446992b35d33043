/*
 * A task with a deadline: every 20 ms a recorder stores two pages of samples, and has to be done before the next ones
 * come, however much the device has to collect. What has no deadline writes in between.
 *
 *     deadline FILE MILLISECONDS
 *
 * The clock is simulated: each operation takes as long as it may at most. A board reads its timer instead.
 *
 * Build: cc -std=c99 deadline.c file_nand.c $(pkg-config --cflags --libs norn) -o deadline
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nand.h"

enum { LOGICAL_PAGES = 2200, RECORDED_PAGES = 2000, PERIOD_US = 20000 };

static const struct norn_operation_times times = {
    .read_us = 348, .write_us = 919, .erase_us = 1881, .collector_cpu_us = 10};

struct recorder {
    struct norn_realtime *disk;
    struct norn_task task;
    norn_task_id id;
    uint64_t now_us;
    uint64_t release_us;
    uint32_t next_page;
    uint32_t late;
    uint32_t without_deadline;
};

/* Stores the samples of a period, at the task's tokens. */
static int record(struct recorder *recorder) {
    uint8_t samples[FILE_NAND_PAGE_BYTES];
    for (uint32_t i = 0; i < recorder->task.writes; i++) {
        int error;
        memset(samples, (int)recorder->next_page, sizeof samples);
        error = norn_realtime_write(recorder->disk, recorder->id, recorder->next_page, samples, sizeof samples);
        if (error != NORN_OK) return error;
        recorder->next_page = (recorder->next_page + 1) % RECORDED_PAGES;
    }
    recorder->now_us += recorder->task.cost_us;
    recorder->release_us += PERIOD_US;
    recorder->late += recorder->now_us > recorder->release_us;
    return NORN_OK;
}

/* What has no deadline takes the time that is left, and tokens that are left. */
static int idle(struct recorder *recorder) {
    uint8_t bytes[FILE_NAND_PAGE_BYTES] = {0};
    uint32_t page = RECORDED_PAGES + recorder->without_deadline % (LOGICAL_PAGES - RECORDED_PAGES);
    int error = norn_realtime_background_write(recorder->disk, page, bytes, sizeof bytes);
    recorder->now_us += times.erase_us;
    recorder->without_deadline += error == NORN_OK;
    if (error == NORN_ERROR_NO_TOKEN) error = norn_realtime_background_step(recorder->disk);
    return error < 0 ? error : NORN_OK;
}

/* One step of the scheduler: who has the earliest deadline goes first. */
static int step(struct recorder *recorder) {
    struct norn_job job;
    uint64_t deadline_us = recorder->release_us + PERIOD_US;
    int is_released = recorder->release_us <= recorder->now_us, found;
    int error = norn_realtime_advance(recorder->disk, recorder->now_us);
    if (error != NORN_OK) return error;
    found = norn_realtime_next_job(recorder->disk, &job);
    if (found < 0) return found;
    if (found == 1 && (!is_released || job.deadline_us < deadline_us)) {
        recorder->now_us += times.erase_us;
        error = norn_realtime_collector_step(recorder->disk);
        return error < 0 ? error : NORN_OK;
    }
    return is_released ? record(recorder) : idle(recorder);
}

/* Starts the device with the tokens that the task takes, and has the task admitted. */
static int start(struct recorder *recorder, const struct norn_nand *nand) {
    static uint32_t memory[NORN_FTL_BYTES(FILE_NAND_BLOCKS, FILE_NAND_PAGES, FILE_NAND_PAGE_BYTES, FILE_NAND_OOB_BYTES,
                                          LOGICAL_PAGES) / 4];
    static struct norn_ftl ftl;
    const struct norn_ftl_config format = {
        .nand = nand, .memory = memory, .memory_bytes = sizeof memory, .logical_pages = LOGICAL_PAGES};
    struct norn_realtime_config config = {.nand = nand, .memory = memory, .memory_bytes = sizeof memory,
                                          .times = times, .checkpoint_period_us = 100000, .alpha = 8,
                                          .failure_budget = 1};
    int error;
    recorder->task.period_us = PERIOD_US;
    recorder->task.writes = 2;
    recorder->task.cost_us = norn_task_cost_us(1000, 0, recorder->task.writes, &times);
    error = norn_realtime_tokens(&config, &recorder->task, 1, &config.tokens);
    if (error == NORN_OK) error = norn_realtime_start(recorder->disk, &config);
    if (error == NORN_ERROR_NOT_FORMATTED) {
        error = norn_ftl_format(&ftl, &format);
        if (error == NORN_OK) error = norn_realtime_start(recorder->disk, &config);
    }
    if (error == NORN_OK) error = norn_realtime_admit(recorder->disk, &recorder->task, &recorder->id);
    return error;
}

static int run(struct recorder *recorder, const struct norn_nand *nand, uint64_t until_us) {
    struct norn_realtime_info info;
    int error = start(recorder, nand);
    while (error == NORN_OK && recorder->now_us < until_us) error = step(recorder);
    if (error == NORN_OK) error = norn_realtime_tell(recorder->disk, &info);
    if (error != NORN_OK) return error;
    printf("%lu periods, %lu late; %lu blocks recycled; %lu pages without deadline\n",
           (unsigned long)(recorder->release_us / PERIOD_US), (unsigned long)recorder->late,
           (unsigned long)info.recycled, (unsigned long)recorder->without_deadline);
    return norn_realtime_stop(recorder->disk);
}

int main(int argc, char **argv) {
    static struct norn_realtime disk;
    static struct file_nand part;
    struct recorder recorder = {.disk = &disk};
    struct norn_nand nand;
    int error;
    if (argc != 3) {
        fprintf(stderr, "usage: deadline FILE MILLISECONDS\n");
        return 2;
    }
    if (file_nand_open(&nand, &part, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    error = run(&recorder, &nand, strtoull(argv[2], NULL, 10) * 1000);
    file_nand_close(&part);
    if (error != NORN_OK) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

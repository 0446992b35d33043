/*
 * A sensor log: the last 256 readings in a ring, each appended atomically.
 *
 *     sensor_log FILE add COUNT     appends so many readings
 *     sensor_log FILE show COUNT    shows the last ones: number, seconds, value
 *
 * Between the readings there is time: norn_heap_reclaim_step is called then, so that an append need not erase.
 *
 * Build: cc -std=c99 sensor_log.c file_nor.c $(pkg-config --cflags --libs norn) -o sensor_log
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nor.h"

enum { READINGS = 256 };

/* The fields of the log, an object: how many readings there ever were, and the ring, an array. */
enum { LOG_COUNT, LOG_RING, LOG_FIELDS };

/* An element of the ring, as this machine lays it out: another reads it only if it does the same. */
struct reading {
    uint32_t seconds;
    int32_t value;
};

struct sensor_log {
    struct norn_heap *heap;
    norn_ref object;
    norn_ref ring;
    uint32_t count;
};

static int create_log(struct norn_heap *heap, norn_ref *object) {
    norn_ref ring;
    int error = norn_heap_begin(heap);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_create(heap, LOG_FIELDS, 4, object)) != NORN_OK) return error;
    if ((error = norn_heap_create_array(heap, READINGS, sizeof(struct reading), &ring)) != NORN_OK) return error;
    if ((error = norn_heap_put_field(heap, *object, LOG_RING, &ring, 4)) != NORN_OK) return error;
    if ((error = norn_heap_set_root(heap, "log", *object)) != NORN_OK) return error;
    return norn_heap_commit(heap);
}

static int open_log(struct sensor_log *log, struct norn_heap *heap) {
    int error = norn_heap_root(heap, "log", &log->object);
    log->heap = heap;
    if (error == NORN_OK && log->object == 0) error = create_log(heap, &log->object);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_get_field(heap, log->object, LOG_COUNT, &log->count, 4)) != NORN_OK) return error;
    return norn_heap_get_field(heap, log->object, LOG_RING, &log->ring, 4);
}

/* The reading counts once the number of readings says so. Until then its place in the ring held the oldest one, or
   none; so both changes are one transaction. */
static int append(struct sensor_log *log, const struct reading *reading) {
    uint32_t count = log->count + 1;
    int error = norn_heap_begin(log->heap);
    if (error != NORN_OK) return error;
    error = norn_heap_array_store(log->heap, log->ring, log->count % READINGS, reading, sizeof *reading);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_put_field(log->heap, log->object, LOG_COUNT, &count, 4)) != NORN_OK) return error;
    if ((error = norn_heap_commit(log->heap)) != NORN_OK) return error;
    log->count = count;
    return NORN_OK;
}

/* Does housekeeping while there is nothing else to do. Units of less than half a unit's rubbish are left alone. */
static int use_idle_time(struct norn_heap *heap) {
    int steps = norn_heap_reclaim_step(heap, FILE_NOR_UNIT_BYTES / 2);
    return steps < 0 ? steps : NORN_OK;
}

static int add(struct sensor_log *log, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct reading reading;
        int error;
        reading.seconds = log->count * 60;
        reading.value = (int32_t)(log->count * 37 % 101) - 50; /* where the board reads its sensor */
        if ((error = append(log, &reading)) != NORN_OK) return error;
        if ((error = use_idle_time(log->heap)) != NORN_OK) return error;
    }
    return NORN_OK;
}

static uint32_t kept(const struct sensor_log *log) {
    return log->count < READINGS ? log->count : READINGS;
}

static int show(const struct sensor_log *log, uint32_t count) {
    if (count > kept(log)) count = kept(log);
    for (uint32_t number = log->count - count; number < log->count; number++) {
        struct reading reading;
        int error = norn_heap_array_read(log->heap, log->ring, number % READINGS, &reading, sizeof reading);
        if (error != NORN_OK) return error;
        printf("%lu %lu %ld\n", (unsigned long)number, (unsigned long)reading.seconds, (long)reading.value);
    }
    return NORN_OK;
}

static int serve(struct sensor_log *log, const char *what, uint32_t count) {
    int error;
    if (strcmp(what, "show") == 0) return show(log, count);
    if ((error = add(log, count)) != NORN_OK) return error;
    if (log->count == 0) return NORN_OK;
    printf("%lu readings, number %lu to %lu\n", (unsigned long)kept(log), (unsigned long)(log->count - kept(log)),
           (unsigned long)log->count - 1);
    return NORN_OK;
}

int main(int argc, char **argv) {
    static struct norn_heap heap;
    struct norn_nor nor;
    struct sensor_log log;
    int error, last;
    if (argc != 4 || (strcmp(argv[2], "add") != 0 && strcmp(argv[2], "show") != 0)) {
        fprintf(stderr, "usage: sensor_log FILE add|show COUNT\n");
        return 2;
    }
    if (file_nor_open(&nor, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    error = file_nor_mount(&heap, &nor);
    if (error == NORN_OK) {
        error = open_log(&log, &heap);
        if (error == NORN_OK) error = serve(&log, argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
        last = norn_heap_unmount(&heap);
        if (error == NORN_OK) error = last;
    }
    file_nor_close(&nor);
    if (error != NORN_OK) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

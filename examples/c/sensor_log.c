/*
 * A sensor log: readings by the second in which they were taken, each durable when it is appended. When the part is
 * full, the oldest make room for the newest.
 *
 *     sensor_log FILE add COUNT     takes so many readings, one a minute
 *     sensor_log FILE show COUNT    shows the last ones: second, value
 *     sensor_log FILE mean FROM TO  the mean of the readings from second FROM on and before second TO
 *
 * Between the readings there is time: norn_index_reclaim_step is called then and now, so that few appends erase.
 *
 * Build: cc -std=c99 sensor_log.c file_nor.c $(pkg-config --cflags --libs norn) -o sensor_log
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nor.h"

enum { KEY_BYTES = 4, PERIOD_SECONDS = 60, READINGS_PER_STEP = 64 };

/* A second as a key: keys sort as bytes, so the most significant one comes first. */
struct key {
    uint8_t bytes[KEY_BYTES];
};

static struct key key_of(uint32_t second) {
    struct key key;
    for (int i = 0; i < KEY_BYTES; i++) key.bytes[i] = (uint8_t)(second >> (8 * (KEY_BYTES - 1 - i)));
    return key;
}

static uint32_t second_of(const struct key *key) {
    uint32_t second = 0;
    for (int i = 0; i < KEY_BYTES; i++) second = second << 8 | key->bytes[i];
    return second;
}

static int mount(struct norn_index *log, const struct norn_nor *nor) {
    const struct norn_index_config config = {
        .nor = nor, .key_bytes = KEY_BYTES, .value_bytes = sizeof(int32_t), .order = NORN_ORDER_ASCENDING};
    int error = norn_index_mount(log, &config);
    if (error == NORN_ERROR_NOT_FORMATTED) {
        error = norn_index_format(log, &config);
        if (error == NORN_OK) error = norn_index_mount(log, &config);
    }
    return error;
}

/* The second of the next reading: after that of the last one. */
static int next_second(struct norn_index *log, uint32_t *second) {
    struct norn_index_cursor cursor;
    struct key last;
    int32_t value;
    int found = norn_index_range(log, &cursor, NULL, NULL);
    if (found == NORN_OK) found = norn_index_previous(log, &cursor, &last, &value);
    *second = found == 1 ? second_of(&last) + PERIOD_SECONDS : 0;
    return found < 0 ? found : NORN_OK;
}

static int add(struct norn_index *log, uint32_t count) {
    uint32_t second;
    int error = next_second(log, &second);
    for (uint32_t i = 0; i < count && error >= 0; i++, second += PERIOD_SECONDS) {
        struct key key = key_of(second);
        int32_t value = (int32_t)(second / PERIOD_SECONDS * 37 % 101) - 50; /* where the board reads its sensor */
        error = norn_index_insert_in_ring(log, &key, &value, NULL);
        /* Where the board would wait. It reads the whole log, so not after each reading. */
        if (error == NORN_OK && i % READINGS_PER_STEP == 0) error = norn_index_reclaim_step(log);
    }
    return error < 0 ? error : NORN_OK;
}

static int add_and_tell(struct norn_index *log, uint32_t count) {
    uint32_t readings;
    int error = add(log, count);
    if (error == NORN_OK) error = norn_index_count(log, &readings);
    if (error == NORN_OK) printf("%lu readings\n", (unsigned long)readings);
    return error;
}

/* Goes back by so many readings, then forwards from there. */
static int show(struct norn_index *log, uint32_t count) {
    struct norn_index_cursor cursor;
    struct key key = key_of(0), first = key;
    int32_t value;
    int found = norn_index_range(log, &cursor, NULL, NULL);
    for (uint32_t i = 0; i < count && found >= 0; i++) {
        found = norn_index_previous(log, &cursor, &key, &value);
        if (found != 1) break;
        first = key;
    }
    if (found >= 0) found = norn_index_range(log, &cursor, count ? &first : NULL, NULL);
    while (count-- > 0 && found >= 0 && (found = norn_index_next(log, &cursor, &key, &value)) == 1) {
        printf("%lu %ld\n", (unsigned long)second_of(&key), (long)value);
    }
    return found < 0 ? found : NORN_OK;
}

static int show_mean(struct norn_index *log, uint32_t from, uint32_t to) {
    struct norn_index_cursor cursor;
    struct key key = key_of(from), end = key_of(to);
    int32_t value;
    int64_t sum = 0, count = 0;
    int found = norn_index_range(log, &cursor, &key, &end);
    while (found >= 0 && (found = norn_index_next(log, &cursor, &key, &value)) == 1) {
        sum += value;
        count++;
    }
    if (found == 0 && count == 0) printf("no readings\n");
    if (found == 0 && count > 0) printf("mean %ld of %ld\n", (long)(sum / count), (long)count);
    return found < 0 ? found : NORN_OK;
}

static int serve(struct norn_index *log, int argc, char **argv) {
    uint32_t number = (uint32_t)strtoul(argv[3], NULL, 10);
    if (argc == 5) return show_mean(log, number, (uint32_t)strtoul(argv[4], NULL, 10));
    return strcmp(argv[2], "show") == 0 ? show(log, number) : add_and_tell(log, number);
}

static int is_understood(int argc, char **argv) {
    if (argc == 5) return strcmp(argv[2], "mean") == 0;
    return argc == 4 && (strcmp(argv[2], "add") == 0 || strcmp(argv[2], "show") == 0);
}

int main(int argc, char **argv) {
    static struct norn_index log;
    struct norn_nor nor;
    int error, last;
    if (!is_understood(argc, argv)) {
        fprintf(stderr, "usage: sensor_log FILE add|show COUNT, or sensor_log FILE mean FROM TO\n");
        return 2;
    }
    if (file_nor_open(&nor, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    nor.reprogramming = NORN_REPROGRAMMING_UNLIMITED; /* an index takes serial NOR */
    error = mount(&log, &nor);
    if (error == NORN_OK) {
        error = serve(&log, argc, argv);
        last = norn_index_unmount(&log);
        if (error == NORN_OK) error = last;
    }
    file_nor_close(&nor);
    if (error != NORN_OK) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

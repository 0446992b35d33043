/*
 * Every call of the index once, with what it refuses: widths that cannot be, keys that are there or are not, cursors of
 * another index or mount, null or misaligned pointers, handles that are not mounted, copied or busy.
 */
#include <limits.h>
#include <string.h>

#include "expect.h"
#include "nor_simulator.h"
#include "norn.h"

static struct norn_index index_;
static struct nor_simulator part;
static struct norn_nor nor;
static struct norn_index_config config;

static void begin(uint32_t key_bytes, uint32_t value_bytes) {
    memset(&index_, 0, sizeof index_);
    simulator_init(&part, 5);
    part.reprogramming = NORN_REPROGRAMMING_UNLIMITED;
    nor = simulator_nor(&part);
    config.nor = &nor;
    config.key_bytes = key_bytes;
    config.value_bytes = value_bytes;
    config.order = NORN_ORDER_ANY;
    EXPECT_OK(norn_index_format(&index_, &config));
    EXPECT_OK(norn_index_mount(&index_, &config));
}

static struct norn_failure failure(void) {
    struct norn_failure known;
    EXPECT_OK(norn_index_failure(&index_, &known));
    return known;
}

static int put(const char *key, uint32_t value) {
    return norn_index_put(&index_, key, &value);
}

static uint32_t value_of(const char *key) {
    uint32_t value = 0xFFFFFFFF;
    EXPECT_OK(norn_index_get(&index_, key, &value));
    return value;
}

static void entries(void) {
    uint32_t value = 7, keys;
    begin(4, 4);
    EXPECT_OK(norn_index_insert(&index_, "lamp", &value));
    EXPECT_ERROR(NORN_ERROR_KEY_EXISTS, norn_index_insert(&index_, "lamp", &value));
    EXPECT(failure().error == NORN_ERROR_KEY_EXISTS);
    EXPECT(value_of("lamp") == 7);
    value = 8;
    EXPECT_OK(norn_index_update(&index_, "lamp", &value));
    EXPECT(value_of("lamp") == 8);
    EXPECT_ERROR(NORN_ERROR_KEY_ABSENT, norn_index_update(&index_, "door", &value));
    EXPECT_ERROR(NORN_ERROR_KEY_ABSENT, norn_index_remove(&index_, "door"));
    EXPECT_ERROR(NORN_ERROR_KEY_ABSENT, norn_index_get(&index_, "door", &value));
    EXPECT(value == 8); /* as it was */
    EXPECT_OK(put("door", 1));
    EXPECT_OK(put("door", 2));
    EXPECT(value_of("door") == 2);
    EXPECT_OK(norn_index_count(&index_, &keys));
    EXPECT(keys == 2);
    EXPECT_OK(norn_index_remove(&index_, "lamp"));
    EXPECT_OK(norn_index_count(&index_, &keys));
    EXPECT(keys == 1);
    EXPECT_OK(norn_index_rest(&index_));
    EXPECT_OK(norn_index_unmount(&index_));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, put("door", 1));
    EXPECT_OK(norn_index_mount(&index_, &config));
    EXPECT(value_of("door") == 2);
    EXPECT_OK(norn_index_unmount(&index_));
    begin(3, 0); /* a set */
    EXPECT_OK(norn_index_insert(&index_, "abc", NULL));
    EXPECT_OK(norn_index_get(&index_, "abc", NULL));
    EXPECT_ERROR(NORN_ERROR_KEY_ABSENT, norn_index_get(&index_, "abd", NULL));
    EXPECT_OK(norn_index_unmount(&index_));
}

/* Walks what is left of a cursor, and expects these keys, of three letters each, separated by spaces. */
static void expect_walk(struct norn_index_cursor *cursor, int (*step)(struct norn_index *, struct norn_index_cursor *,
                        void *, void *), const char *keys) {
    char key[4] = "", found[200] = "";
    uint32_t value;
    int is_found;
    while ((is_found = step(&index_, cursor, key, &value)) == 1) {
        EXPECT(value == (uint32_t)key[0]);
        if (found[0]) strcat(found, " ");
        strcat(found, key);
    }
    EXPECT(is_found == 0);
    if (strcmp(found, keys) != 0) fprintf(stderr, "found %s, not %s\n", found, keys);
    EXPECT(strcmp(found, keys) == 0);
    EXPECT_ERROR(0, step(&index_, cursor, key, &value));
}

static void begin_letters(void) {
    begin(3, 4);
    for (const char *key = "eee bbb ddd aaa ccc"; ; key += 4) {
        EXPECT_OK(put(key, (uint32_t)key[0]));
        if (key[3] == '\0') break;
    }
}

static void ranges(void) {
    struct norn_index_cursor cursor, other;
    char key[3];
    uint32_t value;
    begin_letters();
    EXPECT_OK(norn_index_range(&index_, &cursor, NULL, NULL));
    expect_walk(&cursor, norn_index_next, "aaa bbb ccc ddd eee");
    EXPECT_OK(norn_index_range(&index_, &cursor, NULL, NULL));
    expect_walk(&cursor, norn_index_previous, "eee ddd ccc bbb aaa");
    EXPECT_OK(norn_index_range(&index_, &cursor, "bbb", "ddd"));
    expect_walk(&cursor, norn_index_next, "bbb ccc");
    EXPECT_OK(norn_index_range(&index_, &cursor, "bba", "ddd"));
    expect_walk(&cursor, norn_index_previous, "ccc bbb");
    EXPECT_OK(norn_index_range(&index_, &cursor, "x..", NULL));
    expect_walk(&cursor, norn_index_next, "");
    EXPECT_OK(norn_index_range(&index_, &cursor, "ddd", "bbb"));
    expect_walk(&cursor, norn_index_next, "");
    /* From both ends, which meet. */
    EXPECT_OK(norn_index_range(&index_, &cursor, "bbb", NULL));
    EXPECT_ERROR(1, norn_index_next(&index_, &cursor, key, &value));
    EXPECT_ERROR(1, norn_index_previous(&index_, &cursor, key, &value));
    EXPECT(memcmp(key, "eee", 3) == 0);
    other = cursor;
    expect_walk(&cursor, norn_index_previous, "ddd ccc");
    expect_walk(&cursor, norn_index_next, "");
    /* A copy goes on by itself, and a change between two steps is seen. */
    EXPECT_OK(norn_index_remove(&index_, "ccc"));
    EXPECT_OK(put("caa", 'c'));
    expect_walk(&other, norn_index_next, "caa ddd");
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_range(&index_, NULL, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_next(&index_, NULL, key, &value));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_next(&index_, &cursor, NULL, &value));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_next(&index_, &cursor, key, NULL));
    memset(&other, 0, sizeof other);
    EXPECT_ERROR(NORN_ERROR_CURSOR, norn_index_next(&index_, &other, key, &value));
    EXPECT_OK(norn_index_unmount(&index_));
    EXPECT_OK(norn_index_mount(&index_, &config));
    EXPECT_ERROR(NORN_ERROR_CURSOR, norn_index_previous(&index_, &cursor, key, &value));
    EXPECT_OK(norn_index_unmount(&index_));
}

/* Each bit of a cursor, before its first step and after it: whatever overwrites it, it is refused. */
static void overwritten_cursors(void) {
    struct norn_index_cursor cursor, other;
    char key[3];
    uint32_t value;
    begin_letters();
    EXPECT_OK(norn_index_range(&index_, &cursor, "bbb", "eee"));
    for (int round = 0; round < 3; round++) {
        for (size_t bit = 0; bit < 8 * sizeof cursor; bit++) {
            other = cursor;
            ((uint8_t *)(void *)&other)[bit / 8] ^= (uint8_t)(1u << bit % 8);
            EXPECT_ERROR(NORN_ERROR_CURSOR, norn_index_next(&index_, &other, key, &value));
            EXPECT_ERROR(NORN_ERROR_CURSOR, norn_index_previous(&index_, &other, key, &value));
        }
        EXPECT_ERROR(1, norn_index_next(&index_, &cursor, key, &value));
    }
    EXPECT(memcmp(key, "ddd", 3) == 0);
    EXPECT_OK(norn_index_unmount(&index_));
}

static void batches(void) {
    uint32_t one = 1, two = 2;
    struct norn_change changes[65];
    begin(4, 4);
    EXPECT_OK(put("from", 90));
    memset(changes, 0, sizeof changes);
    changes[0].key = "from", changes[0].value = NULL;
    changes[1].key = "to  ", changes[1].value = &one;
    changes[2].key = "to  ", changes[2].value = &two;
    EXPECT_OK(norn_index_apply(&index_, changes, 3));
    EXPECT(value_of("to  ") == 2);
    EXPECT_ERROR(NORN_ERROR_KEY_ABSENT, norn_index_remove(&index_, "from"));
    EXPECT_OK(norn_index_apply(&index_, NULL, 0));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_apply(&index_, NULL, 1));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_index_apply(&index_, (void *)((char *)(void *)changes + 1), 1));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_apply(&index_, changes, 4));
    for (int i = 0; i < 65; i++) changes[i] = changes[1];
    EXPECT_ERROR(NORN_ERROR_TRANSACTION_TOO_LARGE, norn_index_apply(&index_, changes, 65));
    EXPECT(failure().limit >= 4 && failure().limit <= 64);
    EXPECT_OK(norn_index_apply(&index_, changes, failure().limit));
    EXPECT_OK(norn_index_unmount(&index_));
}

static void number_key(uint8_t *key, uint32_t number) {
    for (int i = 0; i < 4; i++) key[i] = (uint8_t)(number >> (24 - 8 * i));
}

static void rings(void) {
    uint8_t key[4], early[4];
    uint32_t dropped, all = 0, keys, removed;
    struct norn_index_cursor cursor;
    begin(4, 4);
    EXPECT_OK(norn_index_unmount(&index_));
    config.order = NORN_ORDER_ASCENDING;
    EXPECT_OK(norn_index_format(&index_, &config));
    EXPECT_OK(norn_index_mount(&index_, &config));
    for (uint32_t number = 10; number < 4010; number++) {
        number_key(key, number);
        EXPECT_OK(norn_index_insert_in_ring(&index_, key, &number, number == 10 ? NULL : &dropped));
        if (number > 10) all += dropped;
    }
    EXPECT(all > 1000);
    EXPECT_ERROR(NORN_ERROR_KEY_EXISTS, norn_index_insert_in_ring(&index_, key, key, &dropped));
    EXPECT_OK(norn_index_count(&index_, &keys));
    EXPECT(keys == 4000 - all);
    EXPECT_OK(norn_index_range(&index_, &cursor, NULL, NULL));
    EXPECT_ERROR(1, norn_index_next(&index_, &cursor, early, key));
    EXPECT(early[2] * 256u + early[3] == 10 + all);
    /* Keys below all others, until the ring is full. */
    for (uint32_t number = 1000; ; number--) {
        int error;
        EXPECT(number > 0);
        number_key(key, number);
        if ((error = norn_index_insert_in_ring(&index_, key, &number, &dropped)) == NORN_OK) continue;
        EXPECT_ERROR(NORN_ERROR_BELOW_RING, error);
        break;
    }
    number_key(key, 4000);
    do EXPECT_OK(norn_index_remove_below(&index_, key, &removed));
    while (removed > 0);
    EXPECT_OK(norn_index_count(&index_, &keys));
    EXPECT(keys == 10);
    EXPECT_OK(norn_index_unmount(&index_));
}

static void room(void) {
    uint8_t key[4];
    uint32_t keys = 0, guaranteed, steps = 0;
    int error;
    begin(4, 4);
    EXPECT_OK(norn_index_guaranteed_keys(&index_, &guaranteed));
    for (;;) {
        number_key(key, keys * 2654435761u);
        if ((error = norn_index_insert(&index_, key, &keys)) != NORN_OK) break;
        keys++;
    }
    EXPECT(error == NORN_ERROR_FULL && guaranteed > 50 && keys >= guaranteed);
    for (uint32_t number = 0; number < keys; number += 2) {
        number_key(key, number * 2654435761u);
        EXPECT_OK(norn_index_remove(&index_, key));
    }
    while ((error = norn_index_reclaim_step(&index_)) == 1) EXPECT(++steps < 2000);
    EXPECT(error == 0 && steps > 0);
    EXPECT_OK(norn_index_check(&index_, NULL, NULL));
    EXPECT_OK(norn_index_unmount(&index_));
}

/* Changes find room while fewer keys are there than are guaranteed with them. */
static void room_for_changes(void) {
    uint8_t keys_of[8][4];
    struct norn_change changes[8];
    uint32_t guaranteed, all, keys = 0;
    begin(4, 4);
    EXPECT_OK(norn_index_guaranteed_keys(&index_, &all));
    EXPECT_OK(norn_index_guaranteed_keys_with_changes(&index_, 8, &guaranteed));
    EXPECT(guaranteed > 50 && guaranteed < all);
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_guaranteed_keys_with_changes(&index_, 8, NULL));
    while (keys < guaranteed) {
        for (uint32_t at = 0; at < 8; at++) {
            number_key(keys_of[at], (keys + at) * 2654435761u);
            changes[at].key = keys_of[at], changes[at].value = &keys;
        }
        EXPECT_OK(norn_index_apply(&index_, changes, 8));
        keys += 8;
    }
    EXPECT_OK(norn_index_guaranteed_keys_with_changes(&index_, UINT32_MAX, &guaranteed));
    EXPECT(guaranteed == 0);
    EXPECT_OK(norn_index_unmount(&index_));
}

static uint32_t violations;

static void count_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    EXPECT(context == &violations && address < SIMULATOR_BYTES && what != NULL && what_bytes > 0);
    violations++;
}

/* Flash that lies: no call may do worse than return an error, and some find what is wrong. */
static void lies(void) {
    static struct nor_simulator saved_part;
    static struct norn_index saved_index;
    uint8_t key[4];
    uint32_t value, found = 0;
    begin(4, 4);
    for (uint32_t number = 0; number < 60; number++) {
        number_key(key, number * 2654435761u);
        EXPECT_OK(norn_index_insert(&index_, key, &number));
    }
    saved_part = part, saved_index = index_;
    for (uint32_t at = 0; at < SIMULATOR_BYTES; at += 24) {
        int error;
        memset(&part.cells[at], 0, 8);
        error = norn_index_check(&index_, count_violation, &violations);
        found += error == NORN_ERROR_VIOLATION || error == NORN_ERROR_CORRUPTED;
        (void)norn_index_get(&index_, key, &value);
        (void)norn_index_put(&index_, key, &at);
        (void)norn_index_unmount(&index_);
        if (norn_index_mount(&index_, &config) == NORN_OK) EXPECT_OK(norn_index_unmount(&index_));
        part = saved_part, index_ = saved_index;
    }
    EXPECT(found > 50 && violations > 0);
    EXPECT_OK(norn_index_check(&index_, count_violation, &violations));
    EXPECT_OK(norn_index_unmount(&index_));
}

static void use_within(void *context) {
    struct norn_failure known;
    uint32_t value;
    ++*(int *)context;
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_index_get(&index_, "door", &value));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_index_unmount(&index_));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_index_mount(&index_, &config));
    EXPECT_OK(norn_index_failure(&index_, &known));
}

static void handles(void) {
    static struct norn_index other, copy;
    struct norn_failure known;
    int calls = 0;
    begin(4, 4);
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_index_mount(&index_, &config));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_index_format(&index_, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_rest(NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_mount(NULL, &config));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_index_rest((struct norn_index *)(void *)((char *)(void *)&index_ + 4)));
    memset(&other, 0, sizeof other);
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_index_rest(&other));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_index_failure(&other, &known));
    copy = index_;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_index_rest(&copy));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_insert(&index_, NULL, "door"));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_insert(&index_, "door", NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_get(&index_, "door", NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_count(&index_, NULL));
    part.hook = use_within;
    part.hook_context = &calls;
    EXPECT_OK(put("door", 1));
    EXPECT(calls > 0);
    part.hook = NULL;
    EXPECT_OK(norn_index_unmount(&index_));
}

static void expect_refused(int error) {
    EXPECT_ERROR(error, norn_index_mount(&index_, &config));
    EXPECT_ERROR(error, norn_index_format(&index_, &config));
    EXPECT(failure().error == error);
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_index_rest(&index_));
}

static void configurations(void) {
    begin(4, 4);
    EXPECT_OK(norn_index_unmount(&index_));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_index_mount(&index_, NULL));
    config.key_bytes = 0;
    expect_refused(NORN_ERROR_WIDTH);
    config.key_bytes = NORN_INDEX_KEY_BYTES_MAX + 1;
    expect_refused(NORN_ERROR_WIDTH);
    EXPECT(failure().limit == NORN_INDEX_KEY_BYTES_MAX);
    config.key_bytes = 260; /* not 4 */
    expect_refused(NORN_ERROR_WIDTH);
    config.key_bytes = 4;
    config.value_bytes = NORN_INDEX_VALUE_BYTES_MAX + 1;
    expect_refused(NORN_ERROR_WIDTH);
    EXPECT(failure().limit == NORN_INDEX_VALUE_BYTES_MAX);
    config.value_bytes = 8;
    EXPECT_ERROR(NORN_ERROR_GEOMETRY, norn_index_mount(&index_, &config));
    config.value_bytes = 4;
    config.order = 2;
    expect_refused(NORN_ERROR_RANGE);
    config.order = NORN_ORDER_ANY;
    config.nor = NULL;
    expect_refused(NORN_ERROR_NULL);
    config.nor = &nor;
    nor.erase = NULL;
    expect_refused(NORN_ERROR_NULL);
    nor = simulator_nor(&part);
    nor.unit_count = 70000;
    expect_refused(NORN_ERROR_PART);
    nor = simulator_nor(&part);
    nor.reprogramming = NORN_REPROGRAMMING_ONCE;
    expect_refused(NORN_ERROR_UNSUITABLE);
    EXPECT(failure().what != NULL && failure().what_bytes > 0);
    nor = simulator_nor(&part);
    EXPECT_OK(norn_index_mount(&index_, &config));
    EXPECT_OK(norn_index_unmount(&index_));
    begin(NORN_INDEX_KEY_BYTES_MAX, NORN_INDEX_VALUE_BYTES_MAX);
    EXPECT_OK(norn_index_unmount(&index_));
    simulator_init(&part, 6);
    part.reprogramming = NORN_REPROGRAMMING_UNLIMITED;
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_index_mount(&index_, &config));
}

/* A program that fails: the call says so, the index is halted, and a mount finds what was acknowledged. */
static void failures(void) {
    begin(4, 4);
    EXPECT_OK(put("door", 3));
    simulator_power(&part, 0);
    EXPECT_ERROR(NORN_ERROR_DEVICE, put("lamp", 4));
    EXPECT(failure().device_error == SIMULATOR_OFF);
    simulator_power(&part, -1);
    EXPECT_ERROR(NORN_ERROR_HALTED, put("lamp", 4));
    EXPECT_OK(norn_index_unmount(&index_));
    EXPECT_OK(norn_index_mount(&index_, &config));
    EXPECT(value_of("door") == 3);
    EXPECT_OK(norn_index_unmount(&index_));
}

int main(void) {
    entries();
    ranges();
    overwritten_cursors();
    batches();
    rings();
    room();
    room_for_changes();
    lies();
    handles();
    configurations();
    failures();
    puts("every call does what it says, and refuses what it cannot do");
    return 0;
}

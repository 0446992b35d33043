/*
 * Power cuts at every program and erase, from C: what an index acknowledged is there after the next mount, the change
 * that was in flight is there whole or not at all, and the index has every invariant. The power then fails again in
 * that mount, at each of its first operations.
 *
 *     index_cuts [CHANGES [SEED]]
 */
#include <string.h>

#include "expect.h"
#include "nor_simulator.h"
#include "norn.h"

enum { KEYS = 40, PAIRS = 3, CUTS_OF_A_MOUNT = 5 };

static struct norn_index index_;
static struct nor_simulator part;

/* What each key has for its value; 0 where it is absent. */
struct model {
    uint32_t values[KEYS];
};

static int mount(int (*call)(struct norn_index *, const struct norn_index_config *)) {
    struct norn_nor nor = simulator_nor(&part);
    struct norn_index_config config = {0};
    config.nor = &nor;
    config.key_bytes = 2;
    config.value_bytes = 4;
    return call(&index_, &config);
}

/* Makes change `number` in a model: most write a key, some remove one, every fifth writes several at once. */
static void change_model(struct model *model, uint32_t number) {
    uint32_t key = number * 7 % KEYS;
    if (number % 5 == 0) {
        for (uint32_t i = 0; i < PAIRS; i++) model->values[(key + i * 11) % KEYS] = number * 10 + i;
        model->values[(key + 5) % KEYS] = 0;
    } else if (number % 3 == 0) {
        model->values[key] = 0;
    } else {
        model->values[key] = number;
    }
}

/* Makes it in the index. */
static int change_index(const struct model *before, uint32_t number) {
    uint8_t keys[PAIRS + 1][2];
    uint32_t values[PAIRS], key = number * 7 % KEYS;
    struct norn_change changes[PAIRS + 1];
    keys[0][0] = 'k', keys[0][1] = (uint8_t)key;
    if (number % 5 != 0) {
        if (number % 3 != 0) return norn_index_put(&index_, keys[0], &number);
        return before->values[key] ? norn_index_remove(&index_, keys[0]) : NORN_OK;
    }
    for (uint32_t i = 0; i < PAIRS + 1; i++) {
        keys[i][0] = 'k';
        keys[i][1] = (uint8_t)((key + (i < PAIRS ? i * 11 : 5)) % KEYS);
        if (i < PAIRS) values[i] = number * 10 + i;
        changes[i].key = keys[i];
        changes[i].value = i < PAIRS ? &values[i] : NULL;
    }
    return norn_index_apply(&index_, changes, PAIRS + 1);
}

static void show_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    (void)context;
    fprintf(stderr, "%.*s at %#lx\n", (int)what_bytes, what, (unsigned long)address);
}

/* Reads the index into a model, by a cursor and by its keys. */
static struct model state(void) {
    struct model found;
    struct norn_index_cursor cursor;
    uint8_t key[2], last = 0;
    uint32_t value, looked_up, count = 0, keys;
    int is_found;
    memset(&found, 0, sizeof found);
    EXPECT_OK(norn_index_check(&index_, show_violation, NULL));
    EXPECT_OK(norn_index_range(&index_, &cursor, NULL, NULL));
    while ((is_found = norn_index_next(&index_, &cursor, key, &value)) == 1) {
        EXPECT(key[0] == 'k' && key[1] < KEYS && (count == 0 || key[1] > last));
        EXPECT_OK(norn_index_get(&index_, key, &looked_up));
        EXPECT(looked_up == value && value != 0);
        found.values[key[1]] = value;
        last = key[1];
        count++;
    }
    EXPECT(is_found == 0);
    EXPECT_OK(norn_index_count(&index_, &keys));
    EXPECT(keys == count);
    return found;
}

/* Makes changes until the power fails; returns how many were acknowledged. */
static uint32_t run(uint32_t changes) {
    struct model model;
    uint32_t acknowledged = 0;
    int error = mount(norn_index_mount);
    memset(&model, 0, sizeof model);
    while (error == NORN_OK && acknowledged < changes) {
        error = change_index(&model, acknowledged + 1);
        if (error == NORN_OK) change_model(&model, ++acknowledged);
        if (error == NORN_OK && acknowledged % 16 == 0) error = norn_index_rest(&index_);
        if (error == NORN_OK && acknowledged % 8 == 0) {
            int stepped = norn_index_reclaim_step(&index_);
            error = stepped < 0 ? stepped : NORN_OK;
        }
    }
    EXPECT(error == NORN_OK || error == NORN_ERROR_DEVICE);
    (void)norn_index_unmount(&index_);
    return acknowledged;
}

/* Mounts what a cut left, the power failing again after so many operations of the mount, then for good. */
static void recover(long operations, uint32_t acknowledged) {
    struct model before, after, found;
    memset(&before, 0, sizeof before);
    for (uint32_t number = 1; number <= acknowledged; number++) change_model(&before, number);
    after = before;
    change_model(&after, acknowledged + 1);
    simulator_power(&part, operations);
    if (mount(norn_index_mount) != NORN_OK) {
        simulator_power(&part, -1);
        EXPECT_OK(mount(norn_index_mount));
    }
    simulator_power(&part, -1);
    found = state();
    if (memcmp(&found, &before, sizeof found) != 0) EXPECT(memcmp(&found, &after, sizeof found) == 0);
    EXPECT_OK(change_index(&found, acknowledged + 2));
    change_model(&found, acknowledged + 2);
    after = state();
    EXPECT(memcmp(&found, &after, sizeof found) == 0);
    EXPECT_OK(norn_index_unmount(&index_));
}

int main(int argc, char **argv) {
    uint32_t changes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 60;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2011;
    long cuts;
    simulator_init(&part, seed);
    part.reprogramming = NORN_REPROGRAMMING_UNLIMITED;
    EXPECT_OK(mount(norn_index_format));
    cuts = simulator_cut_everywhere(&part, changes, run, recover, CUTS_OF_A_MOUNT);
    EXPECT(cuts > (long)changes);
    printf("%ld cuts of %u changes, each with %d cuts of the mount: nothing lost\n", cuts, (unsigned)changes,
           CUTS_OF_A_MOUNT);
    return 0;
}

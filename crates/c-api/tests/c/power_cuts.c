/*
 * Power cuts at every program and erase, from C: a transaction that was acknowledged is there after the next mount, one
 * that was in flight is there whole or not at all, and the heap has every invariant. The power then fails again in that
 * mount, at each of its first operations.
 *
 *     power_cuts [TRANSACTIONS [SEED]]
 */
#include <string.h>

#include "expect.h"
#include "nor_simulator.h"
#include "norn.h"

enum { ACCOUNTS = 5, READINGS = 12, WRITTEN = 4, SLIP_WIDTH = 20, CUTS_OF_A_MOUNT = 6 };

static struct norn_heap heap;
static uint32_t memory[NORN_HEAP_BYTES(SIMULATOR_UNITS) / 4];
static uint8_t marks[SIMULATOR_BYTES / SIMULATOR_PROGRAM_UNIT / 8];
static struct nor_simulator part;

static struct norn_heap_config config(void) {
    static struct norn_nor nor;
    struct norn_heap_config config;
    nor = simulator_nor(&part);
    config.nor = &nor;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    return config;
}

static int mount(void) {
    struct norn_heap_config with = config();
    return norn_heap_mount(&heap, &with);
}

/* What account `index` has after `count` transactions: each moves its number from one account to the next. */
static uint32_t balance_after(uint32_t count, uint32_t index) {
    uint32_t balance = 1000000;
    for (uint32_t number = 1; number <= count; number++) {
        if (number % ACCOUNTS == index) balance -= number;
        if ((number + 1) % ACCOUNTS == index) balance += number;
    }
    return balance;
}

/* What element `index` of the readings is then: a transaction writes some in a row. */
static uint32_t reading_after(uint32_t count, uint32_t index) {
    for (uint32_t number = count; number > 0; number--) {
        uint32_t first = number % (READINGS - WRITTEN + 1);
        if (index >= first && index < first + WRITTEN) return number * 100 + index;
    }
    return 0;
}

/* The book has a field for the number of transactions, the accounts, the readings, and the slip of the last one. */
enum { BOOK_COUNT = 0, BOOK_SLIP = 1, BOOK_READINGS = 2, BOOK_ACCOUNTS = 3, BOOK_FIELDS = BOOK_ACCOUNTS + ACCOUNTS };

static void begin_book(void) {
    struct norn_heap_config with = config();
    norn_ref book, readings;
    EXPECT_OK(norn_heap_format(&heap, &with));
    EXPECT_OK(mount());
    EXPECT_OK(norn_heap_begin(&heap));
    EXPECT_OK(norn_heap_create(&heap, BOOK_FIELDS, 4, &book));
    EXPECT_OK(norn_heap_create_array(&heap, READINGS, 4, &readings));
    EXPECT_OK(norn_heap_put_field(&heap, book, BOOK_READINGS, &readings, 4));
    for (uint32_t index = 0; index < ACCOUNTS; index++) {
        uint32_t balance = balance_after(0, index);
        EXPECT_OK(norn_heap_put_field(&heap, book, BOOK_ACCOUNTS + index, &balance, 4));
    }
    EXPECT_OK(norn_heap_set_root(&heap, "book", book));
    EXPECT_OK(norn_heap_commit(&heap));
    EXPECT_OK(norn_heap_unmount(&heap));
}

/* Makes transaction `number`; returns the first error. */
static int transact(norn_ref book, uint32_t number) {
    uint32_t from = number % ACCOUNTS, to = (number + 1) % ACCOUNTS, balance, values[WRITTEN];
    uint32_t first = number % (READINGS - WRITTEN + 1);
    norn_ref readings, old, slip;
    uint8_t words[SLIP_WIDTH];
    int error;
    memset(words, (int)number, sizeof words);
    for (uint32_t i = 0; i < WRITTEN; i++) values[i] = number * 100 + first + i;
    if ((error = norn_heap_begin(&heap))) return error;
    if ((error = norn_heap_get_field(&heap, book, BOOK_READINGS, &readings, 4))) return error;
    if ((error = norn_heap_get_field(&heap, book, BOOK_SLIP, &old, 4))) return error;
    if ((error = norn_heap_get_field(&heap, book, BOOK_ACCOUNTS + from, &balance, 4))) return error;
    balance -= number;
    if ((error = norn_heap_put_field(&heap, book, BOOK_ACCOUNTS + from, &balance, 4))) return error;
    if ((error = norn_heap_get_field(&heap, book, BOOK_ACCOUNTS + to, &balance, 4))) return error;
    balance += number;
    if ((error = norn_heap_put_field(&heap, book, BOOK_ACCOUNTS + to, &balance, 4))) return error;
    if ((error = norn_heap_array_write(&heap, readings, first, values, sizeof values))) return error;
    if (old != 0 && (error = norn_heap_delete(&heap, old))) return error;
    if ((error = norn_heap_create(&heap, 2, SLIP_WIDTH, &slip))) return error;
    if ((error = norn_heap_put_field(&heap, slip, 1, words, sizeof words))) return error;
    if ((error = norn_heap_put_field(&heap, book, BOOK_SLIP, &slip, 4))) return error;
    if ((error = norn_heap_put_field(&heap, book, BOOK_COUNT, &number, 4))) return error;
    return norn_heap_commit(&heap);
}

static void show_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    (void)context;
    fprintf(stderr, "%.*s at %#lx\n", (int)what_bytes, what, (unsigned long)address);
}

/* Checks that the heap is as it is after so many transactions, and after no part of another. */
static void expect_state(uint32_t count) {
    norn_ref book, readings, slip, next = 0;
    uint32_t objects = 0, value;
    uint8_t words[SLIP_WIDTH];
    EXPECT_OK(norn_heap_check(&heap, marks, sizeof marks, show_violation, NULL));
    EXPECT_ERROR(0, norn_heap_in_transaction(&heap));
    EXPECT_OK(norn_heap_root(&heap, "book", &book));
    for (uint32_t index = 0; index < ACCOUNTS; index++) {
        EXPECT_OK(norn_heap_get_field(&heap, book, BOOK_ACCOUNTS + index, &value, 4));
        EXPECT(value == balance_after(count, index));
    }
    EXPECT_OK(norn_heap_get_field(&heap, book, BOOK_READINGS, &readings, 4));
    for (uint32_t index = 0; index < READINGS; index++) {
        EXPECT_OK(norn_heap_array_read(&heap, readings, index, &value, 4));
        EXPECT(value == reading_after(count, index));
    }
    EXPECT_OK(norn_heap_get_field(&heap, book, BOOK_SLIP, &slip, 4));
    if (count > 0) {
        EXPECT_OK(norn_heap_get_field(&heap, slip, 1, words, sizeof words));
        for (int i = 0; i < SLIP_WIDTH; i++) EXPECT(words[i] == (uint8_t)count);
    }
    do {
        EXPECT_OK(norn_heap_next_object(&heap, next, &next));
        objects += next != 0;
    } while (next != 0);
    EXPECT(objects == (count > 0 ? 3u : 2u));
}

/* Makes transactions until the power fails; returns how many were acknowledged. */
static uint32_t run(uint32_t transactions) {
    uint32_t acknowledged = 0;
    norn_ref book;
    int error = mount();
    if (error == NORN_OK) error = norn_heap_root(&heap, "book", &book);
    while (error == NORN_OK && acknowledged < transactions) {
        error = transact(book, acknowledged + 1);
        if (error == NORN_OK) acknowledged++;
    }
    EXPECT(error == NORN_OK || error == NORN_ERROR_DEVICE);
    if (error == NORN_ERROR_DEVICE) {
        struct norn_failure failure;
        EXPECT_OK(norn_heap_failure(&heap, &failure));
        EXPECT(failure.error == NORN_ERROR_DEVICE && failure.device_error == SIMULATOR_OFF);
    }
    (void)norn_heap_unmount(&heap);
    return acknowledged;
}

/* Mounts what a cut left, the power failing again after so many operations of the mount, then for good. */
static void recover(long operations, uint32_t acknowledged) {
    uint32_t count;
    norn_ref book;
    simulator_power(&part, operations);
    if (mount() != NORN_OK) {
        simulator_power(&part, -1);
        EXPECT_OK(mount());
    }
    simulator_power(&part, -1);
    EXPECT_OK(norn_heap_root(&heap, "book", &book));
    EXPECT_OK(norn_heap_get_field(&heap, book, BOOK_COUNT, &count, 4));
    EXPECT(count == acknowledged || count == acknowledged + 1);
    expect_state(count);
    EXPECT_OK(transact(book, count + 1));
    expect_state(count + 1);
    EXPECT_OK(norn_heap_unmount(&heap));
}

int main(int argc, char **argv) {
    uint32_t transactions = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20;
    uint32_t seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2006;
    long cuts;
    simulator_init(&part, seed);
    begin_book();
    cuts = simulator_cut_everywhere(&part, transactions, run, recover, CUTS_OF_A_MOUNT);
    EXPECT_OK(mount());
    expect_state(transactions);
    EXPECT(cuts > (long)transactions * 5);
    printf("%ld cuts of %u transactions, each with %d cuts of the mount: nothing lost\n", cuts, (unsigned)transactions,
           CUTS_OF_A_MOUNT);
    return 0;
}

/*
 * A purse: a balance and the last payments, which change together or not at all, however the power fails.
 *
 *     purse FILE         the balance, and the payments that are kept
 *     purse FILE +500    puts money in
 *     purse FILE -120    takes money out
 *
 * Build: cc -std=c99 purse.c file_nor.c $(pkg-config --cflags --libs norn) -o purse
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file_nor.h"

enum { PAYMENTS = 8 };

/* The fields of the purse, an object: its balance, the number of payments, and the array that keeps the last ones. */
enum { PURSE_BALANCE, PURSE_COUNT, PURSE_PAYMENTS, PURSE_FIELDS };

struct purse {
    struct norn_heap *heap;
    norn_ref object;
    norn_ref payments;
    uint32_t balance;
    uint32_t count;
};

/* Makes an empty purse. It is there whole or not at all. */
static int create_purse(struct norn_heap *heap, norn_ref *object) {
    norn_ref payments;
    int error = norn_heap_begin(heap);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_create(heap, PURSE_FIELDS, 4, object)) != NORN_OK) return error;
    if ((error = norn_heap_create_array(heap, PAYMENTS, 4, &payments)) != NORN_OK) return error;
    if ((error = norn_heap_put_field(heap, *object, PURSE_PAYMENTS, &payments, 4)) != NORN_OK) return error;
    if ((error = norn_heap_set_root(heap, "purse", *object)) != NORN_OK) return error;
    return norn_heap_commit(heap);
}

static int open_purse(struct purse *purse, struct norn_heap *heap) {
    int error = norn_heap_root(heap, "purse", &purse->object);
    purse->heap = heap;
    if (error == NORN_OK && purse->object == 0) error = create_purse(heap, &purse->object);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_get_field(heap, purse->object, PURSE_BALANCE, &purse->balance, 4)) != NORN_OK) return error;
    if ((error = norn_heap_get_field(heap, purse->object, PURSE_COUNT, &purse->count, 4)) != NORN_OK) return error;
    return norn_heap_get_field(heap, purse->object, PURSE_PAYMENTS, &purse->payments, 4);
}

/* Changes the balance and notes the payment. After an error in it the transaction is still open, and nothing of it
   takes effect: norn_heap_unmount undoes it, as a loss of power does. */
static int pay(struct purse *purse, int32_t amount) {
    uint32_t balance = purse->balance + (uint32_t)amount, count = purse->count + 1;
    int error = norn_heap_begin(purse->heap);
    if (error != NORN_OK) return error;
    error = norn_heap_array_store(purse->heap, purse->payments, purse->count % PAYMENTS, &amount, 4);
    if (error != NORN_OK) return error;
    error = norn_heap_put_field(purse->heap, purse->object, PURSE_BALANCE, &balance, 4);
    if (error != NORN_OK) return error;
    error = norn_heap_put_field(purse->heap, purse->object, PURSE_COUNT, &count, 4);
    if (error != NORN_OK) return error;
    if ((error = norn_heap_commit(purse->heap)) != NORN_OK) return error;
    purse->balance = balance;
    purse->count = count;
    return NORN_OK;
}

static int show_payments(const struct purse *purse) {
    uint32_t first = purse->count > PAYMENTS ? purse->count - PAYMENTS : 0;
    for (uint32_t number = first; number < purse->count; number++) {
        int32_t amount;
        int error = norn_heap_array_read(purse->heap, purse->payments, number % PAYMENTS, &amount, 4);
        if (error != NORN_OK) return error;
        printf("payment %lu: %+ld\n", (unsigned long)number + 1, (long)amount);
    }
    return NORN_OK;
}

/* Reads an amount. Returns 0 if it is none. */
static int32_t amount_of(const char *text) {
    char *end;
    long amount = strtol(text, &end, 10);
    return *end == '\0' && amount > -1000000000 && amount < 1000000000 ? (int32_t)amount : 0;
}

/* Mounts the heap on a part, which it formats if there is none. */
static int mount(struct norn_heap *heap, const struct norn_nor *nor) {
    static uint32_t memory[NORN_HEAP_BYTES(FILE_NOR_UNITS) / 4];
    const struct norn_heap_config config = {.nor = nor, .memory = memory, .memory_bytes = sizeof memory};
    int error = norn_heap_mount(heap, &config);
    if (error == NORN_ERROR_NOT_FORMATTED) {
        error = norn_heap_format(heap, &config);
        if (error == NORN_OK) error = norn_heap_mount(heap, &config);
    }
    return error;
}

/* Does what the command line asks for. Returns 1 if that cannot be, else what the heap returned. */
static int serve(struct purse *purse, int argc, char **argv) {
    int error = NORN_OK;
    if (argc > 2) {
        int64_t after = (int64_t)purse->balance + amount_of(argv[2]);
        if (amount_of(argv[2]) == 0 || after < 0 || after > INT32_MAX) {
            fprintf(stderr, after < 0 ? "not enough money\n" : "no amount\n");
            return 1;
        }
        error = pay(purse, amount_of(argv[2]));
    }
    if (error == NORN_OK) printf("balance %lu\n", (unsigned long)purse->balance);
    return error == NORN_OK && argc == 2 ? show_payments(purse) : error;
}

int main(int argc, char **argv) {
    static struct norn_heap heap;
    struct norn_nor nor;
    struct purse purse;
    int error, last;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: purse FILE [+AMOUNT | -AMOUNT]\n");
        return 2;
    }
    if (file_nor_open(&nor, argv[1]) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    error = mount(&heap, &nor);
    if (error == NORN_OK) {
        error = open_purse(&purse, &heap);
        if (error == NORN_OK) error = serve(&purse, argc, argv);
        last = norn_heap_unmount(&heap);
        if (error == NORN_OK) error = last;
    }
    file_nor_close(&nor);
    if (error < 0) fprintf(stderr, "%s: %s\n", argv[1], norn_error_text(error));
    return error == NORN_OK ? 0 : 1;
}

/*
 * Every call of the heap once, with what it refuses: arguments that are out of range, null or misaligned pointers,
 * handles that are not mounted, mounted twice, copied or busy, memory that is too small or taken.
 */
#include <limits.h>
#include <string.h>

#include "expect.h"
#include "nor_simulator.h"
#include "norn.h"

static struct norn_heap heap;
static uint32_t memory[NORN_HEAP_BYTES(SIMULATOR_UNITS) / 4];
static struct nor_simulator part;
static struct norn_nor nor;
static struct norn_heap_config config;

static void begin(void) {
    memset(&heap, 0, sizeof heap);
    simulator_init(&part, 11);
    nor = simulator_nor(&part);
    config.nor = &nor;
    config.memory = memory;
    config.memory_bytes = sizeof memory;
    EXPECT_OK(norn_heap_format(&heap, &config));
    EXPECT_OK(norn_heap_mount(&heap, &config));
}

static struct norn_failure failure(void) {
    struct norn_failure known;
    EXPECT_OK(norn_heap_failure(&heap, &known));
    return known;
}

static void objects(void) {
    static const uint8_t widths[] = {8, 4, 2, 1};
    static const char type[] = "type 7";
    struct norn_layout layout = {0};
    struct norn_info info;
    norn_ref pair, mixed, next;
    uint32_t width, number = 0xCAFE, two[2] = {1, 2};
    uint8_t byte = 9;
    char header[16];
    size_t header_bytes;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 2, 4, &pair));
    layout.count = 4;
    layout.widths = widths;
    layout.header = type;
    layout.header_bytes = sizeof type;
    EXPECT_OK(norn_heap_create_layout(&heap, &layout, &mixed));
    EXPECT_OK(norn_heap_info(&heap, mixed, &info));
    EXPECT(!info.is_array && info.count == 4 && info.data_bytes == 15 && info.header_bytes == sizeof type);
    EXPECT_OK(norn_heap_field_width(&heap, mixed, 2, &width));
    EXPECT(width == 2);
    EXPECT_OK(norn_heap_read_header(&heap, mixed, header, sizeof header, &header_bytes));
    EXPECT(header_bytes == sizeof type && memcmp(header, type, sizeof type) == 0);
    EXPECT_OK(norn_heap_write_header(&heap, mixed, "t", 1));
    EXPECT_OK(norn_heap_read_header(&heap, mixed, NULL, 0, &header_bytes));
    EXPECT(header_bytes == 1);
    EXPECT_OK(norn_heap_put_field(&heap, mixed, 3, &byte, 1));
    EXPECT_OK(norn_heap_put_field(&heap, mixed, 1, &number, 4));
    number = 0;
    EXPECT_OK(norn_heap_get_field(&heap, mixed, 1, &number, 4));
    EXPECT(number == 0xCAFE);
    EXPECT_OK(norn_heap_put_fields(&heap, pair, 0, two, sizeof two));
    EXPECT_OK(norn_heap_get_field(&heap, pair, 1, &number, 4));
    EXPECT(number == 2);
    EXPECT(failure().error == NORN_OK);
#if SIZE_MAX > UINT32_MAX
    EXPECT(norn_heap_write_header(&heap, mixed, header, (size_t)1 << 33) == NORN_ERROR_HEADER);
#endif

    EXPECT_ERROR(NORN_ERROR_RANGE, norn_heap_get_field(&heap, mixed, 4, &number, 4));
    EXPECT(failure().error == NORN_ERROR_RANGE && failure().limit == 4);
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_heap_put_field(&heap, mixed, 0, &number, 4));
    EXPECT(failure().error == NORN_ERROR_WIDTH && failure().limit == 8);
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_heap_put_fields(&heap, pair, 0, two, 7));
    EXPECT_ERROR(NORN_ERROR_LAYOUT, norn_heap_create(&heap, 0, 4, &pair));
    EXPECT_ERROR(NORN_ERROR_LAYOUT, norn_heap_create(&heap, 2, 0, &pair));
    EXPECT_ERROR(NORN_ERROR_LAYOUT, norn_heap_create(&heap, 256, 1, &pair));
    EXPECT(failure().limit == 255);
    EXPECT_ERROR(NORN_ERROR_LAYOUT, norn_heap_create(&heap, UINT32_MAX, 1, &pair));
    layout.count = UINT32_MAX;
    EXPECT_ERROR(NORN_ERROR_LAYOUT, norn_heap_create_layout(&heap, &layout, &pair));
    layout.count = 4;
    layout.header = part.cells;
    layout.header_bytes = 256;
    EXPECT_ERROR(NORN_ERROR_HEADER, norn_heap_create_layout(&heap, &layout, &pair));

    EXPECT_OK(norn_heap_next_object(&heap, 0, &next));
    EXPECT(next == pair);
    EXPECT_OK(norn_heap_next_object(&heap, next, &next));
    EXPECT(next == mixed);
    EXPECT_OK(norn_heap_next_object(&heap, next, &next));
    EXPECT(next == 0);
    EXPECT_OK(norn_heap_delete(&heap, mixed));
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_delete(&heap, mixed));
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_get_field(&heap, 0, 0, &number, 4));
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_get_field(&heap, 0xFFFF, 0, &number, 4));
    EXPECT_OK(norn_heap_unmount(&heap));
}

static void arrays(void) {
    norn_ref array, other, pair;
    uint16_t values[6] = {1, 2, 3, 4, 5, 6}, filler = 7;
    struct norn_elements range = {0, 0, 3};
    int order;
    begin();
    EXPECT_OK(norn_heap_create_array(&heap, 600, 2, &array)); /* larger than a section */
    EXPECT_OK(norn_heap_create_array(&heap, 6, 2, &other));
    EXPECT_OK(norn_heap_create(&heap, 2, 2, &pair));
    EXPECT_OK(norn_heap_array_write(&heap, array, 290, values, sizeof values));
    EXPECT_OK(norn_heap_array_store(&heap, array, 599, &filler, 2));
    range.array = array;
    range.first = 290;
    EXPECT_OK(norn_heap_array_copy(&heap, range, other, 2));
    memset(values, 0xFF, sizeof values);
    EXPECT_OK(norn_heap_array_read(&heap, other, 0, values, sizeof values));
    EXPECT(values[0] == 0 && values[2] == 1 && values[4] == 3 && values[5] == 0);
    EXPECT_OK(norn_heap_array_compare(&heap, range, other, 2, &order));
    EXPECT(order == 0);
    EXPECT_OK(norn_heap_array_compare(&heap, range, other, 0, &order));
    EXPECT(order == 1);
    range.array = other;
    range.first = 0;
    EXPECT_OK(norn_heap_array_fill_non_atomic(&heap, range, &filler, 2));
    EXPECT_OK(norn_heap_array_read(&heap, other, 2, values, 4));
    EXPECT(values[0] == 7 && values[1] == 2);
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_heap_array_read(&heap, other, 5, values, 4));
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_heap_array_read(&heap, other, UINT32_MAX, values, 2));
    range.count = UINT32_MAX;
    EXPECT_ERROR(NORN_ERROR_RANGE, norn_heap_array_fill_non_atomic(&heap, range, &filler, 2));
    EXPECT_ERROR(NORN_ERROR_WIDTH, norn_heap_array_write(&heap, other, 0, values, 3));
    EXPECT_ERROR(NORN_ERROR_KIND, norn_heap_array_read(&heap, pair, 0, values, 2));
    EXPECT_ERROR(NORN_ERROR_KIND, norn_heap_put_field(&heap, other, 0, values, 2));
    EXPECT_OK(norn_heap_unmount(&heap));
}

static void count_root(void *context, const char *name, size_t name_bytes, norn_ref reference) {
    EXPECT(strlen(name) == name_bytes && reference != 0);
    ++*(int *)context;
}

static void roots(void) {
    norn_ref one, found;
    int count = 0;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 1, 1, &one));
    EXPECT_OK(norn_heap_root(&heap, "one", &found));
    EXPECT(found == 0);
    EXPECT_OK(norn_heap_set_root(&heap, "one", one));
    EXPECT_OK(norn_heap_set_root(&heap, "abcdefghijklmnopqrstuvwxyz012345", one));
    EXPECT_OK(norn_heap_root(&heap, "one", &found));
    EXPECT(found == one);
    EXPECT_OK(norn_heap_visit_roots(&heap, count_root, &count));
    EXPECT(count == 2);
    EXPECT_OK(norn_heap_set_root(&heap, "one", 0));
    EXPECT_OK(norn_heap_root(&heap, "one", &found));
    EXPECT(found == 0);
    EXPECT_ERROR(NORN_ERROR_NAME, norn_heap_set_root(&heap, "", one));
    EXPECT_ERROR(NORN_ERROR_NAME, norn_heap_set_root(&heap, "abcdefghijklmnopqrstuvwxyz0123456", one));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_set_root(&heap, NULL, one));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_visit_roots(&heap, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_set_root(&heap, "one", one + 0x10000));
    EXPECT_OK(norn_heap_unmount(&heap));
}

static void transactions(void) {
    norn_ref one;
    uint32_t value = 5;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &one));
    EXPECT_ERROR(NORN_ERROR_NO_TRANSACTION, norn_heap_commit(&heap));
    EXPECT_ERROR(NORN_ERROR_NO_TRANSACTION, norn_heap_abort(&heap));
    EXPECT_ERROR(0, norn_heap_in_transaction(&heap));
    EXPECT_OK(norn_heap_begin(&heap));
    EXPECT_ERROR(1, norn_heap_in_transaction(&heap));
    EXPECT_ERROR(NORN_ERROR_TRANSACTION_OPEN, norn_heap_begin(&heap));
    EXPECT_OK(norn_heap_put_field(&heap, one, 0, &value, 4));
    EXPECT_OK(norn_heap_abort(&heap));
    EXPECT_OK(norn_heap_get_field(&heap, one, 0, &value, 4));
    EXPECT(value == 0);
    value = 6;
    EXPECT_OK(norn_heap_begin(&heap));
    EXPECT_OK(norn_heap_put_field(&heap, one, 0, &value, 4));
    EXPECT_OK(norn_heap_unmount(&heap)); /* undoes */
    EXPECT_OK(norn_heap_mount(&heap, &config));
    EXPECT_OK(norn_heap_get_field(&heap, one, 0, &value, 4));
    EXPECT(value == 0);
    EXPECT_OK(norn_heap_unmount(&heap));
}

/* An object's field 0 is a reference. */
static int trace_field(void *context, struct norn_tracer *tracer, norn_ref reference) {
    struct norn_info info;
    norn_ref to;
    int error = norn_tracer_info(tracer, reference, &info);
    if (error != NORN_OK) return error;
    if (info.is_array) error = norn_tracer_array_read(tracer, reference, 0, &to, 4);
    else error = norn_tracer_get_field(tracer, reference, 0, &to, 4);
    if (error != NORN_OK) return error;
    ++*(int *)context;
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_heap_delete(&heap, reference));
    return norn_tracer_reached(tracer, to);
}

static int refuse(void *context, struct norn_tracer *tracer, norn_ref reference) {
    (void)context, (void)tracer, (void)reference;
    return 42;
}

static void collections(void) {
    norn_ref first, second, lonely, kept, none = 0;
    struct norn_collected collected;
    int traced = 0;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &first));
    EXPECT_OK(norn_heap_create_array(&heap, 3, 4, &second));
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &lonely));
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &kept));
    EXPECT_OK(norn_heap_put_field(&heap, first, 0, &second, 4));
    EXPECT_OK(norn_heap_set_root(&heap, "first", first));
    EXPECT_ERROR(42, norn_heap_collect(&heap, NULL, 0, refuse, NULL, NULL));
    EXPECT(failure().error == 42);
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_collect(&heap, NULL, 1, trace_field, &traced, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_collect(&heap, NULL, 0, NULL, NULL, NULL));
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_collect(&heap, &none, 1, trace_field, &traced, NULL));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_tracer_reached(NULL, first));
    EXPECT(traced == 0);
    EXPECT_OK(norn_heap_collect(&heap, &kept, 1, trace_field, &traced, &collected));
    EXPECT(traced == 3 && collected.live == 3 && collected.deleted == 1);
    EXPECT_ERROR(NORN_ERROR_STALE, norn_heap_delete(&heap, lonely));
    EXPECT_OK(norn_heap_delete(&heap, kept));
    EXPECT_OK(norn_heap_begin(&heap));
    EXPECT_ERROR(NORN_ERROR_TRANSACTION_OPEN, norn_heap_collect(&heap, NULL, 0, refuse, NULL, NULL));
    EXPECT_OK(norn_heap_unmount(&heap));
}

/* Fills the heap, frees half, and reclaims ahead of time until nothing is left to do. */
static void room(void) {
    norn_ref references[200], one;
    uint32_t count = 0, ready, steps = 0;
    int error;
    begin();
    while ((error = norn_heap_create(&heap, 8, 16, &one)) == NORN_OK) references[count++] = one;
    EXPECT(error == NORN_ERROR_FULL && count > 20 && failure().error == NORN_ERROR_FULL);
    for (uint32_t i = 0; i < count; i += 2) EXPECT_OK(norn_heap_delete(&heap, references[i]));
    while ((error = norn_heap_reclaim_step(&heap, 1)) == 1) EXPECT(++steps < 200);
    EXPECT(error == 0 && steps > 0);
    EXPECT_OK(norn_heap_ready_bytes(&heap, &ready));
    EXPECT(ready > 0 && ready < SIMULATOR_BYTES);
    EXPECT_OK(norn_heap_rest(&heap));
    EXPECT_OK(norn_heap_unmount(&heap));
}

static uint32_t violations;

static void count_violation(void *context, uint32_t address, const char *what, size_t what_bytes) {
    EXPECT(context == &violations && address < SIMULATOR_BYTES && what != NULL && what_bytes > 0);
    violations++;
}

static void checks(void) {
    static uint8_t marks[SIMULATOR_BYTES / SIMULATOR_PROGRAM_UNIT / 8];
    static struct nor_simulator saved_part;
    static struct norn_heap saved_heap;
    uint32_t saved_memory[sizeof memory / 4];
    struct norn_failure known;
    norn_ref one;
    uint32_t found = 0;
    begin();
    for (int i = 0; i < 20; i++) EXPECT_OK(norn_heap_create(&heap, 4, 8, &one));
    EXPECT(norn_heap_check_bytes(&nor) == sizeof marks);
    EXPECT_OK(norn_heap_check(&heap, marks, sizeof marks, count_violation, &violations));
    EXPECT_ERROR(NORN_ERROR_MEMORY, norn_heap_check(&heap, marks, sizeof marks - 1, NULL, NULL));
    EXPECT(failure().limit == sizeof marks);
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_check(&heap, NULL, sizeof marks, NULL, NULL));
    /* Flash that lies: no call may do worse than return an error, and some find what is wrong. */
    saved_part = part, saved_heap = heap;
    memcpy(saved_memory, memory, sizeof memory);
    for (uint32_t at = 0; at < SIMULATOR_BYTES; at += 8) {
        int error;
        memset(&part.cells[at], 0, 8);
        error = norn_heap_check(&heap, marks, sizeof marks, count_violation, &violations);
        EXPECT(error == NORN_OK || error == NORN_ERROR_VIOLATION || error == NORN_ERROR_CORRUPTED);
        if (error == NORN_ERROR_CORRUPTED) {
            EXPECT(failure().what != NULL && failure().what_bytes > 0 && failure().address < SIMULATOR_BYTES);
        }
        found += error != NORN_OK;
        /* The same handle at the same place as it was. */
        part = saved_part, heap = saved_heap;
        memcpy(memory, saved_memory, sizeof memory);
    }
    EXPECT(found > 20 && violations > 0);
    EXPECT_OK(norn_heap_unmount(&heap));
    /* A mount of what is not a heap. */
    simulator_init(&part, 3);
    EXPECT_ERROR(NORN_ERROR_NOT_FORMATTED, norn_heap_mount(&heap, &config));
    EXPECT_OK(norn_heap_failure(&heap, &known));
    EXPECT(known.error == NORN_ERROR_NOT_FORMATTED);
}

static void use_within(void *context) {
    uint32_t value = 1;
    ++*(int *)context;
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_heap_put_field(&heap, 0x10001, 0, &value, 4));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_heap_mount(&heap, &config));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_heap_format(&heap, &config));
    EXPECT_ERROR(NORN_ERROR_BUSY, norn_heap_unmount(&heap));
}

static void handles(void) {
    struct norn_heap copy, other;
    struct norn_failure known;
    norn_ref one;
    int calls = 0;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &one));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_heap_mount(&heap, &config));
    EXPECT_ERROR(NORN_ERROR_MOUNTED, norn_heap_format(&heap, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_mount(NULL, &config));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_begin(NULL));
    EXPECT_ERROR(NORN_ERROR_ALIGNMENT, norn_heap_begin((struct norn_heap *)((char *)(void *)&heap + 1)));
    memset(&other, 0, sizeof other);
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_begin(&other));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_unmount(&other));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_failure(&other, &known));
    copy = heap;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_begin(&copy));
    part.hook = use_within;
    part.hook_context = &calls;
    EXPECT_OK(norn_heap_delete(&heap, one));
    EXPECT(calls > 0);
    EXPECT_OK(norn_heap_unmount(&heap));
    EXPECT_OK(norn_heap_format(&heap, &config));
    part.hook = NULL;
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_begin(&heap));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_unmount(&heap));
    /* A second handle with the same memory takes it: the first writes nothing any more. */
    EXPECT_OK(norn_heap_mount(&heap, &config));
    EXPECT_OK(norn_heap_mount(&other, &config));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_heap_create(&heap, 1, 4, &one));
    EXPECT_ERROR(NORN_ERROR_MEMORY_TAKEN, norn_heap_unmount(&heap));
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_create(&heap, 1, 4, &one));
    EXPECT_OK(norn_heap_create(&other, 1, 4, &one));
    EXPECT_OK(norn_heap_unmount(&other));
}

static void expect_refused(int error, struct norn_heap_config with) {
    EXPECT_ERROR(error, norn_heap_mount(&heap, &with));
    EXPECT_ERROR(error, norn_heap_format(&heap, &with));
    EXPECT(failure().error == error);
    EXPECT_ERROR(NORN_ERROR_NOT_MOUNTED, norn_heap_begin(&heap));
}

static void configurations(void) {
    struct norn_heap_config with;
    struct norn_nor bad;
    begin();
    EXPECT_OK(norn_heap_unmount(&heap));
    EXPECT_ERROR(NORN_ERROR_NULL, norn_heap_mount(&heap, NULL));
    EXPECT(norn_heap_bytes(SIMULATOR_UNITS) == sizeof memory);
    EXPECT(norn_heap_bytes(UINT32_MAX) == UINT32_MAX);
    with = config;
    with.nor = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    with = config;
    with.memory = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    with = config;
    with.memory = (char *)memory + 2;
    expect_refused(NORN_ERROR_ALIGNMENT, with);
    with = config;
    with.memory_bytes--;
    expect_refused(NORN_ERROR_MEMORY, with);
    EXPECT(failure().limit == sizeof memory);
    with = config;
    with.memory = &heap;
    with.memory_bytes = sizeof heap;
    expect_refused(NORN_ERROR_MEMORY_TAKEN, with);
    with = config;
    with.nor = &bad;
    bad = nor, bad.erase = NULL;
    expect_refused(NORN_ERROR_NULL, with);
    bad = nor, bad.unit_count = 65536;
    expect_refused(NORN_ERROR_PART, with);
    bad = nor, bad.unit_count = 0;
    expect_refused(NORN_ERROR_PART, with);
    bad = nor, bad.program_unit_bytes = 264;
    expect_refused(NORN_ERROR_PART, with);
    bad = nor, bad.reprogramming = 0;
    expect_refused(NORN_ERROR_PART, with);
    bad = nor, bad.unit_bytes = 1020;
    expect_refused(NORN_ERROR_PART, with);
    bad = nor, bad.unit_bytes = 64;
    EXPECT(norn_heap_check_bytes(&bad) == 64 * 16 / 8 / 8);
    expect_refused(NORN_ERROR_UNSUITABLE, with);
    EXPECT(failure().what != NULL && failure().what_bytes > 0);
}

/* A program that fails: the call says so, the heap is halted, and a mount finds what was acknowledged. */
static void failures(void) {
    norn_ref one, found;
    begin();
    EXPECT_OK(norn_heap_create(&heap, 1, 4, &one));
    EXPECT_OK(norn_heap_set_root(&heap, "one", one));
    simulator_power(&part, 0);
    EXPECT_ERROR(NORN_ERROR_DEVICE, norn_heap_rest(&heap));
    EXPECT(failure().device_error == SIMULATOR_OFF);
    simulator_power(&part, -1);
    EXPECT_ERROR(NORN_ERROR_HALTED, norn_heap_root(&heap, "one", &found));
    EXPECT_OK(norn_heap_unmount(&heap));
    EXPECT_OK(norn_heap_mount(&heap, &config));
    EXPECT_OK(norn_heap_root(&heap, "one", &found));
    EXPECT(found == one);
    EXPECT_OK(norn_heap_unmount(&heap));
}

static void texts(void) {
    for (int error = 0; error >= NORN_ERROR_OTHER_FORMAT; error--) {
        EXPECT(strlen(norn_error_text(error)) > 3);
        EXPECT(strcmp(norn_error_text(error), norn_error_text(1)) != 0);
    }
    EXPECT(strcmp(norn_error_text(NORN_ERROR_OTHER_FORMAT - 1), norn_error_text(1)) == 0);
    EXPECT(strcmp(norn_error_text(INT_MIN), norn_error_text(1)) == 0);
    EXPECT(strstr(norn_error_text(NORN_ERROR_NO_TRANSACTION), "no transaction") != NULL);
}

int main(void) {
    objects();
    arrays();
    roots();
    transactions();
    collections();
    room();
    checks();
    handles();
    configurations();
    failures();
    texts();
    puts("every call does what it says, and refuses what it cannot do");
    return 0;
}

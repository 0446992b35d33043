/*
 * Norn for C: data structures on flash that survive a loss of power at any instant. On NOR a heap of persistent objects
 * (norn_heap_...), and a sorted map from keys to values (norn_index_...); on NAND a block
 * device (norn_ftl_...), also with tasks that have deadlines (norn_realtime_...), and a pager of code (norn_pager_...).
 * norn_nor_check and norn_nand_check try whether a driver keeps what the others rely on.
 *
 * Heap. An object is a number of fields of fixed widths, an array elements of one width. Each has a reference, a number that
 * may be kept in a field. Every call is atomic: after a loss of power a mount finds what was acknowledged, and what was
 * in flight whole or absent. norn_heap_begin and norn_heap_commit make any number of calls one.
 *
 *     static struct norn_heap heap;
 *     static uint32_t memory[NORN_HEAP_BYTES(256) / 4];
 *     const struct norn_heap_config config = {.nor = &nor, .memory = memory, .memory_bytes = sizeof memory};
 *     int error = norn_heap_mount(&heap, &config);
 *     if (error == NORN_ERROR_NOT_FORMATTED) {
 *         error = norn_heap_format(&heap, &config);
 *         if (error == NORN_OK) error = norn_heap_mount(&heap, &config);
 *     }
 *
 * Index. Keys have one width and values another, both of the caller's choice; keys sort as bytes. Each change is atomic
 * and durable; norn_index_apply makes several one. A cursor walks through a range of keys from either end. An index
 * needs a part of its own, or a range of a part, whose program units may be programmed any number of times: serial NOR.
 *
 *     static struct norn_index index;
 *     static struct norn_index_cursor cursor;
 *     const struct norn_index_config config = {.nor = &nor, .key_bytes = 4, .value_bytes = 2};
 *     int error = norn_index_mount(&index, &config);     // and norn_index_format at the first start
 *     if (error == NORN_OK) error = norn_index_put(&index, key, value);
 *     if (error == NORN_OK) error = norn_index_range(&index, &cursor, from, to);
 *     while (error >= 0 && (error = norn_index_next(&index, &cursor, key, value)) == 1) use(key, value);
 *
 * Block device. Logical pages are read and written whole; each is its old or its new value, whatever happens. Bad blocks
 * are left alone, wrong bits corrected, wear levelled. norn_realtime_start serves the same device to tasks with deadlines:
 * each that norn_realtime_admit admits has a token for every page that it declared to write in a period.
 *
 *     static struct norn_ftl ftl;
 *     static uint32_t memory[NORN_FTL_BYTES(1024, 32, 512, 16, 16384) / 4]; // blocks, pages of one, bytes, spare, logical
 *     const struct norn_ftl_config config = {.nand = &nand, .memory = memory, .memory_bytes = sizeof memory};
 *     int error = norn_ftl_mount(&ftl, &config);         // and norn_ftl_format at the first start
 *     if (error == NORN_OK) error = norn_ftl_write(&ftl, 7, pages, 2 * 512);
 *
 * Pager. norn_pager_write puts an image of code on NAND, norn_pager_read and norn_pager_view bring bytes of it through a
 * cache of small pages.
 *
 * Memory. All state is in the handle and in the memory that the caller gives; nothing is allocated, and the library has
 * no variables of its own. No call recurses.
 *
 * Errors. Calls return NORN_OK, which is 0, or a negative number of enum norn_error. A call that fails has no effect,
 * except where it is said. norn_heap_failure and its like tell more. After NORN_ERROR_DEVICE the heap, index or device
 * is halted: unmount and mount it, which settles what was in flight. Where a call within a heap's transaction fails for
 * want of room, the transaction may be aborted: every call of it returns NORN_ERROR_ABORTED until norn_heap_abort.
 *
 * Costs are stated in what the part does. Of a heap, a look-up reads, on each of one to four levels of a map (up to 16, 256, 4,096
 * and 65,536 objects), an entry and up to nine program units. A map change programs a program unit for each level, and
 * at times a node of up to 100 bytes. Any call that programs may first reclaim units: an erase each, and what is in use
 * in them is copied. norn_heap_reclaim_step does that ahead of time.
 *
 * Pointers lead to what their types say, aligned, for the time of the call; `buffer` to so many bytes as are given with
 * it. Where there are 0 bytes they may be NULL. Null and misaligned pointers are refused, as are a handle that is not
 * mounted, that was copied, or that is in a call, and memory that is too small.
 *
 * Threads and interrupts. One handle is used by one thread at a time. A call in an interrupt, or in a function that a
 * call calls, is refused with NORN_ERROR_BUSY if it comes within another one on the same handle.
 */

#ifndef NORN_H
#define NORN_H

/* Generated from crates/c-api/src by the test `header`: change it there. */

#include <stddef.h>
#include <stdint.h>
/* Bytes of memory that the heap on a part of so many erase units needs, beside its handle: a constant. */
#define NORN_HEAP_BYTES(unit_count) (4u * ((unit_count) + 1u))

/* Bytes of memory that a block device needs, beside its handle: a constant, whole words. */
#define NORN_FTL_BYTES(block_count, pages_per_block, page_bytes, oob_bytes, logical_pages)                             \
    ((4u + 16u * (block_count) + ((uint32_t)(block_count) * (pages_per_block) + 7u) / 8u + (page_bytes) +               \
      (oob_bytes) + 8u * (((page_bytes) - 48u - NORN_FTL_CHUNK_(page_bytes)) /                                          \
                          NORN_FTL_WIDTH_(block_count, pages_per_block)) +                                             \
      NORN_FTL_WIDTH_(block_count, pages_per_block) *                                                                  \
          ((logical_pages) + NORN_PIECES_(logical_pages, NORN_FTL_CHUNK_(page_bytes) /                                 \
                                                             NORN_FTL_WIDTH_(block_count, pages_per_block)) +          \
           NORN_PIECES_(block_count, NORN_FTL_CHUNK_(page_bytes) / 4u)) +                                              \
      3u) / 4u * 4u)
/* Parts of it. */
#define NORN_FTL_WIDTH_(block_count, pages_per_block)                                                                  \
    ((uint32_t)(block_count) * (pages_per_block) <= 254u        ? 1u                                                   \
     : (uint32_t)(block_count) * (pages_per_block) <= 65534u    ? 2u                                                   \
     : (uint32_t)(block_count) * (pages_per_block) <= 16777214u ? 3u                                                   \
                                                                : 4u)
#define NORN_FTL_CHUNK_(page_bytes) (((page_bytes) - 48u) / 8u * 4u)
#define NORN_PIECES_(count, each) (((count) + (each) - 1u) / (each))

/* Bytes of memory that a pager needs, beside its handle: a constant. */
#define NORN_PAGER_BYTES(frames, cache_page_bytes) (4u + (frames) * ((cache_page_bytes) + 4u))

// For `reprogramming`: a program unit is programmed once between two erases. Parts with error-correcting codes.
#define NORN_REPROGRAMMING_ONCE 1

// For `reprogramming`: a program unit may be programmed any number of times, each clearing further bits.
#define NORN_REPROGRAMMING_UNLIMITED 255

// Pointers that fit into `struct norn_heap`, beside its words.
#define NORN_HEAP_POINTERS 20

// Words that fit into `struct norn_heap`, beside its pointers.
#define NORN_HEAP_WORDS 38

// Longest name of a root in bytes, without the zero at its end.
#define NORN_NAME_BYTES_MAX 32

// Most bytes of a key of an index.
#define NORN_INDEX_KEY_BYTES_MAX 32

// Most bytes of a value of an index.
#define NORN_INDEX_VALUE_BYTES_MAX 94

// For `order` of `struct norn_index_config`: keys come in any order.
#define NORN_ORDER_ANY 0

// For `order` of `struct norn_index_config`: most keys come in ascending order, as those of a log.
#define NORN_ORDER_ASCENDING 1

// Pointers that fit into `struct norn_index`, beside its words.
#define NORN_INDEX_POINTERS 16

// Words that fit into `struct norn_index`, beside its pointers.
#define NORN_INDEX_WORDS 18

// Words that fit into `struct norn_index_cursor`.
#define NORN_CURSOR_WORDS 18

// What `program`, `program_loaded` and `erase` of `struct norn_nand` return when the part says that it could not: the
// block has gone bad, and the part works on. Any other number but 0 says that the part may be gone.
#define NORN_NAND_BLOCK_FAILED 20034

// For `columns` of `struct norn_nand`: `fetch` may go to any column of the register.
#define NORN_COLUMNS_ANYWHERE 0

// For `columns` of `struct norn_nand`: `fetch` goes forwards only, and passes over bytes at the cost of fetching them.
#define NORN_COLUMNS_FORWARDS 1

// Pieces that a program has at most.
#define NORN_NAND_PIECES_MAX 4

// Pointers that fit into `struct norn_ftl`, beside its words.
#define NORN_FTL_POINTERS 20

// Words that fit into `struct norn_ftl`, beside its pointers.
#define NORN_FTL_WORDS 37

// Tasks that can be admitted at a time.
#define NORN_TASKS_MAX 7

// For `scheduling`: the job with the earliest deadline runs first. Admits the most.
#define NORN_EARLIEST_DEADLINE 0

// For `scheduling`: the job with the shortest period runs first, as with fixed priorities.
#define NORN_RATE_MONOTONIC 1

// Pointers that fit into `struct norn_realtime`, beside its words.
#define NORN_REALTIME_POINTERS 20

// Words that fit into `struct norn_realtime`, beside its pointers.
#define NORN_REALTIME_WORDS 232

// Most frames of a cache.
#define NORN_PAGER_FRAMES_MAX 128

// Pointers that fit into `struct norn_pager`, beside its words.
#define NORN_PAGER_POINTERS 20

// Words that fit into `struct norn_pager`, beside its pointers.
#define NORN_PAGER_WORDS 25

// Bytes of memory for `norn_nor_check`, at least.
#define NORN_NOR_CHECK_BYTES 64

// The part keeps the rule, as far as was tried.
#define NORN_RULE_KEPT 0

// It does not: `expected` should be at `place`, `found` is.
#define NORN_RULE_BROKEN 1

// A call that the contract allows failed: `found` is what the function returned.
#define NORN_RULE_FAILED 2

// The rule was not tried.
#define NORN_RULE_NOT_TRIED 3

// What calls return: 0, or one of these, all of which are negative. A call that fails has had no effect, except where
// it is said.
enum norn_error {
    // Done.
    NORN_OK = 0,
    // The device failed: a function of `struct norn_nor` or `struct norn_nand` did not return 0. What is mounted is
    // halted: unmount and mount it.
    NORN_ERROR_DEVICE = -1,
    // The flash holds something that no sequence of calls and power cuts leaves there. It may be halted.
    NORN_ERROR_CORRUPTED = -2,
    // No room. Of a heap, `norn_heap_create` says how much has to be deleted before there is.
    NORN_ERROR_FULL = -3,
    // An earlier call failed on the device: unmount and mount again.
    NORN_ERROR_HALTED = -4,
    // The part holds no heap, index, block device or code: it is blank or of no format of Norn's, or formatting was
    // cut short.
    NORN_ERROR_NOT_FORMATTED = -5,
    // What is on the part is of another version of the format.
    NORN_ERROR_VERSION = -6,
    // What is on the part was made for another geometry, or an index for other widths.
    NORN_ERROR_GEOMETRY = -7,
    // `struct norn_nor` or `struct norn_nand` describes no possible part.
    NORN_ERROR_PART = -8,
    // A possible part that cannot be used so: too few units or blocks, units or pages that are too small, or words
    // that are programmed once where an index needs more.
    NORN_ERROR_UNSUITABLE = -9,
    // The memory given is too small; `limit` of the failure is the bytes needed.
    NORN_ERROR_MEMORY = -10,
    // A null pointer.
    NORN_ERROR_NULL = -11,
    // A pointer that is not aligned.
    NORN_ERROR_ALIGNMENT = -12,
    // The handle is not mounted, or was copied from where it was mounted.
    NORN_ERROR_NOT_MOUNTED = -13,
    // The handle is mounted already.
    NORN_ERROR_MOUNTED = -14,
    // The handle is in a call: it was used by a function that a call called, or in an interrupt.
    NORN_ERROR_BUSY = -15,
    // The memory given is used by another handle as well, or is a part of the handle.
    NORN_ERROR_MEMORY_TAKEN = -16,
    // The reference names nothing: what it named was deleted, its creation was undone, or it is 0.
    NORN_ERROR_STALE = -17,
    // A number past the last one of a field, an element, a page, a byte of code, or a choice; `limit` is how many
    // there are.
    NORN_ERROR_RANGE = -18,
    // A number of bytes that is not the width of the field or element, or whole pages, which is `limit`; or of a key
    // or value that is none or more than `limit`.
    NORN_ERROR_WIDTH = -19,
    // An object where an array is needed, or the other way round.
    NORN_ERROR_KIND = -20,
    // A header that is too long; `limit` is the bytes of the longest.
    NORN_ERROR_HEADER = -21,
    // A root's name that is empty or longer than `NORN_NAME_BYTES_MAX`.
    NORN_ERROR_NAME = -22,
    // No fields, more than 255, one of no bytes, or more bytes than fit; `limit` is the most where there is one.
    NORN_ERROR_LAYOUT = -23,
    // All references are in use.
    NORN_ERROR_NO_REFERENCES = -24,
    // A transaction is open.
    NORN_ERROR_TRANSACTION_OPEN = -25,
    // No transaction is open.
    NORN_ERROR_NO_TRANSACTION = -26,
    // An earlier failure has aborted the transaction, which is still open: call `norn_heap_abort`.
    NORN_ERROR_ABORTED = -27,
    // The transaction is larger than the heap can note, or there are more changes than `limit`.
    NORN_ERROR_TRANSACTION_TOO_LARGE = -28,
    // The free units have no room for a collection's marks; `limit` is the number of references that it has to mark.
    NORN_ERROR_TOO_MANY_OBJECTS = -29,
    // A check has found something, and reported it.
    NORN_ERROR_VIOLATION = -30,
    // The key to insert is there already.
    NORN_ERROR_KEY_EXISTS = -31,
    // The key is not there.
    NORN_ERROR_KEY_ABSENT = -32,
    // A ring is full, and the key would be the first one to drop.
    NORN_ERROR_BELOW_RING = -33,
    // The cursor was not begun on this index, or in an earlier mount, or its bytes were overwritten.
    NORN_ERROR_CURSOR = -34,
    // A page has more wrong bits than its code corrects; `address` of the failure is the logical page, or the code
    // address.
    NORN_ERROR_UNREADABLE = -35,
    // The task, or what has no deadline, has no token left: it writes more than it declared, or the guarantee was
    // lost.
    NORN_ERROR_NO_TOKEN = -36,
    // No task has this number, or it has left.
    NORN_ERROR_NO_TASK = -37,
    // Not admitted: the task has no period, or costs more than one.
    NORN_ERROR_TASK = -38,
    // Not admitted: its collector needs more than its period. A larger `alpha`, or a longer period of the task.
    NORN_ERROR_COLLECTOR = -39,
    // Not admitted: as many tasks as can be are there, and the shares of some that have left may be kept for a time.
    NORN_ERROR_TASKS = -40,
    // Not admitted: it takes `limit` tokens, and fewer are free. Start with more.
    NORN_ERROR_TOKENS = -41,
    // Not admitted: more tokens than `limit` could come together, so that a recycling may not yield `alpha` pages. A
    // smaller `alpha`, fewer tokens or fewer logical pages.
    NORN_ERROR_RECYCLING = -42,
    // Not admitted: the period of the checkpoint is too long for what is written.
    NORN_ERROR_CHECKPOINT = -43,
    // Not admitted: the processor and the part do not suffice. Longer periods, or a larger `alpha`.
    NORN_ERROR_UTILIZATION = -44,
    // The part holds another format of Norn's, which `what` of the failure names: that of another program, or of
    // another version of this one. A format would erase it.
    NORN_ERROR_OTHER_FORMAT = -45,
};

// What a tracing function uses: it is valid until that function returns.
struct norn_tracer;

// The handle of a heap: caller-provided memory for its state; the unit table is separate. Zero it before the first
// mount, as a static variable is. Do not move or copy it while it is mounted. It has 384 bytes where pointers have
// 32 bits.
struct norn_heap {
    // The library's.
    void *opaque_pointers[NORN_HEAP_POINTERS];
    // The library's.
    uint64_t opaque_words[NORN_HEAP_WORDS];
};

// A NOR flash part, or a range of whole erase units of one: what it is, and functions that reach it.
//
// The functions return 0, or another number, which fails the call with `NORN_ERROR_DEVICE` and is found in
// `norn_failure`. They return once the operation is complete, and may not use the handle that called them. Addresses
// count bytes from the part's first one. `bytes` may be 0: then they return 0 and do nothing.
//
// What the library promises: ranges lie within the part; programs begin and end on borders of program units; no
// program asks for a 0 to become a 1. A heap programs each program unit at most once between two erases, whatever
// `reprogramming` says; an index does so any number of times.
//
// What the part has to keep: an erase sets all bits of a unit; a program clears the bits that are 0 in the bytes;
// what was acknowledged outlives a loss of power. One that is cut by a loss of power, or fails, may have done its
// work in part, within its range.
//
// The structure is copied when a handle is mounted. What `context` points to has to stay.
struct norn_nor {
    // For the caller's functions, which get it as their first argument.
    void *context;
    // Reads `bytes` bytes from `address` on, of any alignment.
    int (*read)(void *context, uint32_t address, void *buffer, uint32_t bytes);
    // Programs `bytes` bytes, whole program units, from `address` on.
    int (*program)(void *context, uint32_t address, const void *data, uint32_t bytes);
    // Erases the unit that begins at `address`, which has `unit_bytes` bytes.
    int (*erase)(void *context, uint32_t address);
    // Bytes of an erase unit.
    uint32_t unit_bytes;
    // Erase units, up to 65,535.
    uint32_t unit_count;
    // Bytes of a program unit, the least that can be programmed: 1, 2, 4, 8, 16 or 32.
    uint32_t program_unit_bytes;
    // How often a program unit may be programmed between two erases: `NORN_REPROGRAMMING_ONCE`, 2 to 254, or
    // `NORN_REPROGRAMMING_UNLIMITED`.
    uint32_t reprogramming;
};

// What a heap is mounted or formatted with. The structure is copied.
struct norn_heap_config {
    // The part.
    const struct norn_nor *nor;
    // Memory for the unit table, aligned to four bytes, which is the heap's until it is unmounted.
    void *memory;
    // Its bytes: `NORN_HEAP_BYTES(unit_count)` or more.
    size_t memory_bytes;
};

// What a failed call knows beside its number.
struct norn_failure {
    // The error, one of `enum norn_error`; 0 if no call has failed since the handle was mounted.
    int error;
    // For `NORN_ERROR_DEVICE`, what the device's function returned.
    int device_error;
    // The bound that the call has not kept, where the error names one; else 0.
    uint32_t limit;
    // For `NORN_ERROR_CORRUPTED`, the address on the part, of NAND the page; for `NORN_ERROR_UNREADABLE` as it says.
    uint32_t address;
    // In words, what was found or is unsuitable: `what_bytes` bytes, without a zero at the end (`%.*s`), or NULL.
    const char *what;
    // The bytes of `what`.
    size_t what_bytes;
};

// Names an object or an array: a number that stays valid until that is deleted, over every mount. It may be kept in
// a field. 0 names nothing. The reference of what was deleted is reported as stale, until 65,534 creations in its
// place.
typedef uint32_t norn_ref;

// What to create: fields of one width, or of a width each, and a header.
struct norn_layout {
    // Number of fields, from 1 to 255.
    uint32_t count;
    // The width of each field in bytes, where `widths` is NULL.
    uint8_t width;
    // The width of each of `count` fields in bytes, or NULL.
    const uint8_t *widths;
    // Bytes that the heap does not interpret, such as a type: `header_bytes` of them, up to 255; or NULL.
    const void *header;
    // Bytes of the header.
    size_t header_bytes;
};

// What a reference names.
struct norn_info {
    // 1 for an array, 0 for an object.
    uint32_t is_array;
    // Number of fields or elements.
    uint32_t count;
    // Bytes of all fields or elements together.
    uint32_t data_bytes;
    // Bytes of the header.
    uint32_t header_bytes;
};

// A range of elements of an array.
struct norn_elements {
    // The array.
    norn_ref array;
    // Index of the first element.
    uint32_t first;
    // Number of elements; 0 is allowed.
    uint32_t count;
};

// Takes a root: its name, with a zero at the end, the bytes of the name without it, and what it leads to.
typedef void (*norn_root_visitor)(void *context, const char *name, size_t name_bytes, norn_ref reference);

// Says with `norn_tracer_reached` what an object or array refers to, which it reads with the other `norn_tracer_`
// functions. It may not use the heap. Returns 0; or another number, which ends the collection.
typedef int (*norn_trace)(void *context, struct norn_tracer *tracer, norn_ref reference);

// What a collection has done.
struct norn_collected {
    // Objects and arrays that roots reach.
    uint32_t live;
    // Objects and arrays that were deleted.
    uint32_t deleted;
};

// Takes what a check found: an address on the part, and words, `what_bytes` bytes without a zero at the end.
typedef void (*norn_report)(void *context, uint32_t address, const char *what, size_t what_bytes);

// The handle of an index: the caller's memory for all its state. Zero it before it is mounted for the first time, as a
// static variable is. It must not be moved or copied while it is mounted. 208 bytes where pointers have 32 bits.
struct norn_index {
    // The library's.
    void *opaque_pointers[NORN_INDEX_POINTERS];
    // The library's.
    uint64_t opaque_words[NORN_INDEX_WORDS];
};

// What an index is mounted or formatted with. The structure is copied.
struct norn_index_config {
    // The part: one whose program units may be programmed any number of times, `NORN_REPROGRAMMING_UNLIMITED`.
    const struct norn_nor *nor;
    // Bytes of a key, from 1 to `NORN_INDEX_KEY_BYTES_MAX`.
    uint32_t key_bytes;
    // Bytes of a value, up to `NORN_INDEX_VALUE_BYTES_MAX`; 0 for a set of keys.
    uint32_t value_bytes;
    // For a format, what the index is laid out for: `NORN_ORDER_ANY` or `NORN_ORDER_ASCENDING`. Both work with keys in
    // any order.
    uint32_t order;
};

// A change of an index among several.
struct norn_change {
    // The key.
    const void *key;
    // Its new value, or NULL to take the key away if it is there. For values of 0 bytes any other pointer.
    const void *value;
};

// What is left of a range of keys: the caller's memory, which `norn_index_range` fills. It may be copied, and needs no
// end. A change of the index does not disturb it. It is of the mount in which it was made. Bytes of it that the
// program overwrites are found by a checksum. 144 bytes.
struct norn_index_cursor {
    // The library's.
    uint64_t opaque_words[NORN_CURSOR_WORDS];
};

// Bytes for a place in a page.
struct norn_nand_piece {
    // Where the first of them goes: a byte of the page, or beyond its data one of its out-of-band area.
    uint32_t column;
    // How many there are.
    uint32_t bytes;
    // What goes there.
    const void *data;
};

// A NAND flash part of one bit a cell (SLC), or a range of whole blocks of one: what it is, and functions that reach
// it.
//
// A page is loaded into the part's register, and bytes are fetched from there; a page is programmed whole, with its
// out-of-band area. Pages are numbered over the whole part: page 0 of block 2 has the number 2 * `pages_per_block`.
// Columns count bytes of a page from 0, on through its out-of-band area, which begins at `page_bytes`.
//
// The functions return 0 or another number, which fails the call with `NORN_ERROR_DEVICE`, save
// `NORN_NAND_BLOCK_FAILED`. They return once the operation is complete, and may not use the handle that called them.
//
// What the library promises: addresses lie within the part; pieces ascend and do not overlap; the pages of a block are
// programmed in ascending order, each once between two erases; a block that is marked bad is neither
// programmed nor erased. One that has failed may be tried again, once, after a mount.
//
// What the part has to keep: a load brings what was programmed, and 0xFF where nothing was, but for wrong bits that a
// block device and a pager correct; what was acknowledged outlives a loss of power. An operation that is cut by a loss
// of power may have done its work in part, on its own page or block only. The first block is good.
//
// The structure is copied when a handle is mounted. What `context` points to has to stay.
struct norn_nand {
    // For the caller's functions, which get it as their first argument.
    void *context;
    // Loads a page into the register.
    int (*load)(void *context, uint32_t page);
    // Fetches `bytes` bytes from the register, from `column` on; 0 bytes do nothing. With `NORN_COLUMNS_FORWARDS` the
    // column is that after the last one that was fetched since the load, or a later one.
    int (*fetch)(void *context, uint32_t column, void *buffer, uint32_t bytes);
    // Programs a page: the pieces in their places, 0xFF elsewhere. There are up to `NORN_NAND_PIECES_MAX`, or none.
    int (*program)(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t piece_count);
    // Programs a page with what the register holds, changed by the pieces: the second half of a copy.
    int (*program_loaded)(void *context, uint32_t page, const struct norn_nand_piece *pieces, uint32_t piece_count);
    // Erases a block.
    int (*erase)(void *context, uint32_t block);
    // Returns 1 if a block is marked bad, 0 if not, or another number if the part fails. NULL: the library looks at
    // the mark, a byte that is 0xFF in a good block, and of which most bits are zeros in a bad one.
    int (*is_marked_bad)(void *context, uint32_t block);
    // Blocks, up to 65,535, bad ones included.
    uint32_t block_count;
    // Pages of a block.
    uint32_t pages_per_block;
    // Bytes of a page's data, a power of two.
    uint32_t page_bytes;
    // Bytes of its out-of-band area.
    uint32_t oob_bytes;
    // `NORN_COLUMNS_ANYWHERE` or `NORN_COLUMNS_FORWARDS`.
    uint32_t columns;
    // The column of the mark of a bad block, in the out-of-band area.
    uint32_t bad_mark_column;
    // The mark is in one or several of so many first pages of a block.
    uint32_t bad_mark_pages;
    // Blocks that are good over the whole life of the part, at least.
    uint32_t good_blocks_min;
    // Wrong bits that a code has to correct, as the maker says, in each `correction_bytes` bytes; 0 if the part does.
    uint32_t correction_bits;
    // See `correction_bits`; not 0.
    uint32_t correction_bytes;
};

// The handle of a block device: caller-provided memory for its state; the map is separate. Zero it before the first
// mount, as a static variable is. Do not move or copy it while it is mounted. It has 376 bytes where pointers have
// 32 bits.
struct norn_ftl {
    // The library's.
    void *opaque_pointers[NORN_FTL_POINTERS];
    // The library's.
    uint64_t opaque_words[NORN_FTL_WORDS];
};

// What a block device is mounted or formatted with. The structure is copied.
struct norn_ftl_config {
    // The part.
    const struct norn_nand *nand;
    // Memory for the map and the table of blocks, aligned to four bytes, which is the device's until it is unmounted.
    void *memory;
    // Its bytes: as `norn_ftl_bytes` returns, or `NORN_FTL_BYTES`.
    size_t memory_bytes;
    // For a format, the logical pages: 1 up to `norn_ftl_pages_max`. At 90 % of that a write costs far less than at
    // 100 %. A mount does not look at it.
    uint32_t logical_pages;
};

// Pages and blocks of a device, and what it has done since it was mounted.
struct norn_ftl_info {
    // Logical pages, as it was formatted with.
    uint32_t logical_pages;
    // Bytes of a page.
    uint32_t page_bytes;
    // Blocks that are not bad.
    uint32_t good_blocks;
    // Pages that can be programmed before a block has to be erased.
    uint32_t free_pages;
    // Pages that hold what is read.
    uint32_t live_pages;
    // 1 if a page of the checkpoint was missing at the mount, so that trims may have come undone; else 0.
    uint32_t scanned;
    // Pages that were written.
    uint64_t written;
    // Pages that were copied, to free blocks or to level wear.
    uint64_t copied;
    // Blocks that were erased.
    uint64_t erased;
    // Blocks that went bad.
    uint64_t retired;
};

// How long the part's operations take at most, in microseconds.
struct norn_operation_times {
    // Reading a page, its codes included.
    uint64_t read_us;
    // Writing a page.
    uint64_t write_us;
    // Erasing a block.
    uint64_t erase_us;
    // What a collector computes in a period.
    uint64_t collector_cpu_us;
};

// Who else loads pages of the part, such as a pager: up to `loads` in any `period_us`, each of up to `load_us`. All 0:
// nobody.
struct norn_part_client {
    // How long a load takes at most.
    uint64_t load_us;
    // Length of a window.
    uint64_t period_us;
    // Loads that begin in a window at most.
    uint32_t loads;
};

// What a block device with deadlines is started with. The structure is copied.
struct norn_realtime_config {
    // The part, which has to be formatted by `norn_ftl_format`.
    const struct norn_nand *nand;
    // Memory as of `struct norn_ftl_config`.
    void *memory;
    // Its bytes.
    size_t memory_bytes;
    // How long operations take at most.
    struct norn_operation_times times;
    // Period of the checkpoint, which may write a page in each: the shorter, the more can tasks write.
    uint64_t checkpoint_period_us;
    // Who else uses the part.
    struct norn_part_client client;
    // Pages that each recycling of a block yields at least, from 1 to the pages of a block. The larger, the less time
    // do collectors take, and the fewer logical pages can the device have.
    uint32_t alpha;
    // Tokens, each good for programming a page: as many as `norn_realtime_tokens` says, and more for tasks to come.
    uint32_t tokens;
    // Blocks that may fail without harm to a deadline.
    uint32_t failure_budget;
    // `NORN_EARLIEST_DEADLINE` or `NORN_RATE_MONOTONIC`.
    uint32_t scheduling;
};

// A periodic task. Its deadline is its next release.
struct norn_task {
    // What it computes, reads and writes in a period at most, in microseconds: see `norn_task_cost_us`.
    uint64_t cost_us;
    // Its period, in microseconds.
    uint64_t period_us;
    // Pages that it writes in a period at most; each trim counts as one.
    uint32_t writes;
};

// The handle of a block device with deadlines: caller-provided memory for its state; the map is separate. Zero it
// before the first start, as a static variable is. Do not move or copy it while it is started. It has 1,936 bytes
// where pointers have 32 bits.
struct norn_realtime {
    // The library's.
    void *opaque_pointers[NORN_REALTIME_POINTERS];
    // The library's.
    uint64_t opaque_words[NORN_REALTIME_WORDS];
};

// Names a task. 0 names none.
typedef uint32_t norn_task_id;

// A job of a collector that waits or runs.
struct norn_job {
    // When it has to be done.
    uint64_t deadline_us;
    // The collector's period, for fixed priorities.
    uint64_t period_us;
    // The task whose collector it is; 0 for the checkpoint's.
    norn_task_id task;
};

// What a device with deadlines has done, and whether it keeps what it has admitted.
struct norn_realtime_info {
    // The block device.
    struct norn_ftl_info ftl;
    // Jobs of collectors that were not done at their next release.
    uint64_t misses;
    // Writes of tasks, and pages of the checkpoint, that found no token.
    uint64_t token_waits;
    // Blocks that collectors have recycled.
    uint64_t recycled;
    // All tokens.
    uint32_t tokens;
    // Those for tasks to come.
    uint32_t tokens_free;
    // 1 while what was admitted is guaranteed; 0 after more blocks have failed than the budget has.
    uint32_t is_guaranteed;
};

// The handle of a pager: caller-provided memory for its state; the cache is separate. Zero it before the first mount,
// as a static variable is. Do not move or copy it while it is mounted. It has 280 bytes where pointers have 32 bits.
struct norn_pager {
    // The library's.
    void *opaque_pointers[NORN_PAGER_POINTERS];
    // The library's.
    uint64_t opaque_words[NORN_PAGER_WORDS];
};

// What a pager is mounted with, or an image written with. The structure is copied.
struct norn_pager_config {
    // The part.
    const struct norn_nand *nand;
    // Memory aligned to four bytes, for a pager until it is unmounted.
    void *memory;
    // Its bytes: for a pager `NORN_PAGER_BYTES(frames, cache_page_bytes)`; to write an image, four and those of a page
    // of the part.
    size_t memory_bytes;
    // The first block that the image may use: its header is there, or in one of the next if that is bad.
    uint32_t first_block;
    // Blocks that it may use, for a write.
    uint32_t block_count;
    // Bytes of a cache page: 32 to 256 are usual. Each has four bytes of code behind it on the part, which correct one
    // wrong bit and notice up to four; as many of both as fit lie in each page of the part.
    uint32_t cache_page_bytes;
    // Frames of the cache, from 1 to `NORN_PAGER_FRAMES_MAX`: each holds a cache page.
    uint32_t frames;
};

// Gives `bytes` bytes of the image from `offset` on, for a write; it may be asked for some more than once.
typedef void (*norn_code_source)(void *context, uint32_t offset, void *buffer, uint32_t bytes);

// What a pager has done since it was mounted.
struct norn_pager_info {
    // Bytes of the image.
    uint32_t code_bytes;
    // Look-ups of a cache page that found it in the cache.
    uint64_t hits;
    // Look-ups that did not, and fetched it.
    uint64_t misses;
    // Wrong bits that were corrected.
    uint64_t corrected_bits;
};

// What became of a rule.
struct norn_finding {
    // The rule in words: `rule_bytes` bytes, without a zero at the end (`%.*s`).
    const char *rule;
    // The bytes of `rule`.
    size_t rule_bytes;
    // `NORN_RULE_KEPT`, `NORN_RULE_BROKEN`, `NORN_RULE_FAILED` or `NORN_RULE_NOT_TRIED`.
    uint32_t outcome;
    // Where that shows first: an address of a NOR part, a page of a NAND part.
    uint32_t place;
    // The byte that was to be there, or what else the rule compares.
    uint32_t expected;
    // What is there.
    uint32_t found;
};

// Takes what became of a rule, which it may not keep.
typedef void (*norn_rule_report)(void *context, const struct norn_finding *finding);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The text of an error in English, without a full stop; never NULL.
//
// Cost: a table of some 2 KB of read-only memory where it is called.
const char *norn_error_text(int error);

// Bytes of memory that a heap needs in addition to its handle, on a part of this many erase units. It is
// `NORN_HEAP_BYTES` as a function.
uint32_t norn_heap_bytes(uint32_t unit_count);

// Formats the part with an empty heap. Mount it afterwards. If the power is cut, the part holds the old heap, the new
// one, or none.
//
// Cost: erases every unit that a heap had used, and one; where there is a heap, mounts it, and erases two more.
//
// Errors: `NORN_ERROR_PART`; `NORN_ERROR_UNSUITABLE` for fewer than 12 erase units, or units of less than 64 program
// units of four bytes or more; `NORN_ERROR_MEMORY`, `NORN_ERROR_MOUNTED`; the device's.
int norn_heap_format(struct norn_heap *heap, const struct norn_heap_config *config);

// Mounts the heap on the part: finds what was acknowledged before a loss of power, and undoes the rest.
//
// Cost: reads the head of each unit, a log unit, every entry of the map and every object's header. After an unclean
// stop also two erases, and programs of a log's head, an object, and a map node for each level; it undoes an open
// transaction. After a long session that was cut, a program unit for each object.
//
// Errors: `NORN_ERROR_NOT_FORMATTED` without a heap, `NORN_ERROR_OTHER_FORMAT` where something else of Norn's is,
// `NORN_ERROR_GEOMETRY` where a heap of another number or size of units is, `NORN_ERROR_CORRUPTED`, `NORN_ERROR_PART`,
// `NORN_ERROR_UNSUITABLE`, `NORN_ERROR_MEMORY`, `NORN_ERROR_MOUNTED`; the device's.
int norn_heap_mount(struct norn_heap *heap, const struct norn_heap_config *config);

// Unmounts the heap: undoes an open transaction, and records on the part that nothing is in progress. The next mount
// has nothing to settle then. The handle is unmounted also after an error. Power may be cut without this call.
//
// Cost: a program unit; as `norn_heap_abort` where a transaction is open.
//
// Errors: the device's. Of a halted heap, and of one whose memory another took, nothing is written.
int norn_heap_unmount(struct norn_heap *heap);

// Records on the part that nothing is in progress: a mount after a loss of power has nothing to settle then. Does
// nothing while a transaction is open. Call it before you turn off the power on purpose, or the processor sleeps.
//
// Cost: a program unit, none if nothing has changed.
//
// Errors: the device's.
int norn_heap_rest(struct norn_heap *heap);

// Does housekeeping ahead of time that other calls would do when they need room: begins a new log, opens a unit, or
// reclaims one if that frees `least_bytes` or more. Returns 1 if there was something to do, else 0. Does nothing
// while a transaction is open.
//
// Call it when there is time, until it returns 0. While `norn_heap_ready_bytes` and half a log unit last, no call
// erases or reclaims.
//
// Cost: an erase and a program; or what is in use in a unit is copied, with a map change for each object.
//
// Errors: `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_heap_reclaim_step(struct norn_heap *heap, uint32_t least_bytes);

// Bytes that can be allocated before a call has to erase or reclaim a unit: what objects take together, with their
// part of the map.
//
// Cost: RAM only.
int norn_heap_ready_bytes(struct norn_heap *heap, uint32_t *bytes);

// What is known of the last call that failed on this handle, also if that was its mount or unmount; an `error` of 0
// if none has failed since it was mounted. Calls that were refused because of the handle itself do not count.
//
// Cost: RAM only.
//
// Errors: `NORN_ERROR_NOT_MOUNTED` if no mount was attempted.
int norn_heap_failure(const struct norn_heap *heap, struct norn_failure *failure);

// Bytes of memory that `norn_heap_check` needs on a part: a bit for each program unit, or each four bytes where those
// are smaller. 0 for an impossible part.
uint32_t norn_heap_check_bytes(const struct norn_nor *nor);

// Creates an object of `count` fields of `width` bytes each, which are zero.
//
// After `NORN_ERROR_FULL`, delete what two erase units hold before the next creation, where an object takes 8 bytes
// and its fields, rounded up to whole program units. Trying again after each deletion takes as many, and each try
// tries to reclaim.
//
// Cost: a look-up for each reference that is tried, the object's bytes and a map change.
//
// Errors: `NORN_ERROR_LAYOUT`, `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
int norn_heap_create(struct norn_heap *heap, uint32_t count, uint8_t width, norn_ref *reference);

// Creates an object with this layout. Its fields are zero. Fields are packed: order them by falling width.
//
// Cost, errors: as `norn_heap_create`; `NORN_ERROR_HEADER`.
int norn_heap_create_layout(struct norn_heap *heap, const struct norn_layout *layout, norn_ref *reference);

// Deletes an object or an array. Roots that lead to it are left with a stale reference.
//
// Cost: a look-up and a map change; the same for each section of a large array.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_FULL`; the device's.
int norn_heap_delete(struct norn_heap *heap, norn_ref reference);

// Finds the object or array after `after`, or the first one if that is 0, in an order of the heap's own; 0 after the
// last one.
//
// Cost: a look-up for each reference up to it; sixteen or more in a row that are free count as one.
//
// Errors: the device's.
int norn_heap_next_object(struct norn_heap *heap, norn_ref after, norn_ref *next);

// Says what a reference names.
//
// Cost: a look-up, and two bytes of an object with a header.
//
// Errors: `NORN_ERROR_STALE`; the device's.
int norn_heap_info(struct norn_heap *heap, norn_ref reference, struct norn_info *info);

// The width of field `index` of an object in bytes.
//
// Cost: a look-up, and the widths of the fields before it where they differ.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`; the device's.
int norn_heap_field_width(struct norn_heap *heap, norn_ref reference, uint32_t index, uint32_t *width);

// Reads field `index` of an object into `buffer`. `bytes` has to be the field's width.
//
// Cost: a look-up, the deltas of the object, and the value.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; the device's.
int norn_heap_get_field(struct norn_heap *heap, norn_ref reference, uint32_t index, void *buffer, size_t bytes);

// Sets field `index` of an object, atomically and durably; `bytes` are the field's width.
//
// Cost: two look-ups, and a program unit or a few for the value. Often a program unit of the log; where the object
// has no room for a change, it is written anew, with a map change.
//
// Errors: as `norn_heap_get_field`; `NORN_ERROR_FULL`.
int norn_heap_put_field(struct norn_heap *heap, norn_ref reference, uint32_t index, const void *value, size_t bytes);

// Sets the fields of an object from `first` on to the values that follow each other in `values`: all or none.
//
// Cost: two look-ups, a program unit of the log, the object's bytes and a map change.
//
// Errors: as `norn_heap_put_field`; `NORN_ERROR_WIDTH` if the values end within a field.
int norn_heap_put_fields(struct norn_heap *heap, norn_ref reference, uint32_t first, const void *values, size_t bytes);

// Reads as much of the header of an object or an array as `buffer` holds, and says in `header_bytes` how long it is.
//
// Cost: a look-up, and the bytes.
//
// Errors: `NORN_ERROR_STALE`; the device's.
int norn_heap_read_header(struct norn_heap *heap, norn_ref reference, void *buffer, size_t bytes, size_t *header_bytes);

// Replaces the header of an object or an array, atomically.
//
// Cost: three look-ups, a program unit of the log, the object's bytes and a map change.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_HEADER`, `NORN_ERROR_FULL`; the device's.
int norn_heap_write_header(struct norn_heap *heap, norn_ref reference, const void *header, size_t bytes);

// Creates an array of `count` elements of `width` bytes each, which are zero. One of more than 255 bytes has sections
// of at most 255 bytes, and takes a reference for each and one more, all in a row: without these it says
// `NORN_ERROR_NO_REFERENCES`. After `NORN_ERROR_FULL` as `norn_heap_create`.
//
// Cost: the array's bytes, and a map change; where it has sections the same for each.
//
// Errors: `NORN_ERROR_LAYOUT`, also where the part never has room for so many: `limit` is then the bytes of elements
// that no array exceeds. `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
int norn_heap_create_array(struct norn_heap *heap, uint32_t count, uint8_t width, norn_ref *reference);

// Reads elements from `first` on into `buffer`, which holds some whole elements: one, or more.
//
// Cost: a look-up for each section, its deltas, and the values.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`; `NORN_ERROR_WIDTH` if the buffer ends within an
// element; the device's.
int norn_heap_array_read(struct norn_heap *heap, norn_ref array, uint32_t first, void *buffer, size_t bytes);

// Sets element `index`, atomically; `bytes` are the width of an element. Cheaper than `norn_heap_array_write` of one.
//
// Cost: as `norn_heap_put_field`.
//
// Errors: `NORN_ERROR_STALE`, `NORN_ERROR_KIND`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`, `NORN_ERROR_FULL`; the
// device's.
int norn_heap_array_store(struct norn_heap *heap, norn_ref array, uint32_t index, const void *value, size_t bytes);

// Sets the elements from `first` on to the values that follow each other in `values`: all or none.
//
// Cost: for each section a program unit of the log, its bytes and a map change.
//
// Errors: as `norn_heap_array_store`; `NORN_ERROR_WIDTH` if the values end within an element. A failure may abort an
// open transaction.
int norn_heap_array_write(struct norn_heap *heap, norn_ref array, uint32_t first, const void *values, size_t bytes);

// Gives every element of a range the same value, of `bytes` bytes. Each element changes atomically, the range does
// not, except within a transaction.
//
// Cost: for each section as `norn_heap_array_write`.
//
// Errors: as `norn_heap_array_store`. After `NORN_ERROR_FULL` and the device's errors a part may have been changed, or
// an open transaction is aborted.
int norn_heap_array_fill_non_atomic(struct norn_heap *heap, struct norn_elements to, const void *value, size_t bytes);

// Copies elements to an array from its element `to_first` on: all or none. The arrays may be the same, and the ranges
// overlap.
//
// Cost: for each section as `norn_heap_array_write`.
//
// Errors: as `norn_heap_array_store`; `NORN_ERROR_WIDTH` if the elements differ in width. A failure may abort an open
// transaction.
int norn_heap_array_copy(struct norn_heap *heap, struct norn_elements from, norn_ref to, uint32_t to_first);

// Compares elements with those of an array from its element `to_first` on, byte by byte without sign, as `memcmp`
// does: `order` is -1, 0 or 1.
//
// Cost: as reading both.
//
// Errors: as `norn_heap_array_read`; `NORN_ERROR_WIDTH` if the elements differ in width.
int norn_heap_array_compare(struct norn_heap *heap,
                            struct norn_elements from,
                            norn_ref to,
                            uint32_t to_first,
                            int *order);

// Makes a name lead to an object or an array, or with 0 to nothing. A name has from 1 to `NORN_NAME_BYTES_MAX` bytes.
//
// Cost: looks through all roots, and writes up to 255 bytes of them anew, with a map change.
//
// Errors: `NORN_ERROR_NAME`, `NORN_ERROR_STALE`, `NORN_ERROR_NO_REFERENCES`, `NORN_ERROR_FULL`; the device's.
int norn_heap_set_root(struct norn_heap *heap, const char *name, norn_ref reference);

// Finds what a name leads to: 0 if it was never set, or to nothing. What it leads to may have been deleted.
//
// Cost: looks through all roots.
//
// Errors: `NORN_ERROR_NAME`; the device's.
int norn_heap_root(struct norn_heap *heap, const char *name, norn_ref *reference);

// Calls `visit` with each root, in no particular order. It may not use the heap.
//
// Cost: reads all roots.
//
// Errors: the device's.
int norn_heap_visit_roots(struct norn_heap *heap, norn_root_visitor visit, void *context);

// Begins a transaction: everything up to `norn_heap_commit` takes effect at once, or not at all. Calls see it before.
// A loss of power undoes it. Transactions do not nest.
//
// A call that fails within it has no effect, and the transaction goes on. But where a range of elements fails halfway,
// it is aborted: then every call that changes or reads the heap's contents returns `NORN_ERROR_ABORTED`, the commit
// too, and nothing of it counts, until `norn_heap_abort` is called.
//
// Cost: none.
//
// Errors: `NORN_ERROR_TRANSACTION_OPEN`, `NORN_ERROR_ABORTED`.
int norn_heap_begin(struct norn_heap *heap);

// Makes the changes of the open transaction permanent. If the power goes within it, either they are, or none is.
//
// Cost: a program unit of the log, none if there were no changes; reads the notes, and a look-up for each object that
// was written anew. Where a large array was deleted, as its deletion.
//
// Errors: `NORN_ERROR_NO_TRANSACTION`, `NORN_ERROR_ABORTED`; the device's. The transaction is still open then.
int norn_heap_commit(struct norn_heap *heap);

// Undoes the changes of the open transaction; what it created is gone.
//
// Cost: for each object that was changed, a program unit of the log, and a change of the object or of the map.
//
// Errors: `NORN_ERROR_NO_TRANSACTION`; the device's. On `NORN_ERROR_FULL` it may be called again.
int norn_heap_abort(struct norn_heap *heap);

// Returns 1 if a transaction is open, 0 if none is, or an error of the handle.
//
// Cost: RAM only.
int norn_heap_in_transaction(struct norn_heap *heap);

// Deletes every object and array that neither the named roots nor the `root_count` references at `roots` reach.
// `trace` is called once for each that is reached; where there are more than 4,096 references, once for each 4,096.
// `collected` may be NULL.
//
// RAM is constant. Works on a full part. Cost: for each object three look-ups, and what `trace` reads; for each
// deleted one a program unit of the log and a map change, or less. Beyond 4,096 references up to 8 program units
// for each object.
//
// Errors: `NORN_ERROR_STALE` if 0 is among `roots`; `NORN_ERROR_TRANSACTION_OPEN`, `NORN_ERROR_TOO_MANY_OBJECTS`;
// what `trace` returned; the device's. Nothing reachable has been deleted then; some garbage may have been.
int norn_heap_collect(struct norn_heap *heap,
                      const norn_ref *roots,
                      uint32_t root_count,
                      norn_trace trace,
                      void *context,
                      struct norn_collected *collected);

// Says that the object that is traced refers to `reference`. 0 and stale references are passed over.
//
// Cost: a look-up.
//
// Errors: `NORN_ERROR_FULL`; the device's. The tracing function returns them.
int norn_tracer_reached(struct norn_tracer *tracer, norn_ref reference);

// As `norn_heap_info`, in a tracing function.
int norn_tracer_info(struct norn_tracer *tracer, norn_ref reference, struct norn_info *info);

// As `norn_heap_get_field`, in a tracing function.
int norn_tracer_get_field(struct norn_tracer *tracer, norn_ref reference, uint32_t index, void *buffer, size_t bytes);

// As `norn_heap_array_read`, in a tracing function.
int norn_tracer_array_read(struct norn_tracer *tracer, norn_ref array, uint32_t first, void *buffer, size_t bytes);

// Checks every invariant of the heap on the part, and calls `report`, which may be NULL, for each violation. `memory`
// has `memory_bytes` bytes of any alignment, which the call overwrites: as many as `norn_heap_check_bytes` returns.
// `report` may not use the heap.
//
// Cost: reads all that is in use.
//
// Errors: `NORN_ERROR_VIOLATION` if there was one; `NORN_ERROR_MEMORY`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_heap_check(struct norn_heap *heap, void *memory, size_t memory_bytes, norn_report report, void *context);

// Erases the part and begins an index on it, which then has to be mounted. If the power is cut, the part holds no
// index, or the new one.
//
// Cost: an erase and some 25 program units for each erase unit.
//
// Errors: `NORN_ERROR_PART`; `NORN_ERROR_WIDTH` of a key or a value; `NORN_ERROR_UNSUITABLE` for a part whose program
// units are programmed once or a few times, or whose erase units have no room for an object;
// `NORN_ERROR_MOUNTED`; the device's.
int norn_index_format(struct norn_index *index, const struct norn_index_config *config);

// Mounts the index on the part: finds what was acknowledged before a loss of power, and completes or undoes the rest.
// Keys and values need the widths that the index was formatted with.
//
// Cost after `norn_index_unmount` or `norn_index_rest`: some tens of reads. After a loss of power all that is in use
// is read; at most one unit is moved and two are erased.
//
// Errors: `NORN_ERROR_NOT_FORMATTED` without an index, `NORN_ERROR_OTHER_FORMAT` where something else of Norn's is,
// `NORN_ERROR_GEOMETRY` for other widths or another part, `NORN_ERROR_VERSION`, `NORN_ERROR_CORRUPTED`, and those of
// `norn_index_format`.
int norn_index_mount(struct norn_index *index, const struct norn_index_config *config);

// Unmounts the index: records on the part that nothing is in progress. The next mount is fast then. The handle is
// unmounted also after an error. Power may be cut without this call.
//
// Cost: as `norn_index_rest`.
//
// Errors: the device's. Of a halted index nothing is written.
int norn_index_unmount(struct norn_index *index);

// Records on the part that nothing is in progress: a mount after a loss of power is fast then. The index can still be
// used. Call it before you turn off the power on purpose, or the processor sleeps.
//
// Cost: a program unit or two, none if nothing has changed; now and then an object of up to some hundred bytes.
//
// Errors: the device's.
int norn_index_rest(struct norn_index *index);

// Does housekeeping ahead of time that other calls would do when they need room: reclaims a unit if that frees much,
// or merges what is sparse. Returns 1 if there was something to do, else 0. Call it when there is time, until it
// returns 0: the next change then moves one unit at most.
//
// Cost: one unit is moved and erased at most. Where no unit frees much, all that is in use is read, to look for what
// is sparse: call it after some changes, not after each.
//
// Errors: `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_reclaim_step(struct norn_index *index);

// Counts the keys.
//
// Cost: none where the number is known, as it is after a format, after a mount of an index that was unmounted, and
// once they were counted; else all objects are read.
//
// Errors: `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_count(struct norn_index *index, uint32_t *keys);

// Keys that fit whatever was inserted and removed before: as long as there are fewer, no call but `norn_index_apply`
// says `NORN_ERROR_FULL`, for which `norn_index_guaranteed_keys_with_changes` has the number. Keys that come in
// ascending order fit about twice as often.
//
// Cost: RAM only.
int norn_index_guaranteed_keys(struct norn_index *index, uint32_t *keys);

// Keys with which `norn_index_apply` of changes that put `puts` keys always finds room, whatever was inserted and
// removed before: as long as there are fewer, it does not say `NORN_ERROR_FULL`. For each key to put that is about the
// keys of one object less than `norn_index_guaranteed_keys`; 0 where the part is too small for such changes.
//
// Cost: RAM only.
int norn_index_guaranteed_keys_with_changes(struct norn_index *index, uint32_t puts, uint32_t *keys);

// Checks every invariant of the index on the part, and calls `report`, which may be NULL, for each violation.
// `report` may not use the index.
//
// Cost: reads all that is in use, and each level's list.
//
// Errors: `NORN_ERROR_VIOLATION` if there was one; `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_check(struct norn_index *index, norn_report report, void *context);

// What is known of the last call that failed on this handle: as `norn_heap_failure`.
int norn_index_failure(const struct norn_index *index, struct norn_failure *failure);

// Adds a key, with its value: `key_bytes` and `value_bytes` bytes, as the index was mounted with. Keys sort as bytes
// without sign: write numbers with the most significant byte first.
//
// Cost: a search, which reads some tens of program units, and one slot programmed. For each object that fills up
// another is written; for each unit that fills up, one is erased, and what is in use in it copied before.
//
// Errors: `NORN_ERROR_KEY_EXISTS`, `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_insert(struct norn_index *index, const void *key, const void *value);

// Changes the value of a key, atomically.
//
// Cost: as `norn_index_insert`, and a word programmed.
//
// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_update(struct norn_index *index, const void *key, const void *value);

// Adds a key or changes its value, whichever it takes.
//
// Cost: as `norn_index_update`; of a new key one more search.
//
// Errors: `NORN_ERROR_FULL`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_put(struct norn_index *index, const void *key, const void *value);

// Copies the value of a key to `value`, which stays as it is where there is no such key.
//
// Cost: a search.
//
// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_get(struct norn_index *index, const void *key, void *value);

// Takes a key away.
//
// Cost: a search, and a word programmed; where it was the last one of an object, a few words for each level.
//
// Errors: `NORN_ERROR_KEY_ABSENT`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_remove(struct norn_index *index, const void *key);

// Adds a key to a ring: an index whose keys ascend, as those of a log do, and which drops its least keys before it is
// full. Says in `dropped`, which may be NULL, how many it dropped. After a loss of power the new key is there or not;
// if it is not, keys may have been dropped for it already.
//
// Cost: a slot programmed; for each object some 25 words besides, and for each unit of objects an erase.
//
// Errors: `NORN_ERROR_KEY_EXISTS`; `NORN_ERROR_BELOW_RING` if the ring is full, and the key would be the first one to
// drop; `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_insert_in_ring(struct norn_index *index, const void *key, const void *value, uint32_t *dropped);

// Takes least keys away that are below `key`, as many as go at a time. Says in `removed`, which may be NULL, how many
// went: 0 when none is left. A loss of power leaves some of them away, the least ones first.
//
// Cost: up to an eighth of the objects of a unit, two words each and one of the head for each level.
//
// Errors: `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_remove_below(struct norn_index *index, const void *key, uint32_t *removed);

// Makes several changes together: after a loss of power all are made, or none. Of several changes of one key the last
// one counts.
//
// Cost: an object written with a slot for each change, then that of each change; a word read for each object. A mount
// after a loss of power makes the changes again that were not made yet.
//
// Errors: `NORN_ERROR_TRANSACTION_TOO_LARGE` for more changes than an object has slots, which are the failure's
// `limit`, 4 to 64; `NORN_ERROR_FULL`, without any effect, which does not happen while there are fewer keys than
// `norn_index_guaranteed_keys_with_changes`: the changes take a place of their own until they are made;
// `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_apply(struct norn_index *index, const struct norn_change *changes, uint32_t count);

// Begins a cursor over the keys from `from` on, up to `to` and without it. NULL for `from` is the least key, for `to`
// what follows the greatest.
//
// Cost: RAM only.
//
// Errors: those of the handle.
int norn_index_range(struct norn_index *index, struct norn_index_cursor *cursor, const void *from, const void *to);

// Takes the entry with the least key out of what is left of a cursor's range. Returns 1, with the entry in `key` and
// `value`; or 0 if nothing is left, and what is in these then is of no meaning. The index may have changed since the
// step before: what there is now is found.
//
// Cost: a word or two, and the entry; of the first step, of each object, and after a change, a search.
//
// Errors: `NORN_ERROR_CURSOR`, `NORN_ERROR_CORRUPTED`; the device's.
int norn_index_next(struct norn_index *index, struct norn_index_cursor *cursor, void *key, void *value);

// Takes the entry with the greatest key out of what is left of a cursor's range: as `norn_index_next`, from the other
// end.
int norn_index_previous(struct norn_index *index, struct norn_index_cursor *cursor, void *key, void *value);

// Bytes of memory that a block device of this many logical pages needs in addition to its handle. It is
// `NORN_FTL_BYTES` as a function. A logical page takes 1 to 4 bytes, a block 16, a page of the part one bit; a
// register is added. 0 for an impossible part.
uint32_t norn_ftl_bytes(const struct norn_nand *nand, uint32_t logical_pages);

// Most logical pages of a part with this many bad blocks. 0 for an impossible part, or one that is too small.
uint32_t norn_ftl_pages_max(const struct norn_nand *nand, uint32_t bad_blocks);

// Formats the part: what was on it is gone. Blocks that are marked bad are left alone. The device then has to be
// mounted. If the power is cut, the part holds the device that it held, or the new one, or none.
//
// Cost: some loads and an erase for each block.
//
// Errors: `NORN_ERROR_PART`, `NORN_ERROR_UNSUITABLE`; `NORN_ERROR_RANGE` for no logical pages, and for more than
// `limit`, the bad blocks considered; `NORN_ERROR_FULL` with too few good blocks; `NORN_ERROR_MEMORY`,
// `NORN_ERROR_MOUNTED`; the device's.
int norn_ftl_format(struct norn_ftl *ftl, const struct norn_ftl_config *config);

// Mounts the device on the part: what was written is there, each page whole.
//
// Cost: a load for each block and each page of the checkpoint, two for each page that was programmed since; up to
// three programs and five erases, more after many losses of power in a row.
//
// Errors: `NORN_ERROR_NOT_FORMATTED`, `NORN_ERROR_OTHER_FORMAT`, `NORN_ERROR_VERSION`, `NORN_ERROR_GEOMETRY`,
// `NORN_ERROR_CORRUPTED`;
// `NORN_ERROR_MEMORY` for less than its logical pages take; those of `norn_ftl_format`.
int norn_ftl_mount(struct norn_ftl *ftl, const struct norn_ftl_config *config);

// Unmounts, and makes trims durable. The handle is unmounted in any case, even after an error. The power may be cut
// without it.
//
// Cost: as `norn_ftl_sync`.
//
// Errors: the device's. Of a halted device, and of one whose memory another took, nothing is written.
int norn_ftl_unmount(struct norn_ftl *ftl);

// Reads pages from logical page `page` on into `buffer`; `bytes` are whole pages. What was never written or was
// trimmed reads as zeros.
//
// Cost: a load for each page that was written.
//
// Errors: `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; `NORN_ERROR_UNREADABLE`, those before it are read; the device's.
int norn_ftl_read(struct norn_ftl *ftl, uint32_t page, void *buffer, size_t bytes);

// Writes pages from logical page `page` on: `bytes` are whole pages. Each is its old or its new value whatever
// happens, and durable before the next one is written.
//
// Cost of a page: a program, what collection copies and erases for it, and a share of a page of the checkpoint.
//
// Errors: `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; `NORN_ERROR_FULL` if too many blocks have gone bad; the device's.
// Pages before the failure are written.
int norn_ftl_write(struct norn_ftl *ftl, uint32_t page, const void *data, size_t bytes);

// Forgets pages, which read as zeros from now on, and after a loss of power once `norn_ftl_sync` has returned.
//
// Cost: RAM for each page; a program at times.
//
// Errors: as `norn_ftl_write`.
int norn_ftl_trim(struct norn_ftl *ftl, uint32_t page, uint32_t page_count);

// Makes trims durable; writes are already. Records also which blocks have gone bad: no later mount uses them. Without
// this call a later mount tries such a block again.
//
// Cost: a program if something was trimmed, else nothing; after a block has failed, up to one for each page of the
// checkpoint.
//
// Errors: as `norn_ftl_write`.
int norn_ftl_sync(struct norn_ftl *ftl);

// Collects ahead of time: one step of recycling a block in which at least `dead_pages_least` pages are dead. Returns 1
// if there was such a block, else 0. Call it when there is time, until it returns 0. A write between two steps gives
// up the block; what was copied stays so.
//
// Cost: one copy, that is a load and a program, or one erase; a program more at times.
//
// Errors: `NORN_ERROR_FULL` if no page is free for the copy; the device's.
int norn_ftl_recycle_step(struct norn_ftl *ftl, uint32_t dead_pages_least);

// Wear levelling ahead of time: copies one page off a block that has fewer erases than others. Returns 1 if there was
// such a block, else 0. Without this call writes level wear by themselves, later.
//
// Cost: a copy; a program more at times.
//
// Errors: `NORN_ERROR_FULL` until a write has made room; the device's.
int norn_ftl_level_step(struct norn_ftl *ftl);

// Tells what the device is and has done.
//
// Cost: RAM only, for each block.
int norn_ftl_tell(struct norn_ftl *ftl, struct norn_ftl_info *info);

// Checks every invariant of the device, and calls `report`, which may be NULL, with the first violation: `address` is
// the page of the part. `report` may not use the device.
//
// Cost: a load for each page that is live or free.
//
// Errors: `NORN_ERROR_VIOLATION` if there was one; the device's.
int norn_ftl_check(struct norn_ftl *ftl, norn_report report, void *context);

// What is known of the last call that failed on this handle: as `norn_heap_failure`.
int norn_ftl_failure(const struct norn_ftl *ftl, struct norn_failure *failure);

// What a task costs in a period in which it computes for `cpu_us`, and reads and writes this many pages. The largest
// number if it is more than that, or if `times` is NULL: then the task is not admitted.
uint64_t norn_task_cost_us(uint64_t cpu_us, uint32_t reads, uint32_t writes, const struct norn_operation_times *times);

// The tokens that a set of tasks takes, with those of the checkpoint and of what has no deadline. `tokens` of the
// configuration does not matter, nor do its memory and the part's functions.
//
// Cost: RAM only.
//
// Errors: `NORN_ERROR_PART`; `NORN_ERROR_COLLECTOR` if a task can have no collector.
int norn_realtime_tokens(const struct norn_realtime_config *config,
                         const struct norn_task *tasks,
                         uint32_t task_count,
                         uint32_t *tokens);

// Mounts the device that is on the part, and starts it at time 0: recycles blocks until there are as many free pages
// as tokens.
//
// A scheduler of the caller's then runs it, in steps of one flash operation each, by earliest deadline or by fixed
// priorities:
// 1. `norn_realtime_advance` to the present, at least when a task is released;
// 2. ask `norn_realtime_next_job` for the collectors' first job. If no task that waits has an earlier deadline, or a
//    shorter period, take a `norn_realtime_collector_step`; else an operation of the task;
// 3. with nothing else to do, `norn_realtime_background_step`, and writes that have no deadline.
//
// Cost: as `norn_ftl_mount`, and up to `tokens` / `alpha` recyclings.
//
// Errors: those of `norn_ftl_mount`; `NORN_ERROR_RANGE` of `alpha` or `scheduling`; `NORN_ERROR_FULL` if there are not
// so many free pages to be had as tokens; those of `norn_realtime_admit`, for the checkpoint.
int norn_realtime_start(struct norn_realtime *realtime, const struct norn_realtime_config *config);

// Stops, and unmounts the device. It is as after a loss of power otherwise: nothing is written, since all that was
// acknowledged is durable.
//
// Errors: those of the handle.
int norn_realtime_stop(struct norn_realtime *realtime);

// Admits a task from now on, or says why not. Its first period begins now. A task that writes no more than it declared
// has a token for each page, and never waits for a collection.
//
// Cost: RAM only, for each pair of tasks.
//
// Errors: `NORN_ERROR_TASK`, `NORN_ERROR_COLLECTOR`, `NORN_ERROR_TASKS`, `NORN_ERROR_TOKENS`, `NORN_ERROR_RECYCLING`,
// `NORN_ERROR_CHECKPOINT`, `NORN_ERROR_UTILIZATION`.
int norn_realtime_admit(struct norn_realtime *realtime, const struct norn_task *task, norn_task_id *id);

// Lets a task go. Its share of time and tokens returns when the period ends that it is in, or that of its collector.
//
// Cost: RAM only.
//
// Errors: `NORN_ERROR_NO_TASK`.
int norn_realtime_leave(struct norn_realtime *realtime, norn_task_id id);

// Lets time pass to `now_us` since the start: releases what is due. Call it at each release of a task, before the task
// writes, and before asking for a job. A time before the last one changes nothing.
//
// Cost: RAM only, for each task.
int norn_realtime_advance(struct norn_realtime *realtime, uint64_t now_us);

// The next time at which a collector's job or a period begins: until then there is nothing to do.
//
// Cost: RAM only.
int norn_realtime_next_release(struct norn_realtime *realtime, uint64_t *release_us);

// The collectors' job that comes first. Returns 1, or 0 if there is none, and `job` is as it was.
//
// Cost: RAM only.
int norn_realtime_next_job(struct norn_realtime *realtime, struct norn_job *job);

// One step of the collectors' job that comes first. Returns 1, or 0 if there is none.
//
// Cost: one copy, one erase or nothing; one program more if a page of the checkpoint is due.
//
// Errors: the device's.
int norn_realtime_collector_step(struct norn_realtime *realtime);

// Reads pages, for anybody: as `norn_ftl_read`.
int norn_realtime_read(struct norn_realtime *realtime, uint32_t page, void *buffer, size_t bytes);

// Writes one page for a task, at one of its tokens. It is durable when the call returns.
//
// Cost: one program; two if a page of the checkpoint is due, or a block fails.
//
// Errors: `NORN_ERROR_NO_TASK`, `NORN_ERROR_NO_TOKEN`, `NORN_ERROR_RANGE`, `NORN_ERROR_WIDTH`; the device's.
int norn_realtime_write(struct norn_realtime *realtime, norn_task_id id, uint32_t page, const void *data, size_t bytes);

// Forgets pages for a task, at one of its tokens. That is durable when the call returns.
//
// Cost: one program, two if a page of the checkpoint is due; RAM for each page.
//
// Errors: as `norn_realtime_write`.
int norn_realtime_trim(struct norn_realtime *realtime, norn_task_id id, uint32_t page, uint32_t page_count);

// Writes one page for whom has no deadline.
//
// Cost: as `norn_realtime_write`.
//
// Errors: `NORN_ERROR_NO_TOKEN` until `norn_realtime_background_step` has made some; `NORN_ERROR_RANGE`,
// `NORN_ERROR_WIDTH`; the device's.
int norn_realtime_background_write(struct norn_realtime *realtime, uint32_t page, const void *data, size_t bytes);

// One step towards tokens for what has no deadline. Returns 1, or 0 if there are enough.
//
// Cost: as `norn_realtime_collector_step`.
//
// Errors: `NORN_ERROR_NO_TOKEN` if blocks failed, and the reserve is empty, too; the device's.
int norn_realtime_background_step(struct norn_realtime *realtime);

// Levels wear, at tokens of what has no deadline: as `norn_ftl_level_step`.
//
// Errors: as `norn_realtime_background_write`.
int norn_realtime_level_step(struct norn_realtime *realtime);

// Tells what the device has done.
//
// Cost: RAM only, for each block.
int norn_realtime_tell(struct norn_realtime *realtime, struct norn_realtime_info *info);

// Checks every invariant of the block device: as `norn_ftl_check`.
int norn_realtime_check(struct norn_realtime *realtime, norn_report report, void *context);

// What is known of the last call that failed on this handle: as `norn_heap_failure`.
int norn_realtime_failure(const struct norn_realtime *realtime, struct norn_failure *failure);

// Bytes of memory that a pager needs in addition to its handle. It is `NORN_PAGER_BYTES` as a function.
uint32_t norn_pager_bytes(uint32_t frames, uint32_t cache_page_bytes);

// Writes an image of `code_bytes` bytes, which `source` gives, with the memory of the configuration as a buffer. What
// the blocks held is lost. If the power is cut, there is no image, or the one before, or the new one: whole.
//
// Cost: an erase for each block, a program and a load for each page of the part.
//
// Errors: `NORN_ERROR_FULL` if it does not fit, or too many blocks are bad; `NORN_ERROR_UNSUITABLE`,
// `NORN_ERROR_WIDTH`, `NORN_ERROR_MEMORY`, `NORN_ERROR_PART`, `NORN_ERROR_MOUNTED`; `NORN_ERROR_CORRUPTED` if the part
// has other bytes than were programmed; the device's.
int norn_pager_write(struct norn_pager *pager,
                     const struct norn_pager_config *config,
                     uint32_t code_bytes,
                     norn_code_source source,
                     void *context);

// Finds the image, and begins an empty cache.
//
// Cost: up to nine loads.
//
// Errors: `NORN_ERROR_NOT_FORMATTED` if there is no whole image, `NORN_ERROR_OTHER_FORMAT` if something else of Norn's
// is there, `NORN_ERROR_GEOMETRY` if the image has cache pages of `limit` bytes, `NORN_ERROR_VERSION`,
// `NORN_ERROR_CORRUPTED`, `NORN_ERROR_UNSUITABLE`, `NORN_ERROR_RANGE` of the frames or blocks, `NORN_ERROR_WIDTH`,
// `NORN_ERROR_MEMORY`, `NORN_ERROR_PART`, `NORN_ERROR_MOUNTED`; the device's.
int norn_pager_mount(struct norn_pager *pager, const struct norn_pager_config *config);

// Unmounts; nothing is written.
int norn_pager_unmount(struct norn_pager *pager);

// Copies `bytes` bytes of the image from `address` on into `buffer`: one, or a run that crosses cache pages.
//
// Cost: a look-up for each cache page; for one that is not in the cache, a load and the transfer of up to a page of
// the part, without the load if its register is still before it.
//
// Errors: `NORN_ERROR_RANGE`, nothing is copied then; `NORN_ERROR_UNREADABLE`; the device's, after which the call may
// be repeated.
int norn_pager_read(struct norn_pager *pager, uint32_t address, void *buffer, size_t bytes);

// Finds the bytes from `address` to the end of its cache page or of the image: `*code` leads to `*bytes` of them in
// the cache, until the next call on this handle. An interpreter executes from there.
//
// Cost: as `norn_pager_read` of one byte, without the copy.
//
// Errors: as `norn_pager_read`.
int norn_pager_view(struct norn_pager *pager, uint32_t address, const void **code, uint32_t *bytes);

// Tells how large the image is, and how often a cache page was in the cache.
//
// Cost: RAM only.
int norn_pager_tell(struct norn_pager *pager, struct norn_pager_info *info);

// What is known of the last call that failed on this handle: as `norn_heap_failure`.
int norn_pager_failure(const struct norn_pager *pager, struct norn_failure *failure);

// Tries every rule that a NOR part has to keep, and calls `report`, which may be NULL, with what became of each.
// **What the part held is lost.** `memory` has `memory_bytes` bytes of any alignment, `NORN_NOR_CHECK_BYTES` or more.
// Run it on the board, before anything is kept there.
//
// It calls `read` and `program` also with `bytes` of 0 at an address of the part, for which they have to return 0 and
// do nothing: a driver that refuses them breaks "calls with no bytes do nothing".
//
// Cost: an erase of each unit, and some twenty of three of them, which are programmed and read about as often.
//
// Errors: `NORN_ERROR_VIOLATION` if a rule is broken; `NORN_ERROR_PART`, `NORN_ERROR_NULL`, `NORN_ERROR_MEMORY`.
int norn_nor_check(const struct norn_nor *nor,
                   void *memory,
                   size_t memory_bytes,
                   norn_rule_report report,
                   void *context);

// Tries every rule that a NAND part has to keep: as `norn_nor_check`. `memory` has as many bytes as a page with its
// out-of-band area. **What the part held is lost**, in all blocks that are not marked bad.
//
// A block that fails (`NORN_NAND_BLOCK_FAILED`) fails the rule that was being tried, and is neither programmed nor
// erased again; the rules after it try another block. The suite does not mark it: the next check tries it again,
// unless the driver has marked it.
//
// Cost: an erase of each good block, and some twenty of two of them, whose pages are programmed and loaded about as
// often.
//
// Errors: as `norn_nor_check`.
int norn_nand_check(const struct norn_nand *nand,
                    void *memory,
                    size_t memory_bytes,
                    norn_rule_report report,
                    void *context);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NORN_H */

/*
 * A purse of eight accounts over the serial line: what the micro:bit's purse does, in C.
 *
 *     $1 credit 3 500*6B          puts 500 into account 3          $1 ok*..
 *     $2 transfer 3 4 200*..      moves 200 from 3 to 4            $2 ok*..  or  $2 poor*..
 *     $3 shift 1*..               moves 1 on from each account to the next, in one transaction
 *     $4 tidy*..                  does housekeeping, until there is none
 *     $5 show*..                  eight balances, transfers, boots  $5 show 0 0 0 300 200 0 0 0 1 1*..
 *
 * What was answered with `ok` is there after every reset; of what a reset hits, all is there or nothing. At each start
 * the purse says `$ready` with the number of its starts, which it keeps too.
 */
#include <stdlib.h>
#include <string.h>

#include "board.h"

/* The fields of the purse, an object: its accounts, transfers, and starts of the program. */
enum { ACCOUNTS = 8, TRANSFERS = ACCOUNTS, STARTS, FIELDS };

/* Why a command is not obeyed, beside the heap's errors, which are negative. Nothing has changed then. */
enum refusal { POOR = 1, UNKNOWN };

static struct norn_heap heap;
static norn_ref purse;

static int get(uint32_t field, uint32_t *value) {
    return norn_heap_get_field(&heap, purse, field, value, sizeof *value);
}

static int put(uint32_t field, uint32_t value) {
    return norn_heap_put_field(&heap, purse, field, &value, sizeof value);
}

static int add(uint32_t field, uint32_t amount) {
    uint32_t value;
    int error = get(field, &value);
    if (error != NORN_OK) return error;
    return amount > UINT32_MAX - value ? UNKNOWN : put(field, value + amount);
}

/* Moves an amount, as a part of a transaction. */
static int move(uint32_t from, uint32_t to, uint32_t amount) {
    uint32_t rest;
    int error = get(from, &rest);
    if (error == NORN_OK && rest < amount) error = POOR;
    if (error == NORN_OK) error = put(from, rest - amount);
    if (error == NORN_OK) error = add(to, amount);
    return error == NORN_OK ? add(TRANSFERS, 1) : error;
}

static int shift(uint32_t amount) {
    int error = NORN_OK;
    for (uint32_t from = 0; from < ACCOUNTS && error == NORN_OK; from++) {
        error = move(from, (from + 1) % ACCOUNTS, amount);
    }
    return error;
}

/* Ends a transaction: what it did is one change, or none after an error. */
static int end_transaction(int error) {
    int ended = error == NORN_OK ? norn_heap_commit(&heap) : norn_heap_abort(&heap);
    return ended == NORN_OK ? error : ended;
}

static int tidy(void) {
    int more;
    do {
        more = norn_heap_reclaim_step(&heap, 1);
    } while (more > 0);
    return more < 0 ? more : norn_heap_rest(&heap);
}

static int show(struct line *answer) {
    for (uint32_t field = 0; field < FIELDS; field++) {
        uint32_t value;
        int error = get(field, &value);
        if (error != NORN_OK) return error;
        line_add_number(answer, value);
    }
    return NORN_OK;
}

/* Reads up to three numbers. Returns how many there are; none if one is no number. */
static int numbers_of(const char *text, uint32_t numbers[3]) {
    int count = 0;
    char *end;
    for (; *text == ' ' && count < 3; text = end) {
        numbers[count++] = (uint32_t)strtoul(text, &end, 10);
        if (end == text) return 0;
    }
    return *text == '\0' ? count : 0;
}

static int is_command(const char *text, const char *name) {
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && (text[length] == ' ' || text[length] == '\0');
}

static int obey(const char *text, struct line *values) {
    uint32_t numbers[3] = {0};
    int count = numbers_of(text + strcspn(text, " "), numbers);
    int are_accounts = numbers[0] < ACCOUNTS && numbers[1] < ACCOUNTS, error;
    if (is_command(text, "show")) return show(values);
    if (is_command(text, "tidy")) return tidy();
    if (is_command(text, "credit") && count == 2) return numbers[0] < ACCOUNTS ? add(numbers[0], numbers[1]) : UNKNOWN;
    if (is_command(text, "transfer") && count == 3 && are_accounts) {
        error = norn_heap_begin(&heap);
        return error != NORN_OK ? error : end_transaction(move(numbers[0], numbers[1], numbers[2]));
    }
    if (is_command(text, "shift") && count == 1) {
        error = norn_heap_begin(&heap);
        return error != NORN_OK ? error : end_transaction(shift(numbers[0]));
    }
    return UNKNOWN;
}

/* The answer to a line: its number, and what came of it. */
static void answer(const struct line *line) {
    struct line answer = {.length = 0}, values = {.length = 0};
    const char *space = strchr(line->text, ' ');
    size_t digits = space != NULL ? (size_t)(space - line->text) : line->length;
    int error = space != NULL ? obey(space + 1, &values) : UNKNOWN;
    memcpy(answer.text, line->text, digits);
    answer.length = digits;
    line_add(&answer, error == NORN_OK ? " ok" : error == POOR ? " poor" : error == UNKNOWN ? " unknown" : " failed");
    if (error == NORN_OK) line_add(&answer, values.text);
    if (error < 0) {
        line_add(&answer, " ");
        line_add(&answer, norn_error_text(error));
    }
    board_send_line(&answer);
}

/* Mounts the heap on the part, which is formatted if there is none. */
static int mount(void) {
    static uint32_t memory[NORN_HEAP_BYTES(PART_UNITS) / 4];
    const struct norn_heap_config config = {.nor = &board_part, .memory = memory, .memory_bytes = sizeof memory};
    int error = norn_heap_mount(&heap, &config);
    if (error != NORN_ERROR_NOT_FORMATTED) return error;
    error = norn_heap_format(&heap, &config);
    return error == NORN_OK ? norn_heap_mount(&heap, &config) : error;
}

/* Makes an empty purse. It is there whole or not at all. */
static int create_purse(void) {
    int error = norn_heap_begin(&heap);
    if (error != NORN_OK) return error;
    error = norn_heap_create(&heap, FIELDS, sizeof(uint32_t), &purse);
    if (error == NORN_OK) error = norn_heap_set_root(&heap, "purse", purse);
    return end_transaction(error);
}

/* Finds the purse, or makes one, and counts the start. */
static int open_purse(uint32_t *starts) {
    int error = norn_heap_root(&heap, "purse", &purse);
    if (error == NORN_OK && purse == 0) error = create_purse();
    if (error == NORN_OK) error = add(STARTS, 1);
    return error == NORN_OK ? get(STARTS, starts) : error;
}

int main(void) {
    struct line line = {.length = 0};
    uint32_t starts;
    board_start();
    board_start_part();
    int error = mount();
    if (error == NORN_OK) error = open_purse(&starts);
    if (error != NORN_OK) {
        line_add(&line, "no purse: ");
        line_add(&line, norn_error_text(error));
        board_stop(line.text);
    }
    line_add(&line, "ready");
    line_add_number(&line, starts);
    board_send_line(&line);
    for (;;) {
        board_receive_line(&line);
        answer(&line);
    }
}

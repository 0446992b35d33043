/* The board: its serial line, lines with a check over it, and a NOR part in RAM that outlives a reset. */
#ifndef BOARD_H
#define BOARD_H

#include "norn.h"

enum { LINE_BYTES = 96 };

/* The text of a line, with a zero at its end. */
struct line {
    char text[LINE_BYTES + 1];
    size_t length;
};

/* Starts the serial line. Call it first. */
void board_start(void);

/* Waits for a line that is whole, `$`, text, `*` and its check; a reset may have cut others, which are passed over. */
void board_receive_line(struct line *line);

/* Sends a line with its check. */
void board_send_line(const struct line *line);

/* Says why the program cannot go on, and waits for a reset. */
__attribute__((noreturn)) void board_stop(const char *why);

/* Adds text to a line, or a number after a space; what has no room is left out. */
void line_add(struct line *line, const char *text);
void line_add_number(struct line *line, uint32_t number);

/* The part: 16 units of 2 KB whose words of eight bytes are programmed once, as an STM32L4 has them. A reset tears its
   programs and erases where it hits them. */
enum { PART_UNITS = 16, PART_UNIT_BYTES = 2048, PART_WORD_BYTES = 8 };

extern const struct norn_nor board_part;

/* Sets all bits of the part at the first start after the power has come. */
void board_start_part(void);

#endif

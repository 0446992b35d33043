/* What runs before main: the table of vectors, and the reset, which sets up C's variables. */
#include <stdint.h>

#include "board.h"

/* From the linker script. */
extern uint32_t data_start[], data_end[], bss_start[], bss_end[], stack_top[];
extern const uint32_t data_in_flash[];

int main(void);

void reset(void) {
    const uint32_t *from = data_in_flash;
    for (uint32_t *to = data_start; to < data_end; to++) *to = *from++;
    for (uint32_t *to = bss_start; to < bss_end; to++) *to = 0;
    main();
    board_stop("panic main returned");
}

static void fault(void) {
    board_stop("panic fault");
}

/* What the library calls if it finds a mistake in itself. */
void abort(void) {
    board_stop("panic abort");
}

/* The first vectors of a Cortex-M3. No interrupt is served: all that can come is a fault. */
struct vectors {
    uint32_t *stack;
    void (*reset)(void);
    void (*faults[5])(void);
};

__attribute__((section(".vectors"), used)) static const struct vectors vectors = {
    stack_top, reset, {fault, fault, fault, fault, fault}};

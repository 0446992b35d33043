/* Lines with a check over the board's first UART, a CMSDK one. The processor sleeps while there is nothing to receive;
   no interrupt is served: a pending one ends the sleep. */
#include <string.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define UART_DATA REGISTER(0x40004000)
#define UART_STATE REGISTER(0x40004004)
#define UART_CONTROL REGISTER(0x40004008)
#define UART_INTERRUPTS REGISTER(0x4000400C)
#define UART_DIVIDER REGISTER(0x40004010)
/* The processor's: enables interrupts 0 to 31, and takes back that they are pending. */
#define NVIC_ENABLE REGISTER(0xE000E100)
#define NVIC_UNPEND REGISTER(0xE000E280)

/* Bits of UART_STATE: there is a byte to send still, or to take. */
enum { SENDING = 1, RECEIVED = 2 };
/* Bits of UART_CONTROL: sends, receives, interrupts when it has received. */
enum { ON = 1 | 2 | 8 };
/* The bit of UART_INTERRUPTS of a byte that was received; it is the processor's interrupt 0. */
enum { ON_RECEIVED = 2, UART_INTERRUPT = 1 };
/* 25 MHz for 115,200 bits a second. */
enum { DIVIDER_115200 = 217 };

void board_start(void) {
    __asm__ volatile("cpsid i" ::: "memory");
    UART_DIVIDER = DIVIDER_115200;
    UART_CONTROL = ON;
    NVIC_ENABLE = UART_INTERRUPT;
}

/* A function of its own, so that a debugger shows that the program waits. */
__attribute__((noinline)) static void sleep_until_received(void) {
    while (!(UART_STATE & RECEIVED)) __asm__ volatile("wfi" ::: "memory");
}

static char receive(void) {
    sleep_until_received();
    /* The next byte may come, and say so, as soon as this one is read. */
    UART_INTERRUPTS = ON_RECEIVED;
    NVIC_UNPEND = UART_INTERRUPT;
    return (char)UART_DATA;
}

static void send(char byte) {
    while (UART_STATE & SENDING) continue;
    UART_DATA = (uint8_t)byte;
}

/* The check of a line: the exclusive or of its bytes, in two hexadecimal digits. */
static void check_of(const struct line *line, char check[2]) {
    uint8_t value = 0;
    for (size_t i = 0; i < line->length; i++) value ^= (uint8_t)line->text[i];
    check[0] = "0123456789ABCDEF"[value >> 4];
    check[1] = "0123456789ABCDEF"[value & 15];
}

/* Receives what comes after `$`. Returns 0 if it is too long or its check is wrong. */
static int receive_text(struct line *line) {
    char check[2], right[2];
    line->length = 0;
    for (char byte = receive(); byte != '*'; byte = receive()) {
        if (line->length == LINE_BYTES) return 0;
        line->text[line->length++] = byte;
    }
    line->text[line->length] = '\0';
    check[0] = receive();
    check[1] = receive();
    check_of(line, right);
    return memcmp(check, right, sizeof check) == 0;
}

void board_receive_line(struct line *line) {
    do {
        while (receive() != '$') continue;
    } while (!receive_text(line));
}

void board_send_line(const struct line *line) {
    char check[2];
    check_of(line, check);
    send('$');
    for (size_t i = 0; i < line->length; i++) send(line->text[i]);
    send('*');
    send(check[0]);
    send(check[1]);
    send('\r');
    send('\n');
}

void board_stop(const char *why) {
    struct line line = {.length = 0};
    line_add(&line, why);
    board_start();
    board_send_line(&line);
    for (;;) __asm__ volatile("wfi");
}

void line_add(struct line *line, const char *text) {
    while (*text != '\0' && line->length < LINE_BYTES) line->text[line->length++] = *text++;
    line->text[line->length] = '\0';
}

void line_add_number(struct line *line, uint32_t number) {
    char digits[12];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    digits[--at] = ' ';
    line_add(line, &digits[at]);
}

/* What a test program asserts; it ends at the first failure and says where. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                  \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

/* Whether a call returned this number; what it returned is shown otherwise. */
#define EXPECT_ERROR(number, call)                                                         \
    do {                                                                                   \
        int returned_ = (call);                                                            \
        if (returned_ != (number)) {                                                       \
            fprintf(stderr, "%s:%d: %s returned %d (%s), not %s\n", __FILE__, __LINE__,    \
                    #call, returned_, norn_error_text(returned_), #number);                \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

#define EXPECT_OK(call) EXPECT_ERROR(NORN_OK, call)

#endif

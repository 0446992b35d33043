// The header in C++: it is included twice, and its calls are linked as those of C.
#include "norn.h"
#include "norn.h"

int main() {
    static norn_heap heap;
    norn_heap_config config = {};
    norn_ref reference = 0;
    static_assert(NORN_HEAP_BYTES(64) == 260, "a constant");
    if (norn_heap_mount(&heap, &config) != NORN_ERROR_NULL) return 1;
    if (norn_heap_create(&heap, 1, 4, &reference) != NORN_ERROR_NOT_MOUNTED) return 2;
    static norn_index index;
    norn_index_config index_config = {};
    if (norn_index_mount(&index, &index_config) != NORN_ERROR_NULL) return 4;
    return norn_error_text(NORN_ERROR_NULL)[0] == 'a' && norn_heap_bytes(64) == NORN_HEAP_BYTES(64) ? 0 : 3;
}

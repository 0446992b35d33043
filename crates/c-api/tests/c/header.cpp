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
    static norn_ftl ftl;
    static_assert(NORN_FTL_BYTES(1024, 32, 512, 16, 16384) > 50000, "a constant");
    static_assert(NORN_PAGER_BYTES(32, 60) == 2052, "a constant");
    norn_ftl_config ftl_config = {};
    if (norn_ftl_mount(&ftl, &ftl_config) != NORN_ERROR_NULL) return 5;
    static norn_realtime realtime;
    norn_realtime_config realtime_config = {};
    if (norn_realtime_start(&realtime, &realtime_config) != NORN_ERROR_NULL) return 6;
    static norn_pager pager;
    norn_pager_config pager_config = {};
    if (norn_pager_mount(&pager, &pager_config) != NORN_ERROR_NULL) return 7;
    if (norn_nor_check(nullptr, &config, sizeof config, nullptr, nullptr) != NORN_ERROR_NULL) return 8;
    return norn_error_text(NORN_ERROR_NULL)[0] == 'a' && norn_heap_bytes(64) == NORN_HEAP_BYTES(64) ? 0 : 3;
}

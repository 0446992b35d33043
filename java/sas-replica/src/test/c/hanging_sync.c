/* Syncs of the process that it is loaded into do not return while there is a file HANG_WHILE. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void hang(void) {
    const char *file = getenv("HANG_WHILE");
    while (access(file, F_OK) == 0) {
        usleep(10000);
    }
}

int fsync(int file) {
    hang();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    hang();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}

int msync(void *start, size_t bytes, int flags) {
    hang();
    return ((int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync"))(start, bytes, flags);
}

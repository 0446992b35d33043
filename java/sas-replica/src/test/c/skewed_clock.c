/* Gives the process that it is loaded into another time of day: SKEW_SECONDS ahead when it begins, from then on
 * SKEW_RATE times as fast. The time since the system's start, and what waits for it, stay as they are. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef int get_time(clockid_t clock, struct timespec *time);

static get_time *real;
static double began, ahead, rate;

static double seconds(const struct timespec *time) {
    return (double)time->tv_sec + (double)time->tv_nsec * 1e-9;
}

__attribute__((constructor)) static void begin(void) {
    struct timespec now;
    real = (get_time *)dlsym(RTLD_NEXT, "clock_gettime");
    real(CLOCK_REALTIME, &now);
    began = seconds(&now);
    ahead = atof(getenv("SKEW_SECONDS"));
    rate = atof(getenv("SKEW_RATE"));
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!real) {
        begin();
    }
    int failed = real(clock, time);
    if (!failed && clock == CLOCK_REALTIME) {
        double skewed = began + ahead + (seconds(time) - began) * rate;
        time->tv_sec = (time_t)skewed;
        time->tv_nsec = (long)((skewed - (double)time->tv_sec) * 1e9);
    }
    return failed;
}

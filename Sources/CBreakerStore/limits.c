#include "limits.h"
#include <sys/resource.h>

static int64_t size_limit = INT64_MAX;

const int64_t *bs_size_limit(void) { return &size_limit; }

int64_t bs_refresh_size_limit(void) {
    struct rlimit limit;
    int is_unlimited = getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > INT64_MAX;
    int64_t bytes = is_unlimited ? INT64_MAX : (int64_t)limit.rlim_cur;
    __atomic_store_n(&size_limit, bytes, __ATOMIC_RELAXED);
    return bytes;
}

#pragma once
// In C: Swift sees neither the format of `/proc/PID/stat` nor all structures of the other systems.
#include <stdint.h>

typedef struct {
    int32_t parent;
    // When the process started: in hundredths of a second, since the boot on Linux, since 1970 elsewhere.
    int64_t start;
} bs_running_process;

// Finds a process that runs; 0 if there is none, if it is a zombie, or if this process may not know.
int bs_find_process(int32_t pid, bs_running_process *found);

#pragma once
// In C: Swift has no thread-local variables.
#include <stdint.h>

// The ranks of the locks that this thread holds, one bit each (LockRank.swift). For debug builds.
uint64_t bs_held_ranks(void);
void bs_hold_ranks(uint64_t ranks);

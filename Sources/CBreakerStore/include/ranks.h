#pragma once
// In C: Swift has no variable of a thread.
#include <stdint.h>

// Which ranks of locks this thread holds, a bit each (LockRank.swift). For debug builds.
uint64_t bs_held_ranks(void);
void bs_hold_ranks(uint64_t ranks);

#include "ranks.h"

static _Thread_local uint64_t held_ranks;

// Weak: a program may also contain another release of the library, which defines the same functions.
__attribute__((weak)) uint64_t bs_held_ranks(void) { return held_ranks; }
__attribute__((weak)) void bs_hold_ranks(uint64_t ranks) { held_ranks = ranks; }

#ifndef TOUCH_H
#define TOUCH_H

#include <stddef.h>

/// Runs `act` in the midst of the next access to this memory, on the thread that makes it; then the access goes on.
///
/// For one place at a time, in a process of its own: this takes over SIGSEGV and SIGBUS. The memory must be readable.
void touch_arm(const void *memory, size_t size, void (*act)(void *context), void *context);

#endif

#pragma once
#include <sys/types.h>

// Starts a program with two arguments; its process id, or -1. `input` below 0 leaves the standard input as it is.
pid_t bb_spawn(const char *program, const char *role, const char *path, int input, int output);

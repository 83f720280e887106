#pragma once
// Not in `include`: for this target's own files alone.

// As pipe(2), but no program that this process runs inherits the descriptors.
int bc_make_pipe(int ends[2]);

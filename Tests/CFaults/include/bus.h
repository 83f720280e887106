#ifndef BUS_H
#define BUS_H

// A program's own handler of SIGBUS.

enum bus_manner {
    /// Puts memory where there is none, so that the access goes on.
    BUS_MEND,
    /// Calls the handler that was there before.
    BUS_HAND_ON,
    /// Leaves by siglongjmp.
    BUS_JUMP,
};

/// Installs a handler, and remembers the one that was there.
void bus_install(int manner);

/// How often the handlers were called.
int bus_calls(void);

/// Writes to memory; 1 if the handler left by siglongjmp, 0 if the write was done.
int bus_write(char *memory);

#endif

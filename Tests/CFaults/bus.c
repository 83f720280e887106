#include "bus.h"
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static volatile sig_atomic_t calls;
static sigjmp_buf jump;
static struct sigaction before;

static void mend(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    calls++;
    mmap((void *)((uintptr_t)info->si_addr & ~4095ul), 4096, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0);
}

static void hand_on(int number, siginfo_t *info, void *context) {
    calls++;
    if (before.sa_flags & SA_SIGINFO) before.sa_sigaction(number, info, context);
}

static void leave(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    calls++;
    siglongjmp(jump, 1);
}

void bus_install(int manner) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = manner == BUS_MEND ? mend : manner == BUS_HAND_ON ? hand_on : leave;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, manner == BUS_HAND_ON ? &before : 0);
}

int bus_calls(void) { return calls; }

int bus_write(char *memory) {
    if (sigsetjmp(jump, 1)) return 1;
    *(volatile char *)memory = 1;
    return 0;
}

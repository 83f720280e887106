#include "touch.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

static struct {
    void *memory;
    size_t size;
    void (*act)(void *context);
    void *context;
} armed;

static void touched(int number, siginfo_t *info, void *context) {
    (void)context;
    if ((char *)info->si_addr < (char *)armed.memory || (char *)info->si_addr >= (char *)armed.memory + armed.size) {
        // Somebody else's fault happens again, and ends the process.
        signal(number, SIG_DFL);
        return;
    }
    mprotect(armed.memory, armed.size, PROT_READ);
    armed.act(armed.context);
}

void touch_arm(const void *memory, size_t size, void (*act)(void *context), void *context) {
    armed.memory = (void *)memory;
    armed.size = size;
    armed.act = act;
    armed.context = context;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = touched;
    action.sa_flags = SA_SIGINFO;
    // Darwin says SIGBUS where Linux says SIGSEGV.
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    mprotect(armed.memory, armed.size, PROT_NONE);
}

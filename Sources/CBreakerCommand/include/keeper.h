#pragma once
// In C: a keeper lives as long as a process that may take hours, and must need little memory. Swift's runtime, and what
// a store needs, would take several times as much.
#include <stdint.h>
#include <sys/types.h>

// The words of a keeper's command line, behind the program's name. `bc_end_keeper` finds the verb and the token there.
enum {
    bc_keeper_verb = 1,
    bc_keeper_token,
    bc_keeper_epoch,
    bc_keeper_circuit,
    bc_keeper_holder,        // the pid of the process for which the probe's slot is kept
    bc_keeper_holder_start,  // as in `bs_running_process`
    bc_keeper_lease,         // in milliseconds
    bc_keeper_store,         // the store's file, an absolute path
    bc_keeper_word_count,
};

// A keeper's own words with which it runs the child that renews the lease:
// PROGRAM VERB --store STORE -- CIRCUIT TOKEN EPOCH. The child prints the lease in milliseconds, and ends with 0; it
// ends with `bc_slot_is_gone` if the probe has no slot any more, with any other code if it is to be run again soon.
#define BC_RENEWING_VERB "renew-slot"
enum { bc_slot_is_gone = 4 };

// Starts a keeper in a session of its own, with nothing but the lock file's descriptor; returns its pid once it watches
// the holder, else -1 with errno: ESRCH if the holder has ended.
//
// `channel`: the keeper ends when this descriptor is closed before `bc_release_keeper`.
pid_t bc_start_keeper(char *const words[], int lock, int *channel);

// Lets the keeper go on alone, and closes the channel.
void bc_release_keeper(int channel);

// Gives up on a keeper that was not released; returns once it has ended.
void bc_abandon_keeper(pid_t keeper, int channel);

// The keeper's program. Returns the exit code.
int bc_run_keeper(int count, char *const words[]);

// Ends a keeper, unless the process with this pid started at another time, is no keeper of this token, or may not be
// ended by this user.
void bc_end_keeper(pid_t keeper, int64_t start, const char *verb, const char *token);

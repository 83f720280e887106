// Each header stands on its own.
#include "locks.h"
#include "process.h"
#include "answers.h"
#include "ranks.h"

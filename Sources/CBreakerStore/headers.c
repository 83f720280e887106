// Compiles the headers as C, too.
#include "locks.h"
#include "process.h"
#include "answers.h"
#include "ranks.h"
#include "counting.h"
#include "files.h"
#include "mappings.h"
#include "limits.h"

// Counts SQL statements: SQLite calls what is registered here for each connection that it opens.
#include "CBenchmarks.h"
#include <sqlite3.h>

static __thread int64_t statements;

static int began(unsigned kind, void *context, void *statement, void *text) {
    (void)kind, (void)context, (void)statement, (void)text;
    statements++;
    return 0;
}

static int opened(sqlite3 *database, const char **error, const struct sqlite3_api_routines *routines) {
    (void)error, (void)routines;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, began, NULL);
}

int bb_trace_statements(void) { return sqlite3_auto_extension((void (*)(void))opened); }
void bb_trace_no_more(void) { sqlite3_reset_auto_extension(); }
int64_t bb_thread_statements(void) { return statements; }

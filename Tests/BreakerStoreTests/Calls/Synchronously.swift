/// Runs code in which nothing can be awaited, so that synchronous forms are chosen.
func synchronously<T>(_ body: () throws -> T) rethrows -> T { try body() }

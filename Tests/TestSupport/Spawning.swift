import CTestSupport

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

#if canImport(Darwin)
package typealias SpawnActions = posix_spawn_file_actions_t?
#else
package typealias SpawnActions = posix_spawn_file_actions_t
#endif

/// Starts a program without a fork of this process's own: no handler of forks is called.
///
/// - Parameter prepare: says what the program's descriptors are.
package func spawn(
    _ command: [String], environment: [String], _ prepare: (inout SpawnActions) -> Void
) throws -> Int32 {
    #if canImport(Darwin)
    var actions: SpawnActions
    #else
    var actions = unsafe SpawnActions()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe prepare(&actions)
    var words = unsafe command.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer {
        for place in unsafe words.indices { unsafe free(words[place]) }
        for place in unsafe variables.indices { unsafe free(variables[place]) }
    }
    var pid: Int32 = 0
    let code = unsafe posix_spawnp(&pid, command[0], &actions, nil, &words, &variables)
    guard code == 0 else { throw SystemError("start \(command[0])", code: code) }
    return pid
}

import BreakerStore
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The circuit of a verb that calls something, in a store that may not be usable.
struct CommandCircuit {
    let store: CircuitStore
    let breaker: CircuitBreaker
    /// The stored rules; the given ones where this release can't use those.
    let config: CircuitBreaker.Config

    enum Opening {
        case usable(CommandCircuit)
        /// The store can't be used now, for this reason: a call must not wait for it.
        ///
        /// The refusal is that of a hold or of an open state, if the file can be read.
        case unusable(String, Refusal?)
    }

    /// Opens the store, creates it if it is missing, and registers the circuit unless it is stored already.
    ///
    /// Stored rules stay; a difference from `rule` is reported. Throws only for a wrong command line.
    ///
    /// - Parameter rule: the rules for a circuit that is missing; nil for the default.
    static func open(_ name: String, rule: RuleText?, in context: Context) throws(Failure) -> Opening {
        let path = try context.path()
        let wanted = try Self.config(named: name, by: rule)
        do throws(BreakerStoreError) {
            var configuration = context.configuration(.readWrite)
            if Self.isSharedByGroup(directoryOf: path) { configuration.fileMode = 0o660 }
            let store = try CircuitStore(path: path, configuration: configuration)
            do throws(BreakerStoreError) {
                let (breaker, stored) = try store.breaker(registeringIfMissing: wanted)
                if let difference = rule?.difference(of: wanted, from: stored) {
                    context.console.writeError(
                        "\(Tool.name): \(name.quoted) keeps its stored rules; '--rule' differs: \(difference.escaped)\n"
                    )
                }
                return .usable(CommandCircuit(store: store, breaker: breaker, config: stored))
            } catch {
                store.close()
                throw error
            }
        } catch {
            return .unusable(
                context.failure(error, doing: "use").message, Refusal(readingOnly: name, in: context))
        }
    }

    /// Whether the files in a directory belong to its group, whose users may all write there: a setgid directory.
    private static func isSharedByGroup(directoryOf path: String) -> Bool {
        var info = stat()
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        guard unsafe stat(directory, &info) == 0 else { return false }
        let mode = info.st_mode
        return mode & S_ISGID != 0 && mode & S_IWGRP != 0 && mode & S_IWOTH == 0
    }

    private static func config(
        named name: String, by rule: RuleText?
    ) throws(Failure) -> CircuitBreaker.Config {
        let config = try rule?.config(named: name) ?? CircuitBreaker.Config(name: name)
        do throws(BreakerStoreError) {
            try config.check()
        } catch {
            let shown = name.prefix(200).description.quoted
            throw .usage("no circuit can have the name \(shown): \(error.message.escaped)")
        }
        return config
    }

    /// Why the store can't be used, though it was opened; nil if it can be used, or was closed.
    var trouble: String? {
        switch self.store.health {
        case .healthy: nil
        case .degraded(since: _, let error): error.message.escaped
        case .closed: nil
        }
    }
}

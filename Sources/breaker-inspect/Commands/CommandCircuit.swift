import BreakerStore
import BreakerTool

/// The circuit of a verb that calls something, in a store that may not be usable.
struct CommandCircuit {
    let store: CircuitStore
    let breaker: CircuitBreaker
    /// The stored rules; the given ones where this release can't use those.
    let config: CircuitBreaker.Config

    enum Opening {
        case usable(CommandCircuit)
        /// The store can't be used now, for this reason: a call must not wait for it.
        case unusable(String)
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
            let store = try CircuitStore(path: path, configuration: context.configuration(.readWrite))
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
            return .unusable(context.failure(error, doing: "use").message)
        }
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

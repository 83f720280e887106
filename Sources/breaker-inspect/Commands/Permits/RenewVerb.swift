import BreakerStore
import BreakerStoreJSON
import BreakerTool
import CBreakerCommand

/// `renew-slot`: renews the lease of a probe's slot once, for a keeper; the help does not list it.
///
/// Prints the lease in milliseconds. Exits with `bc_slot_is_gone` if the probe has no slot any more.
struct RenewVerb: Verb {
    static let name = BC_RENEWING_VERB
    static let synopsis = "CIRCUIT TOKEN EPOCH"
    static let summary = "renew the lease of a probe's slot, for the process that keeps it"
    static let details = ""
    static let options: [Option] = []
    static let refusedOptions: [Option] = [.json]

    private static let slotIsGone = ExitCode(rawValue: Int32(bc_slot_is_gone))

    private let circuit: String
    private let token: Int64
    private let epoch: Int64

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count == 3, let token = Int64(arguments.operands[1]),
            let epoch = Int64(arguments.operands[2])
        else { throw .usage("'\(Self.name)' takes a circuit's name, a token and an epoch", verb: Self.name) }
        (self.circuit, self.token, self.epoch) = (arguments.operands[0], token, epoch)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        try context.changing { (store) throws(BreakerStoreError) in
            do throws(BreakerStoreError) {
                let breaker = try store.breaker(named: self.circuit)
                guard let lease = try breaker.renewProbe(token: self.token, epoch: Epoch(self.epoch)) else {
                    return Self.slotIsGone
                }
                context.console.write("\(max(1, lease.wholeMilliseconds))\n")
                return .done
            } catch {
                guard error.code == .noSuchCircuit else { throw error }
                return Self.slotIsGone
            }
        }
    }
}

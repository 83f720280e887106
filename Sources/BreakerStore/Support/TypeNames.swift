import Synchronization

/// The names of types, each made once: the runtime takes a microsecond for one, and a failure has its error's.
///
/// A child of `fork` may find the lock held for ever, so nobody waits for the lock.
enum TypeNames {
    static let known = Mutex<[ObjectIdentifier: String]>([:])

    static func name(of type: any Any.Type) -> String {
        let key = ObjectIdentifier(type)
        if let name = self.known.withLockIfAvailable({ $0[key] }) ?? nil { return name }
        let name = String(describing: type)
        self.known.withLockIfAvailable { $0[key] = name }
        return name
    }
}

import Synchronization

/// A cache of the names of types: the runtime takes a microsecond for a name, and each failure stores that of its
/// error.
///
/// No thread waits for the lock: a child of `fork` may find it held forever.
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

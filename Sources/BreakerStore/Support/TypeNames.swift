import Synchronization

/// The names of types, each made once: the runtime takes a microsecond for one, and a failure has its error's.
enum TypeNames {
    private static let known = Mutex<[ObjectIdentifier: String]>([:])

    static func name(of type: any Any.Type) -> String {
        let key = ObjectIdentifier(type)
        if let name = self.known.withLock({ $0[key] }) { return name }
        let name = String(describing: type)
        self.known.withLock { $0[key] = name }
        return name
    }
}

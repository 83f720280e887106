#if PostgreSQL
/// A set of names, compared by their bytes.
struct Names: Sequence, Hashable, Sendable, ExpressibleByArrayLiteral {
    private var names: Set<ExactName> = []

    init() {}

    init(_ names: some Sequence<String>) { self.names = Set(names.map { ExactName($0) }) }

    init(arrayLiteral names: String...) { self.init(names) }

    var isEmpty: Bool { self.names.isEmpty }

    func contains(_ name: String) -> Bool { self.names.contains(ExactName(name)) }

    mutating func insert(_ name: String) { self.names.insert(ExactName(name)) }

    mutating func remove(_ name: String) { self.names.remove(ExactName(name)) }

    func union(_ others: some Sequence<String>) -> Names {
        var all = self
        for name in others { all.insert(name) }
        return all
    }

    func intersection(_ others: Names) -> Names {
        var both = self
        both.names.formIntersection(others.names)
        return both
    }

    func subtracting(_ others: some Sequence<String>) -> Names {
        var rest = self
        for name in others { rest.remove(name) }
        return rest
    }

    func makeIterator() -> AnyIterator<String> {
        var names = self.names.makeIterator()
        return AnyIterator { names.next()?.text }
    }
}
#endif

#if PostgreSQL
/// A dictionary from names to large values, which stand close together in memory.
///
/// A `Dictionary` may reserve memory for more than twice as many values as it has: with 100 circuits the unused part
/// was an eighth of a link's memory.
struct ByName<Value>: Sequence {
    private var indices: [ExactName: Int] = [:]
    private(set) var keys: [String] = []
    private(set) var values: [Value] = []

    init() {}

    /// Makes a dictionary of values; of several values with the same name it has the first.
    ///
    /// - Parameter key: the property that has a value's name.
    init(_ values: [Value], key: KeyPath<Value, String>) {
        self.indices.reserveCapacity(values.count)
        self.keys.reserveCapacity(values.count)
        self.values.reserveCapacity(values.count)
        for value in values where self[value[keyPath: key]] == nil { self.set(value, for: value[keyPath: key]) }
    }

    subscript(key: String) -> Value? {
        get { self.indices[ExactName(key)].map { self.values[$0] } }
        set {
            if let value = newValue { self.set(value, for: key) } else { self.remove(key) }
        }
    }

    func makeIterator() -> Zip2Sequence<[String], [Value]>.Iterator { zip(self.keys, self.values).makeIterator() }

    private mutating func set(_ value: Value, for key: String) {
        if let index = self.indices[ExactName(key)] {
            self.values[index] = value
        } else {
            self.indices[ExactName(key)] = self.keys.count
            self.keys.append(key)
            self.values.append(value)
        }
    }

    /// Removes a value, and moves the last value to its index.
    private mutating func remove(_ key: String) {
        guard let index = self.indices.removeValue(forKey: ExactName(key)) else { return }
        self.keys.swapAt(index, self.keys.count - 1)
        self.values.swapAt(index, self.values.count - 1)
        self.keys.removeLast()
        self.values.removeLast()
        if index < self.keys.count { self.indices[ExactName(self.keys[index])] = index }
    }
}

extension ByName: Equatable where Value: Equatable {}

extension ByName: Sendable where Value: Sendable {}

extension ByName: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral values: (String, Value)...) {
        for (key, value) in values { self.set(value, for: key) }
    }
}
#endif

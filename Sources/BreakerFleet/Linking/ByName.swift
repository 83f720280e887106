#if PostgreSQL
/// Large values by name, close together in memory.
///
/// A dictionary may have room for more than twice as many values as it holds: with 100 circuits the empty room was an
/// eighth of all memory that a link takes.
struct ByName<Value>: Sequence {
    private var places: [ExactName: Int] = [:]
    private(set) var keys: [String] = []
    private(set) var values: [Value] = []

    init() {}

    /// Keeps the first of several values with the same name.
    ///
    /// - Parameter key: where a value has its name.
    init(_ values: [Value], key: KeyPath<Value, String>) {
        self.places.reserveCapacity(values.count)
        self.keys.reserveCapacity(values.count)
        self.values.reserveCapacity(values.count)
        for value in values where self[value[keyPath: key]] == nil { self.set(value, for: value[keyPath: key]) }
    }

    subscript(key: String) -> Value? {
        get { self.places[ExactName(key)].map { self.values[$0] } }
        set {
            if let value = newValue { self.set(value, for: key) } else { self.remove(key) }
        }
    }

    func makeIterator() -> Zip2Sequence<[String], [Value]>.Iterator { zip(self.keys, self.values).makeIterator() }

    private mutating func set(_ value: Value, for key: String) {
        if let place = self.places[ExactName(key)] {
            self.values[place] = value
        } else {
            self.places[ExactName(key)] = self.keys.count
            self.keys.append(key)
            self.values.append(value)
        }
    }

    /// The last value takes the removed one's place.
    private mutating func remove(_ key: String) {
        guard let place = self.places.removeValue(forKey: ExactName(key)) else { return }
        self.keys.swapAt(place, self.keys.count - 1)
        self.values.swapAt(place, self.values.count - 1)
        self.keys.removeLast()
        self.values.removeLast()
        if place < self.keys.count { self.places[ExactName(self.keys[place])] = place }
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

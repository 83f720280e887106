/// What a process knows of circuits, by their names.
///
/// Not a dictionary: for the first one with a new type of key the runtime looks for conformances in all libraries that
/// are loaded, which brings a megabyte of them into memory. That would be a twentieth of what an opening costs.
struct NameTable<Value> {
    typealias Entry = (name: CircuitName, value: Value)

    /// Each entry is at the place where the search for its name begins, or behind it, with no free place in between.
    ///
    /// The count is a power of two, and a quarter of the places is free.
    private var places: [Entry?] = []
    private(set) var count = 0

    var isEmpty: Bool { self.count == 0 }

    subscript(name: CircuitName) -> Value? {
        get { self.places.isEmpty ? nil : self.places[self.place(of: name)]?.value }
        set {
            if let newValue { self.set(newValue, for: name) } else { self.remove(name) }
        }
    }

    mutating func removeAll() { self = Self() }

    /// All there is, in no order.
    var all: [Entry] {
        var all: [Entry] = []
        all.reserveCapacity(self.count)
        for case let entry? in self.places { all.append(entry) }
        return all
    }

    var values: [Value] { self.all.map(\.value) }

    func mapValues<Other>(_ transform: (Value) -> Other) -> NameTable<Other> {
        var table = NameTable<Other>()
        table.count = self.count
        table.places = self.places.map { entry in entry.map { ($0.name, transform($0.value)) } }
        return table
    }

    // MARK: - Places

    private var mask: Int { self.places.count - 1 }

    /// Where the search for a name begins.
    ///
    /// The place depends on the table's size. Otherwise names that come in the order of a larger table's places would
    /// crowd at the first places of a smaller table, and each would be searched for behind all that came before it.
    private func start(of name: CircuitName) -> Int { name.hash(mixedWith: self.places.count) & self.mask }

    /// The place of a name that is there, or the free one where the name would be; there must be places.
    private func place(of name: CircuitName) -> Int {
        var place = self.start(of: name)
        while let entry = self.places[place], entry.name != name { place = (place + 1) & self.mask }
        return place
    }

    private mutating func set(_ value: Value, for name: CircuitName) {
        if (self.count + 1) * 4 > self.places.count * 3 { self.grow() }
        let place = self.place(of: name)
        if self.places[place] == nil { self.count += 1 }
        self.places[place] = (name, value)
    }

    private mutating func grow() {
        let before = self.places
        self.places = Array(repeating: nil, count: max(4, before.count * 2))
        for case let entry? in before { self.places[self.place(of: entry.name)] = entry }
    }

    /// Removes an entry, and moves later ones up, so that no free place cuts them off from where their search begins.
    @discardableResult mutating func remove(_ name: CircuitName) -> Value? {
        guard !self.places.isEmpty else { return nil }
        var free = self.place(of: name)
        guard let removed = self.places[free] else { return nil }
        self.places[free] = nil
        self.count -= 1
        var next = (free + 1) & self.mask
        while let entry = self.places[next] {
            let wanted = self.start(of: entry.name)
            // How far the entry is from where it wants to be, and how far it would be at the free place.
            if (next - wanted) & self.mask >= (next - free) & self.mask {
                self.places[free] = entry
                self.places[next] = nil
                free = next
            }
            next = (next + 1) & self.mask
        }
        return removed.value
    }
}

extension NameTable: Sendable where Value: Sendable {}

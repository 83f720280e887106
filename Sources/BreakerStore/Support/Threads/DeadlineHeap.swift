/// Keeps elements by their times: the earliest comes first, and a key takes out its element.
///
/// A binary heap that knows the place of each element. Adding and removing cost the logarithm of the number of
/// elements, and next to nothing if each new element has the latest time.
struct DeadlineHeap<Element> {
    typealias Instant = ContinuousClock.Instant

    /// Names one element, until that element is removed.
    struct Key: Sendable {
        fileprivate let entry: Int
        fileprivate let number: UInt64
    }

    private struct Node {
        let time: Instant
        /// How many elements had been added when this node was: among equal times the first added comes first.
        let number: UInt64
        let entry: Int
        let element: Element

        func comes(before other: Node) -> Bool { (self.time, self.number) < (other.time, other.number) }
    }

    /// How many free slots an empty heap keeps; the memory of a larger burst is freed.
    private static var mostFreeSlots: Int { 1_024 }

    private var nodes: [Node] = []
    /// The index in `nodes` of each entry's element.
    private var places: [Int] = []
    private var freeEntries: [Int] = []
    private var added: UInt64 = 0

    var count: Int { self.nodes.count }

    /// The earliest time.
    var first: Instant? { self.nodes.first?.time }

    mutating func add(_ element: Element, at time: Instant) -> Key {
        let entry = self.freeEntries.popLast() ?? self.places.count
        if entry == self.places.count { self.places.append(0) }
        self.added += 1
        let node = Node(time: time, number: self.added, entry: entry, element: element)
        self.nodes.append(node)
        self.moveUp(node, from: self.nodes.count - 1)
        return Key(entry: entry, number: node.number)
    }

    /// Removes the element; nil if it was removed before.
    mutating func remove(_ key: Key) -> Element? {
        guard self.places.indices.contains(key.entry) else { return nil }
        let place = self.places[key.entry]
        guard self.nodes.indices.contains(place), self.nodes[place].number == key.number else { return nil }
        return self.remove(at: place)
    }

    /// Removes the first element if its time has come.
    mutating func removeFirst(dueAt now: Instant) -> Element? {
        guard let first = self.first, first <= now else { return nil }
        return self.remove(at: 0)
    }

    private mutating func remove(at place: Int) -> Element {
        let removed = self.nodes[place]
        let last = self.nodes.removeLast()
        if last.entry != removed.entry {
            self.moveUp(last, from: place)
            self.moveDown(last, from: self.places[last.entry])
        }
        self.freeEntries.append(removed.entry)
        if self.nodes.isEmpty, self.freeEntries.count > Self.mostFreeSlots {
            self.nodes = []
            self.places = []
            self.freeEntries = []
        }
        return removed.element
    }

    private mutating func put(_ node: Node, at place: Int) {
        self.nodes[place] = node
        self.places[node.entry] = place
    }

    private mutating func moveUp(_ node: Node, from start: Int) {
        var place = start
        while place > 0 {
            let parent = (place - 1) / 2
            guard node.comes(before: self.nodes[parent]) else { break }
            self.put(self.nodes[parent], at: place)
            place = parent
        }
        self.put(node, at: place)
    }

    private mutating func moveDown(_ node: Node, from start: Int) {
        var place = start
        while case let left = 2 * place + 1, left < self.nodes.count {
            let right = left + 1
            let child =
                right < self.nodes.count && self.nodes[right].comes(before: self.nodes[left]) ? right : left
            guard self.nodes[child].comes(before: node) else { break }
            self.put(self.nodes[child], at: place)
            place = child
        }
        self.put(node, at: place)
    }
}

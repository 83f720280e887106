extension Array {
    /// Removes the elements for which `isWanted` is true, and returns them; both parts keep their order.
    mutating func extract(where isWanted: (Element) -> Bool) -> [Element] {
        var extracted: [Element] = []
        self.removeAll { element in
            guard isWanted(element) else { return false }
            extracted.append(element)
            return true
        }
        return extracted
    }
}

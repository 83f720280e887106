extension [Int64] {
    /// How many of the times, which are sorted, are before one.
    package func countOfSorted(before time: Int64) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The order in which very many rows are printed.
package enum RowOrder {
    /// The numbers below `count`, sorted by a bottom-up merge sort; equal numbers keep their order.
    ///
    /// Not the standard library's sort, for which the runtime would search all loaded libraries for conformances, which
    /// takes a megabyte of memory.
    package static func sorted(_ count: Int, by comesBefore: (_ first: Int, _ second: Int) -> Bool) -> [Int] {
        var order = Array(0..<count)
        var merged = order
        var width = 1
        while width < count {
            for start in stride(from: 0, to: count, by: 2 * width) {
                let middle = min(start + width, count)
                let end = min(start + 2 * width, count)
                var (left, right) = (start, middle)
                for index in start..<end {
                    if left < middle, right == end || !comesBefore(order[right], order[left]) {
                        merged[index] = order[left]
                        left += 1
                    } else {
                        merged[index] = order[right]
                        right += 1
                    }
                }
            }
            swap(&order, &merged)
            width *= 2
        }
        return order
    }
}

/// The order in which very many rows are printed.
package enum RowOrder {
    /// The numbers below `count`, sorted; equal numbers keep their order.
    ///
    /// A merge sort of its own: the standard library's sort has the runtime look for conformances in all loaded
    /// libraries, which takes a megabyte of memory.
    package static func sorted(_ count: Int, by comesBefore: (_ first: Int, _ second: Int) -> Bool) -> [Int] {
        var order = Array(0..<count)
        var merged = order
        var width = 1
        while width < count {
            for start in stride(from: 0, to: count, by: 2 * width) {
                let middle = min(start + width, count)
                let end = min(start + 2 * width, count)
                var (left, right) = (start, middle)
                for place in start..<end {
                    if left < middle, right == end || !comesBefore(order[right], order[left]) {
                        merged[place] = order[left]
                        left += 1
                    } else {
                        merged[place] = order[right]
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

/// Finds the word that a user may have meant.
package enum Spelling {
    /// The candidate with the least edit distance to the word; nil if all are too far from it.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let scalars = Array(word.unicodeScalars)
        let limit = max(1, min(3, scalars.count / 3))
        var best: (distance: Int, candidate: String)?
        for candidate in candidates {
            let others = Array(candidate.unicodeScalars)
            guard abs(others.count - scalars.count) <= limit else { continue }
            let distance = Self.distance(between: scalars, and: others)
            if distance <= limit, distance < best?.distance ?? .max { best = (distance, candidate) }
        }
        return best?.candidate
    }

    /// The optimal string alignment distance: how many letters to insert, delete, replace, or swap with the next one.
    static func distance(between first: [Unicode.Scalar], and second: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in 1..<(first.count + 1) {
            var current = [row]
            for column in 1..<(second.count + 1) {
                let isSame = first[row - 1] == second[column - 1]
                var distance = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, first[row - 1] == second[column - 2], first[row - 2] == second[column - 1] {
                    distance = min(distance, beforeLast[column - 2] + 1)
                }
                current.append(distance)
            }
            (beforeLast, last) = (last, current)
        }
        return last[second.count]
    }
}

import BreakerTool

/// All metrics in Prometheus' text format, which requires the series of a family to be together.
struct MetricsText {
    private static let pieceSize = 16_384

    let stores: [StoreMetrics]

    /// Passes the text to a function piece by piece.
    func forEachPiece(_ write: (String) throws(Failure) -> Void) throws(Failure) {
        var lines = MetricLines()
        for family in StoreMetrics.families {
            lines.add(heading: family.heading)
            for store in self.stores {
                lines.begin(family.name, store.label)
                family.samples(store, &lines)
            }
        }
        for family in CircuitMetrics.families {
            lines.add(heading: family.heading)
            for store in self.stores {
                for circuit in store.contents?.circuits ?? [] {
                    lines.begin(family.name, circuit.labels)
                    family.samples(circuit, &lines)
                    guard lines.text.utf8.count >= Self.pieceSize else { continue }
                    try write(lines.text)
                    lines.clear()
                }
            }
        }
        try write(lines.text)
    }
}

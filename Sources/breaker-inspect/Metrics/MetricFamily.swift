/// A family of series in Prometheus' text format
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
struct MetricFamily<Subject>: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    let name: String
    let kind: Kind
    /// The meaning, in one sentence without a full stop.
    let help: String
    /// Adds the samples of one store or circuit.
    let samples: @Sendable (Subject, inout MetricLines) -> Void

    init(
        _ name: String, _ kind: Kind, _ help: String,
        samples: @escaping @Sendable (Subject, inout MetricLines) -> Void
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    var heading: String { "# HELP \(self.name) \(self.help)\n# TYPE \(self.name) \(self.kind.rawValue)\n" }
}

import BreakerStore

/// The lines of samples, one after the other.
struct MetricLines {
    private(set) var text = ""
    private var name = ""
    private var labels = ""

    /// Sets the name and the labels, such as `a="b",c="d"`, of all following samples.
    mutating func begin(_ name: String, _ labels: String) {
        self.name = name
        self.labels = labels
    }

    mutating func clear() { self.text.removeAll(keepingCapacity: true) }

    mutating func add(heading: String) { self.text += heading }

    /// Adds a sample.
    ///
    /// - Parameter labels: the labels of this sample alone, as `a="b"`.
    mutating func add(_ value: UInt64, suffix: String = "", _ labels: String = "") {
        self.add(String(value), suffix, labels)
    }

    /// Adds a sample in seconds.
    ///
    /// - Parameter seconds: a finite number.
    mutating func add(seconds: Double, suffix: String = "", _ labels: String = "") {
        self.add(Self.number(seconds), suffix, labels)
    }

    private mutating func add(_ value: String, _ suffix: String, _ labels: String) {
        self.text += self.name
        self.text += suffix
        self.text += "{"
        self.text += self.labels
        if !labels.isEmpty { self.text += "," }
        self.text += labels
        self.text += "} "
        self.text += value
        self.text += "\n"
    }

    /// A number without the fraction `.0`.
    static func number(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// A label with any text.
    ///
    /// Control and format characters are spelled out, as everywhere in this tool's output: a terminal must not obey a
    /// circuit's name. If a name itself has such a spelling, its backslash is spelled out: two names with one label
    /// would make Prometheus reject all metrics.
    static func label(_ name: String, _ value: String) -> String {
        var text = "\(name)=\""
        let scalars = Array(value.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isSpelling = scalar == "\\" && scalars[(index + 1)...].starts(with: ["u", "{"])
            if isSpelling || scalar.isDeceptive {
                text += "\\\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
                continue
            }
            // The format escapes these two, and line feeds, which are spelled out above.
            if scalar == "\\" || scalar == "\"" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}

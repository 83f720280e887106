import BreakerStore
import BreakerTool

/// `metrics`: prints metrics for Prometheus.
struct MetricsVerb: Verb {
    static let name = "metrics"
    static let synopsis = ""
    static let summary = "print the circuits and their calls for Prometheus"
    static let details = """
        --store may be given several times, and as NAME=PATH: then the label 'store' of
        all series is NAME, else the PATH. A store that can't be read has
        breaker_store_up 0 and no other series; other stores are printed all the same.
        With --output the file is replaced in one step, as a node exporter's directory
        for text files needs it; its name must end with .prom there.
        If there are too many circuits, those that refuse calls come first.
        """
    static let output = Option("output", "FILE", .file, help: "write into FILE instead of the standard output")
    static let maxCircuits = Option(
        "max-circuits", "N", help: "at most N circuits of each store; 2,000 by default")
    static let options: [Option] = [Self.output, Self.maxCircuits]
    static let refusedOptions: [Option] = [.json]

    private static let usualCircuits = 2_000

    private let stores: [(name: String, path: String)]
    private let maxCircuits: Int
    private let output: String?

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.isEmpty else {
            throw .usage("'metrics' takes no names: it prints all circuits", verb: Self.name)
        }
        guard !arguments.has(.json) else {
            throw .usage("'metrics' has a format of its own", hint: "'\(Tool.name) list --json' prints all circuits")
        }
        var maxCircuits = Self.usualCircuits
        if let text = arguments[Self.maxCircuits] {
            guard let number = Int(text), (0...1_000_000).contains(number) else {
                throw .usage(
                    "option '--max-circuits' takes a number up to 1000000, not \(text.quoted)", verb: Self.name)
            }
            maxCircuits = number
        }
        self.maxCircuits = maxCircuits
        self.output = arguments[Self.output]
        self.stores = try Self.stores(arguments.all(.store))
    }

    private static func stores(_ given: [String]) throws(Failure) -> [(name: String, path: String)] {
        var stores: [(name: String, path: String)] = []
        for text in given {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // A path may have an equals sign, too, but a name has no slash.
            let isNamed = parts.count == 2 && !parts[0].contains("/")
            let store = isNamed ? (name: parts[0], path: parts[1]) : (name: text, path: text)
            guard !store.name.isEmpty, !store.path.isEmpty else {
                throw .usage("option '--store' takes NAME=PATH, not \(text.quoted)", verb: Self.name)
            }
            guard !stores.contains(where: { $0.name.escaped == store.name.escaped }) else {
                throw .usage(
                    "two stores are called \(store.name.quoted)", hint: "name each: --store NAME=PATH", verb: Self.name)
            }
            stores.append(store)
        }
        return stores
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let path = self.stores.isEmpty ? try context.path() : ""
        let stores = self.stores.isEmpty ? [(name: path, path: path)] : self.stores
        var shown: [StoreMetrics] = []
        var code = ExitCode.done
        for store in stores {
            var metrics = StoreMetrics(name: store.name)
            do throws(Failure) {
                try metrics.read(atMost: self.maxCircuits, in: context.on(store.path))
            } catch {
                context.console.writeError(error)
                if code == .done { code = error.code }
            }
            if let contents = metrics.contents, contents.leftOut > 0 {
                context.console.writeError(
                    "\(Tool.name): \(contents.leftOut) circuits of \(store.name.quoted) are left out\n"
                        + "hint: --max-circuits \(contents.leftOut + contents.circuits.count) prints all\n")
            }
            shown.append(metrics)
        }
        let text = MetricsText(stores: shown)
        if let output = self.output {
            // The collector runs as another user.
            try FileReplacement.write(output, mode: 0o644, butNot: stores.map(\.path)) { (write) throws(Failure) in
                try text.forEachPiece(write)
            }
        } else {
            try text.forEachPiece { context.console.write($0) }
        }
        return code
    }
}

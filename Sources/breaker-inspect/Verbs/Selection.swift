import BreakerStore
import BreakerTool

/// The circuits that a command line names.
struct Selection: Sendable {
    /// The selectors; nil selects all circuits.
    var selectors: [CircuitSelector]?

    /// Reads the operands.
    ///
    /// - Parameter operands: names and patterns; without any, all circuits.
    init(_ operands: [String], isExact: Bool) throws(Failure) {
        let longest = CircuitSelector.longestPattern
        if !isExact, let pattern = operands.first(where: { $0.utf8.count > longest && CircuitSelector.isPattern($0) }) {
            throw .usage(
                "a pattern has \(longest) bytes at most, not \(pattern.utf8.count)",
                hint: "give several shorter ones, or '--exact' to take it for a name"
            )
        }
        self.selectors = operands.isEmpty ? nil : operands.map { isExact ? .named($0) : .nameOrPattern($0) }
    }

    /// Reads the operands and options of a verb that changes circuits: names and patterns, or a group, or all circuits.
    init(of arguments: Arguments, operands: [String], verb: any Verb.Type) throws(Failure) {
        let takesAll = verb.options.contains(.all)
        let group = arguments[.allOfGroup]
        switch (operands.isEmpty, group, arguments.has(.all)) {
        case (true, nil, false):
            let what = takesAll ? "a circuit's name, a pattern, --group or --all" : "a circuit's name or a pattern"
            throw .usage("'\(verb.name)' needs \(what)", verb: verb.name)
        case (true, let group?, false): self.init(selectors: [.group(group)])
        case (true, nil, true), (false, nil, false): try self.init(operands, isExact: arguments.has(.exact))
        case (false, nil, true), (_, .some, true), (false, .some, false):
            throw .usage("'\(verb.name)' takes names, --group or --all, only one of them", verb: verb.name)
        }
    }

    init(name: String) { self.init(selectors: [.named(name)]) }

    private init(selectors: [CircuitSelector]?) { self.selectors = selectors }

    /// Folds all circuits, read one by one, into one value; a named circuit must exist.
    func gather<Value>(
        into initial: Value,
        countingWorkers countsWorkers: Bool = true,
        in context: Context,
        _ body: (inout Value, InspectedCircuit) -> Void
    ) throws(Failure) -> StoreView.Found<Value> {
        try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                try self.orMissing(in: inspection) { (selectors) throws(BreakerStoreError) in
                    try inspection.circuits(selectors, countingWorkers: countsWorkers, into: initial, body)
                }
            }
        }.get()
    }

    /// The one named circuit.
    func one(in inspection: StoreView) throws(BreakerStoreError) -> Outcome<InspectedCircuit> {
        let found = try self.orMissing(in: inspection) { (selectors) throws(BreakerStoreError) in
            try inspection.circuits(selectors, into: [InspectedCircuit]()) { $0.append($1) }
        }
        return found.flatMap { found in
            if let circuit = found.value.first { return .success(circuit) }
            return .failure(Unreadable(found.unreadable).failure ?? Failure(.noSuchCircuit, "no such circuit"))
        }
    }

    /// The circuits, to be described again later; a named circuit must exist.
    func image(in inspection: StoreView) throws(BreakerStoreError) -> Outcome<StoreImage> {
        try self.orMissing(in: inspection) { (selectors) throws(BreakerStoreError) in
            try inspection.image(of: selectors)
        }
        .map(\.value)
    }

    /// The circuits, or the failure for a missing name, with a similar name as its hint.
    private func orMissing<Value>(
        in inspection: StoreView,
        _ find: ([CircuitSelector]?) throws(BreakerStoreError) -> StoreView.Found<Value>
    ) throws(BreakerStoreError) -> Outcome<StoreView.Found<Value>> {
        let found = try find(self.selectors)
        guard let missing = found.missing else { return .success(found) }
        return .failure(.noSuchCircuit(missing, nearest: Spelling.nearest(to: missing, among: try inspection.names())))
    }

    /// The message if nothing was found, with the arguments of the command line.
    var nothingFound: String {
        guard let selectors = self.selectors else { return "the store has no circuits\n" }
        if case .group(let group)? = selectors.first { return "no circuit is of the group \(group.quoted)\n" }
        let patterns = selectors.map(\.text.quoted).joined(separator: " or ")
        return "no circuit matches \(patterns)\n"
    }
}

extension CircuitSelector {
    fileprivate var text: String {
        switch self {
        case .named(let text), .namedIfPresent(let text), .pattern(let text), .nameOrPattern(let text): text
        case .group(let group): group
        }
    }
}

extension Failure {
    static func noSuchCircuit(_ name: String, nearest: String?) -> Failure {
        Failure(
            .noSuchCircuit,
            "no such circuit: \(name.quoted)",
            hint: nearest.map { "did you mean \($0.quoted)?" } ?? "'\(Tool.name) list' shows all circuits"
        )
    }
}

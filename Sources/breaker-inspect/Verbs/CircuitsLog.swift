import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes a list of circuits, then its changes, line by line.
struct CircuitsLog {
    /// The values whose change causes a new line; passing time alone causes none.
    private struct Line: Equatable {
        var epoch: Int64
        var standing: Standing
        var failures: Int
        var lastError: String?

        init(_ circuit: CircuitSnapshot) {
            self.epoch = circuit.epoch
            self.standing = circuit.standing
            self.failures = circuit.failures.count
            self.lastError = circuit.lastError
        }
    }

    private let filter: CircuitFilter
    private let context: Context
    private var table = Table.circuits()
    /// The values last written, by the bytes of the circuit's name.
    private var shown: [[UInt8]: Line] = [:]
    /// The workers that could not use the file when that was last written.
    private var degraded: Set<WorkerID> = []

    init(_ filter: CircuitFilter, _ context: Context) {
        self.filter = filter
        self.context = context
    }

    mutating func begin(with circuits: [InspectedCircuit], _ unreadable: Unreadable, _ live: LiveWorkers?) {
        var list = JSONList()
        for circuit in circuits where self.filter.admits(circuit.snapshot) {
            self.shown[Array(circuit.snapshot.name.utf8)] = Line(circuit.snapshot)
            if self.context.isJSON {
                list.append(circuit.seen)
            } else {
                self.table.append(circuit)
            }
        }
        if self.context.isJSON {
            list.writeDocument(unreadable: unreadable.names, degraded: live?.seen) { self.context.console.write($0) }
            self.degraded = Self.ids(live)
        } else {
            self.writeTable(withHeading: true)
            self.reportChange(of: live)
        }
    }

    /// Adds a line for each circuit that has changed or was forgotten.
    mutating func append(changesTo circuits: [InspectedCircuit], _ unreadable: Unreadable, _ live: LiveWorkers?) {
        self.reportChange(of: live)
        var gone = self.shown
        for circuit in unreadable.circuits { gone[Array(circuit.name.utf8)] = nil }
        for circuit in circuits {
            let key = Array(circuit.snapshot.name.utf8)
            gone[key] = nil
            let line = Line(circuit.snapshot)
            let isWanted = self.filter.admits(circuit.snapshot)
            // A circuit that no longer matches the filter is written once more.
            guard self.shown[key] != line, isWanted || self.shown[key] != nil else { continue }
            self.shown[key] = isWanted ? line : nil
            if self.context.isJSON {
                self.context.console.write(JSONDocument.changed(circuit.seen, degraded: live?.seen))
            } else {
                self.table.append(circuit)
            }
        }
        for key in gone.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            self.shown[key] = nil
            let name = String(decoding: key, as: UTF8.self)
            if self.context.isJSON {
                self.context.console.write(JSONDocument.forgotten(name, degraded: live?.seen))
            } else {
                self.table.append([.init(text: name.escaped), .init(text: "forgotten")] + self.blanks)
            }
        }
        if !self.context.isJSON { self.writeTable(withHeading: false) }
    }

    /// Writes which workers can't use the file, if these have changed since they were last written.
    private mutating func reportChange(of live: LiveWorkers?) {
        let degraded = Self.ids(live)
        guard let live, degraded != self.degraded else { return }
        self.degraded = degraded
        if self.context.isJSON {
            self.context.console.write(JSONDocument.workersChanged(degraded: live.seen))
        } else if degraded.isEmpty {
            self.context.console.writeError("\(Tool.name): all workers use the file again\n")
        } else {
            self.context.warn(of: live)
        }
    }

    private static func ids(_ live: LiveWorkers?) -> Set<WorkerID> { Set(live?.degraded.map(\.id) ?? []) }

    private var blanks: [Table.Cell] { Array(repeating: .init(text: "-"), count: self.table.columns.count - 2) }

    private mutating func writeTable(withHeading: Bool) {
        self.table.forEachLine(width: nil, withHeading: withHeading, self.context.style) {
            self.context.console.write($0)
        }
        self.table.removeRows()
    }
}

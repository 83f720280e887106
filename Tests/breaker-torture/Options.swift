#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the command line asks for.
struct Options: Sendable {
    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    var parts = Part.byDefault
    /// How long each part may take; nil for until its own count is reached.
    var duration: Duration?
    /// What all random choices follow from.
    var seed = UInt64.random(in: 0 ... .max)
    /// The few rounds that the tests run.
    var isShort = false
    /// Some cases, scenes, rounds or file systems alone, as `help` says for each part; nil for all.
    var only: String?
    /// Of the parts `power` and `block`, the syncs that the disk is never told of.
    var without: PowerFault?
    /// Of the part `histories`, what the callers do wrong.
    var planted: HistoryFault?
    /// Folders with libraries of SQLite, one of which each process of `kill` and `stale` loads; none for the usual one.
    var libraries: [String] = []
    /// Goes on after many violations.
    var isPatient = false

    static let help = """
        usage: breaker-torture [--part NAME[,NAME…]] [--duration SECONDS] [--seed N] [--short] [--only TEXT]
               [--without SYNC] [--sqlite FOLDER]… [--patient]
        parts: \(Part.allCases.map(\.rawValue).joined(separator: ", "));
        all of them by default, but for fleet, which needs the trait PostgreSQL

          --duration SECONDS  how long each part may take; by default until its own count is reached
          --seed N            repeats the choices of a run that ended with it
          --short             the few rounds that the tests run
          --only TEXT         the cases of `hostile` alone whose names hold TEXT, as a violation tells them; of `power`
                              one scene: \(PowerPlan.Scene.allCases.map(\.rawValue).joined(separator: ", "));
                              of `counts`: \(Counts.Scene.allCases.map(\.rawValue).joined(separator: ", "));
                              of `fleet` a round or some of them, as 7 or 7-12;
                              of `block` one file system: \(BlockDisk.Kind.allCases.map(\.rawValue).joined(separator: ", "))
          --without SYNC      a disk of `power` that is never told of these syncs, which must be noticed:
                              \(PowerFault.allCases.map(\.rawValue).joined(separator: ", ")); of `block` the first;
                              or callers of `histories` without one of their duties, which must be noticed:
                              \(HistoryFault.allCases.map(\.rawValue).joined(separator: ", "))
          --sqlite FOLDER     of `kill` and `stale`: each process loads the SQLite of this folder, or of one of these
                              folders, in which libsqlite3.so.0 is
          --patient           goes on after twenty violations, and tells all of them

        Says every ten seconds how far it is. Exit code 1: something was violated; 64: wrong usage.
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--short": self.isShort = true
            case "--patient": self.isPatient = true
            case "--only": self.only = try Self.value(of: option, &rest)
            case "--sqlite": self.libraries.append(try Self.library(Self.value(of: option, &rest)))
            case "--without":
                let name = try Self.value(of: option, &rest)
                self.planted = HistoryFault(rawValue: name)
                if self.planted == nil { self.without = try Self.fault(name) }
            case "--part": self.parts = try Self.parts(Self.value(of: option, &rest))
            case "--seed": self.seed = try Self.number(of: option, &rest)
            case "--duration": self.duration = .seconds(Int64(try Self.number(of: option, &rest) as UInt32))
            default: throw Misuse(description: "there is no option '\(option)'")
            }
        }
    }

    private static func parts(_ names: String) throws -> [Part] {
        try names.split(separator: ",").map { name in
            guard let part = Part(rawValue: String(name)) else {
                throw Misuse(description: "there is no part '\(name)'")
            }
            return part
        }
    }

    private static func fault(_ name: String) throws -> PowerFault {
        guard let fault = PowerFault(rawValue: name) else { throw Misuse(description: "there is no fault '\(name)'") }
        return fault
    }

    /// Without the file a process would load the usual library.
    private static func library(_ folder: String) throws -> String {
        guard unsafe access(folder + "/libsqlite3.so.0", R_OK) == 0 else {
            throw Misuse(description: "there is no libsqlite3.so.0 in '\(folder)'")
        }
        return folder
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw Misuse(description: "\(option) needs a value") }
        return value
    }

    private static func number<Number: FixedWidthInteger>(
        of option: String,
        _ rest: inout ArraySlice<String>
    ) throws -> Number {
        let text = try Self.value(of: option, &rest)
        guard let number = Number(text) else { throw Misuse(description: "\(option) '\(text)' is not a number") }
        return number
    }
}

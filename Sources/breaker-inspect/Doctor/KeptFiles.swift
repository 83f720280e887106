import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// In a target with files that do not use `stat`, the compiler believes that this module defines the fields of `stat`.
import SwiftOverlayShims
#endif

/// The files of lost stores beside a database, which services and `set-aside` have moved away: no process deletes them.
struct KeptFiles {
    private struct File {
        let name: String
        /// When it was moved, in Unix time.
        let time: Int64
        let size: Int64
        let isDatabase: Bool
    }

    private static let databaseEnding = ".corrupt-"
    private static let endings =
        [databaseEnding] + ["-wal", "-shm", "-journal"].flatMap { ["\($0).corrupt-", "\($0).stray-"] }

    /// The files, the oldest first.
    private let files: [File]

    init(beside database: String) {
        let slash = database.lastIndex(of: "/")
        let directory = slash.map { String(database[...$0]) } ?? "./"
        let store = slash.map { String(database[database.index(after: $0)...]) } ?? database
        let files = DirectoryListing.names(in: directory).compactMap { name -> File? in
            guard name.utf8.starts(with: store.utf8) else { return nil }
            let rest = String(decoding: name.utf8.dropFirst(store.utf8.count), as: UTF8.self)
            guard let ending = Self.endings.first(where: rest.hasPrefix) else { return nil }
            // A number follows the time where the name was taken.
            let numbers = rest.dropFirst(ending.count).split(separator: "-", omittingEmptySubsequences: false)
            guard numbers.count <= 2, let time = Int64(numbers[0]), time >= 0, Int64(numbers[numbers.count - 1]) != nil
            else { return nil }
            var info = stat()
            guard unsafe lstat(directory + name, &info) == 0 else { return nil }
            return File(name: name, time: time, size: Int64(info.st_size), isDatabase: ending == Self.databaseEnding)
        }
        self.files = files.sorted { ($0.time, $0.name) < ($1.time, $1.name) }
    }

    /// The name of the damaged database that was moved away last.
    var newestDatabase: String? { self.files.last(where: \.isDatabase)?.name.escaped }

    /// How many there are, and what to do with them; nil if there are none.
    ///
    /// - Parameter creation: the finding about a new file; it may say what to do with the files that were moved last.
    func finding(beside creation: Finding?) -> Finding? {
        guard let oldest = self.files.first, let newest = self.files.last else { return nil }
        let isNewestNamed = self.newestDatabase.map { creation?.finding.contains($0) == true } ?? false
        // That finding says already what to do with these files, if all of them were moved at the same time.
        guard !isNewestNamed || oldest.time < newest.time else { return nil }
        let isOne = self.files.count == 1
        let megabytes = (self.files.reduce(0.0) { $0 + Double($1.size) } / 1_000_000).rounded(.up)
        let day = Date(timeIntervalSince1970: Double(oldest.time)).readable.prefix(10)
        return .note(
            "set aside",
            "\(isOne ? "1 file of a lost store" : "\(self.files.count) files of lost stores"), "
                + "\(MetricLines.number(megabytes)) MB; the oldest, of \(day), is \(oldest.name.escaped)",
            "copy what you need from \(isOne ? "it, then delete it" : "them, then delete them")")
    }
}

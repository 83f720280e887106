import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The files of one directory on a disk that may lose its power: what is there for certain, and what is not yet.
///
/// What was written before a sync of its file began is on the disk once that ends. A new name, a renaming and a
/// removal are there once the directory is synced, or, where file systems keep an order, any file after them.
struct PowerDisk {
    private enum NameChange {
        case create(Int64, String)
        case rename(String, String)
        case unlink(String)
    }

    private struct Sync: Hashable {
        let thread: Int32
        let file: Int64
    }

    private var files: [Int64: PowerFile] = [:]
    /// What leads to which file: for certain, and as programs see it.
    private var settledNames: [String: Int64] = [:]
    private var names: [String: Int64] = [:]
    private var pendingNames: [(number: Int, change: NameChange)] = []
    /// Names that were changed before this are there where file systems keep an order.
    private var orderedBefore = 0
    /// When the syncs that have not ended began.
    private var syncs: [Sync: Int] = [:]

    /// What is in a directory before anybody writes there.
    init(_ directory: String) throws {
        for name in Directory.names(in: directory) where !Self.isIndex(name) {
            var info = stat()
            guard unsafe stat("\(directory)/\(name)", &info) == 0, let bytes = FileBytes.read("\(directory)/\(name)")
            else { throw SystemError("read \(name)") }
            self.names[name] = Int64(info.st_ino)
            self.files[Int64(info.st_ino)] = PowerFile(bytes)
        }
        self.settledNames = self.names
    }

    static func isIndex(_ name: String) -> Bool { name.hasSuffix("-shm") || name.contains("-shm.") }

    /// The file that a name leads to now.
    func file(named name: String) -> Int64? { self.names[name] }

    mutating func apply(_ record: PowerRecord, number: Int) {
        switch record.change {
        case .mark: break
        case .write(let file, let offset, let bytes):
            self.files[file, default: PowerFile()].add(.write(offset: offset, bytes), number: number)
        case .resize(let file, let size): self.files[file, default: PowerFile()].add(.resize(size), number: number)
        case .create(let file, let name):
            // The system may give a file's number to another one that is made after it is gone.
            self.files[file] = PowerFile()
            self.change(.create(file, name), number)
        case .rename(let from, let to): self.change(.rename(from, to), number)
        case .unlink(let name): self.change(.unlink(name), number)
        case .syncBegin(let file): self.syncs[Sync(thread: record.thread, file: file)] = number
        case .syncEnd(let file):
            guard let begin = self.syncs.removeValue(forKey: Sync(thread: record.thread, file: file)) else { return }
            self.settle(file, before: begin)
        }
    }

    private mutating func change(_ change: NameChange, _ number: Int) {
        self.pendingNames.append((number, change))
        Self.apply(change, to: &self.names)
    }

    private mutating func settle(_ file: Int64, before number: Int) {
        self.orderedBefore = max(self.orderedBefore, number)
        guard file == PowerRecord.directory else {
            self.files[file]?.settle(before: number)
            return
        }
        let count = self.pendingNames.prefix { $0.number < number }.count
        for (_, change) in self.pendingNames[..<count] { Self.apply(change, to: &self.settledNames) }
        self.pendingNames.removeFirst(count)
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int64]) {
        switch change {
        case .create(let file, let name): names[name] = file
        case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
        case .unlink(let name): names[name] = nil
        }
    }

    // MARK: - What is there

    /// What programs see.
    var current: [String: [UInt8]] { self.names.compactMapValues { self.files[$0]?.current } }

    /// What is there after a cut now.
    func left(by cut: inout PowerCut) -> [String: [UInt8]] {
        let certain = self.pendingNames.prefix { $0.number < self.orderedBefore }.count
        let kept = cut.namesKept(of: self.pendingNames.map(\.number), certain: certain)
        var names = self.settledNames
        // A renaming whose file had no name on the disk before gives it one.
        var sources = self.settledNames
        for (isKept, (_, change)) in zip(kept, self.pendingNames) {
            if isKept {
                switch change {
                case .create(let file, let name): names[name] = file
                case .rename(let from, let to):
                    if names[from] == sources[from] { names[from] = nil }
                    names[to] = sources[from]
                case .unlink(let name):
                    if names[name] == sources[name] { names[name] = nil }
                }
            }
            Self.apply(change, to: &sources)
        }
        var left: [String: [UInt8]] = [:]
        // In one order, for the cut's choices follow from a seed.
        for (name, file) in names.sorted(by: { $0.key < $1.key }) { left[name] = self.files[file]?.left(by: &cut) }
        if let index = cut.indexLeft(), left["a.db"] != nil { left["a.db-shm"] = index }
        return left
    }
}

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

/// Sets a store's broken file aside, so that a new one can take its place; the old bytes are kept.
///
/// The caller holds the guard, and has no connection open.
struct Quarantine {
    let file: StoreFile
    let wallTime: Date

    /// Renames the database, then its log, then the index; returns the new name of the first, or nil if another file
    /// has come to its place.
    ///
    /// In this order: a log without its database is moved aside by whoever creates the next one. A whole file that
    /// somebody puts back meanwhile keeps its name, and its log.
    ///
    /// - Parameter broken: what was looked through.
    func setAside(_ broken: FileIdentity) throws(BreakerStoreError) -> String? {
        Hook.reached("quarantine.begin")
        let kept = try self.file.path.movedAside(as: "corrupt", at: self.wallTime)
        guard broken.hasDatabase(at: kept) else {
            kept.giveBack(as: self.file.path)
            return nil
        }
        Hook.reached("quarantine.database")
        var sides: [(kept: String, name: String)] = []
        for side in [self.file.log, self.file.index] where StoreFile.size(side) != nil {
            guard StoreFile.size(self.file.path) == nil else { break }
            sides.append((kept: try side.movedAside(as: "corrupt", at: self.wallTime), name: side))
            Hook.reached("quarantine.side")
        }
        if StoreFile.size(self.file.path) != nil { for side in sides { side.kept.giveBack(as: side.name) } }
        // After a power cut the next store's files must not lie beside the broken one's.
        self.file.syncDirectory()
        Hook.reached("quarantine.done")
        return kept
    }
}

extension String {
    /// Gives the file at this path another name beside it, and returns that.
    func movedAside(as word: String, at time: Date) throws(BreakerStoreError) -> String {
        let stem = "\(self).\(word)-\(Int64(time.timeIntervalSince1970))"
        var target = stem
        var number = 1
        while StoreFile.size(target) != nil {
            target = "\(stem)-\(number)"
            number += 1
        }
        guard unsafe rename(self, target) == 0 else {
            throw BreakerStoreError(systemError: errno, doing: "move aside", path: self)
        }
        return target
    }

    /// Gives the file at this path the name back that it had, unless another file has that name now.
    func giveBack(as name: String) {
        if StoreFile.size(name) == nil { _ = unsafe rename(self, name) }
    }
}

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

/// A file that this process has renamed within its directory.
struct MovedFile {
    let name: String
    /// The file's new name.
    let kept: String

    /// Renames the file at `name`; the new name ends with the word and the time.
    init(_ name: String, as word: String, at time: Date) throws(BreakerStoreError) {
        let stem = "\(name).\(word)-\(Int64(saturating: time.timeIntervalSince1970))"
        var kept = stem
        var number = 1
        while StoreFile.size(kept) != nil {
            kept = "\(stem)-\(number)"
            number += 1
        }
        guard unsafe rename(name, kept) == 0 else {
            throw BreakerStoreError(systemError: errno, doing: "move aside", path: name)
        }
        (self.name, self.kept) = (name, kept)
    }

    /// Renames the file back, unless another file has the old name now.
    func giveBack() {
        if StoreFile.size(self.name) == nil { _ = unsafe rename(self.kept, self.name) }
    }
}

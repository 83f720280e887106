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
    let oldName: String
    let newName: String

    /// Renames the file at `name`; the new name ends with the suffix and the time.
    init(_ name: String, as suffix: String, at time: Date) throws(BreakerStoreError) {
        let stem = "\(name).\(suffix)-\(Int64(saturating: time.timeIntervalSince1970))"
        var newName = stem
        var number = 1
        while StoreFile.size(newName) != nil {
            newName = "\(stem)-\(number)"
            number += 1
        }
        guard unsafe rename(name, newName) == 0 else {
            throw BreakerStoreError(systemError: errno, doing: "move aside", path: name)
        }
        (self.oldName, self.newName) = (name, newName)
    }

    /// Renames the file back, unless another file has the old name now.
    func putBack() {
        if StoreFile.size(self.oldName) == nil { _ = unsafe rename(self.newName, self.oldName) }
    }
}

import BreakerStore

@testable import BreakerStore

/// The lock file's few bytes.
struct LockTarget: Target {
    private let scratch: Scratch
    private let path: String

    init(_ scratch: Scratch) {
        self.scratch = scratch
        self.path = scratch.store + "-lock"
    }

    func feed(_ bytes: [UInt8]) throws {
        try self.scratch.place(["-lock": bytes])
        let isWhole = bytes == LockFile.magic
        try require(LockFile.exists(at: self.path) == isWhole, "exists is \(!isWhole)")
        try self.scratch.requireUntouched(["-lock": bytes])
        // Its creation may have been cut short, by a power cut too: that may leave the size without the bytes.
        let isEmptied = bytes.count <= LockFile.magic.count && bytes.allSatisfy { $0 == 0 }
        let isOurs = LockFile.magic.starts(with: bytes) || isEmptied
        do {
            let lock = try LockFile(path: self.path, creatingWith: nil, owner: nil)
            try require(isOurs, "a stranger's file was opened")
            try require(lock.isInPlace, "the file is not in place")
            let deadline = Deadline(after: .seconds(1))
            try lock.withSetupLock(until: deadline) { () throws(BreakerStoreError) in }
        } catch let error as BreakerStoreError {
            try require(!isOurs && error.code == .unsafePath, "it was refused: \(error)")
        }
        try self.scratch.requireUntouched(["-lock": isOurs ? LockFile.magic : bytes])
    }

    var seeds: [[UInt8]] {
        let magic = LockFile.magic
        let zeros = [UInt8](repeating: 0, count: magic.count)
        return [
            [], Array(magic.prefix(1)), magic, Array(magic.dropLast()), magic + [0], zeros, zeros + [0],
            Array("SQLite".utf8),
        ]
    }
}

import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Whole files as arrays of bytes; for files that nobody in this process has open.
enum FileBytes {
    /// Nil if there is no such file.
    ///
    /// - Parameter most: how many bytes at most.
    static func read(_ path: String, atMost most: Int = .max) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let size = min(most, Int(lseek(descriptor, 0, SEEK_END)))
        guard size > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        return unsafe pread(descriptor, &bytes, size, 0) == size ? bytes : nil
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("create \(path)") }
        defer { close(descriptor) }
        guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw SystemError("write \(path)")
        }
    }

    /// Makes the file's bytes these, in place: whoever has it open or mapped has them at once.
    ///
    /// What is the same already is not written again: others may be writing there.
    static func overwrite(_ path: String, from old: [UInt8], to new: [UInt8]) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open \(path)") }
        defer { close(descriptor) }
        if new.count < old.count { ftruncate(descriptor, off_t(new.count)) }
        let common = min(old.count, new.count)
        guard let first = (0..<common).first(where: { old[$0] != new[$0] }),
            let last = (0..<common).last(where: { old[$0] != new[$0] })
        else { return }
        let part = Array(new[first...last])
        guard unsafe pwrite(descriptor, part, part.count, off_t(first)) == part.count else {
            throw SystemError("write \(path)")
        }
    }

    static func areEqual(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        guard left.count == right.count else { return false }
        return unsafe memcmp(left, right, left.count) == 0
    }
}

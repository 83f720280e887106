/// What a store may do to its file.
public enum Access: Sendable, Hashable {
    /// It creates a missing file, and reads and writes.
    case readWrite
    /// It reads and writes a file that exists, and never creates one.
    case existing
    /// It changes nothing on disk.
    case readOnly
}

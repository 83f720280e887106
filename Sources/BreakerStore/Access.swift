/// What a store may do to its file.
public enum Access: Sendable, Hashable {
    /// The store creates a missing file, and reads and writes.
    case readWrite
    /// The store reads and writes a file that exists, and never creates a file.
    case existing
    /// The store changes nothing on disk.
    case readOnly
}

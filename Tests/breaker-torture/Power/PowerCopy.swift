/// What is on a copy of a disk that was taken while processes wrote to it.
struct PowerCopy {
    /// Where it is mounted, and the files that are there.
    let directory: String
    let files: [String: [UInt8]]
    /// So many records there were for certain when the copy was begun, and so many at most when it was taken.
    let begun: Int
    let ended: Int
}

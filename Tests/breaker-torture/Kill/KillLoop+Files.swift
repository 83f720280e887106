import BreakerTestSupport

extension KillLoop {
    /// The files of a store that nobody has open.
    enum Files {
        /// Whether one of the files that were set aside has these bytes.
        static func isKept(_ bytes: [UInt8], besides path: String) -> Bool {
            self.names(besides: path).contains { $0.contains(".corrupt-") && FileBytes.read($0) == bytes }
        }

        /// The files whose paths begin like the database's.
        static func names(besides path: String) -> [String] {
            let end = path.lastIndex(of: "/") ?? path.startIndex
            return Directory.names(in: String(path[..<end])).map { "\(path[..<end])/\($0)" }
        }
    }
}

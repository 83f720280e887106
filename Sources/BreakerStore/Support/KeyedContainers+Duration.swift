extension KeyedEncodingContainer {
    /// Writes whole microseconds, not Swift's two-integer form of a duration, which no other language reads.
    mutating func encode(microsecondsOf duration: Duration, forKey key: Key) throws {
        guard let microseconds = duration.wholeMicroseconds else {
            let context = EncodingError.Context(
                codingPath: self.codingPath + [key], debugDescription: "\(duration.readable) overflows microseconds")
            throw EncodingError.invalidValue(duration, context)
        }
        try self.encode(microseconds, forKey: key)
    }
}

extension KeyedDecodingContainer {
    func decodeMicroseconds(forKey key: Key) throws -> Duration {
        Duration(wholeMicroseconds: try self.decode(Int64.self, forKey: key))
    }

    func decodeMicrosecondsIfPresent(forKey key: Key) throws -> Duration? {
        try self.decodeIfPresent(Int64.self, forKey: key).map { Duration(wholeMicroseconds: $0) }
    }
}

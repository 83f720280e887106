/// An FNV-1a hash (http://www.isthe.com/chongo/tech/comp/fnv/), which programs in any language can easily compute, too.
package struct Fingerprint: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(byte: UInt8) { self.value = (self.value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    package mutating func add(bytesOf text: String) { for byte in text.utf8 { self.add(byte: byte) } }

    /// Adds the number's bytes, the lowest first.
    mutating func add(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { self.add(byte: UInt8(truncatingIfNeeded: number >> shift)) }
    }
}

import Foundation

@testable import BreakerStore

/// What can be decoded from JSON.
struct ConfigTarget: Target {
    func feed(_ bytes: [UInt8]) throws {
        let data = Data(bytes)
        try Self.check(CircuitBreaker.Config.self, data) { (value) throws(BreakerStoreError) in try value.validate() }
        try Self.check(TripRule.self, data) { (value) throws(BreakerStoreError) in try value.validate() }
        try Self.check(RecoveryRule.self, data) { (value) throws(BreakerStoreError) in try value.validate() }
        try Self.check(ProbeRule.self, data) { (value) throws(BreakerStoreError) in try value.validate() }
        try Self.check(HoldState.self, data) { _ in }
        try Self.check(RefusalCause.self, data) { _ in }
        try Self.check(CircuitEvent.Kind.self, data) { _ in }
    }

    /// What decodes is valid or says what is not; what is valid can be written, and is read back as itself.
    private static func check<Value: Codable & Equatable>(
        _ type: Value.Type, _ data: Data, validate: (Value) throws(BreakerStoreError) -> Void
    ) throws {
        let value: Value
        do {
            value = try JSONDecoder().decode(type, from: data)
        } catch is DecodingError {
            return
        }
        var isValid = true
        do throws(BreakerStoreError) {
            try validate(value)
        } catch {
            try require(error.code == .invalidConfiguration, "\(type) is called \(error)")
            isValid = false
        }
        let written: Data
        do {
            written = try JSONEncoder().encode(value)
        } catch let error as EncodingError {
            try require(!isValid, "a valid \(type) can't be written: \(error)")
            return
        }
        let again = try JSONDecoder().decode(type, from: written)
        try require(again == value, "\(value) is read back as \(again)")
    }

    var seeds: [[UInt8]] {
        [
            #"{"name":"a"}"#,
            #"{"minimumReporters":1,"name":"a","probes":{"leaseMicroseconds":30000000,"limit":1,"successesToClose":1},"#
                + #""recovery":{"capMicroseconds":600000000,"jitter":0.5,"multiplier":1e3,"timeoutMicroseconds":3},"#
                + #""trip":{"count":5,"rule":"failures","windowMicroseconds":60000000},"group":"shop"}"#,
            #"{"name":"\ud83d\ude00","trip":{"count":7,"rule":"consecutiveFailures"}}"#,
            #"{"rule":"failures","count":1,"windowMicroseconds":9223372036854775807}"#,
            #"{"timeoutMicroseconds":-1,"multiplier":1.5e308,"capMicroseconds":null,"jitter":1}"#,
            #"{"limit":1,"successesToClose":2,"leaseMicroseconds":3}"#,
            #""open""#, #""probing""#, #""quarantined""#, #"{"name":1,"trip":[]}"#,
        ].map { Array($0.utf8) }
    }
}

import BreakerStore
import Testing

@testable import breaker_inspect

/// Permits as texts, which may come from anyone.
@Suite struct PermitTextTests {
    private static let holder = RunningProcess(pid: 123, start: 456)

    private static func permit(
        _ circuit: String = "pay ments.é%", _ source: PortablePermit.Source = .probe
    ) -> PermitText {
        let isProbe = source == .probe
        return PermitText(
            circuit: circuit,
            permit: PortablePermit(
                source: source, epoch: -5, token: isProbe ? 77 : 0, incarnation: .min, boot: .max, began: 9,
                reportKey: .max),
            holder: self.holder, keeper: isProbe ? RunningProcess(pid: 789, start: 1_011) : nil)
    }

    @Test(arguments: PortablePermit.Source.allCases) func aPermitIsReadAsItWasPrinted(
        source: PortablePermit.Source
    ) throws {
        for name in ["a", "pay ments.é%", String(repeating: "\u{1F600}", count: 200), "'\"$(reboot)`\n"] {
            let permit = Self.permit(name, source)
            #expect(try PermitText(permit.text) == permit)
            #expect(permit.text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
            #expect(permit.text.utf8.count <= PermitText.maxLength)
        }
        #expect(Self.permit().text.hasPrefix("permit1.probe.pay%20ments%2E%C3%A9%25.-5.77."))
    }

    static let hostile: [(text: String, problem: String)] = [
        ("", "it is empty"), (String(repeating: "x", count: 4_097), "it is longer than 4096"),
        ("permit1.closed.a b.1.0.1.1.1.1.1.1.0.0.0", "characters that no permit has"),
        ("permit1.closed.é.1.0.1.1.1.1.1.1.0.0.0", "characters that no permit has"),
        ("permit1.closed.a\u{0}.1.0.1.1.1.1.1.1.0.0.0", "characters that no permit has"),
        ("hello", "it does not begin with"), ("permit2.closed.a", "its version is not known"),
        ("permit1", "it has 1 parts"), ("permit1.closed.a.1.0.1.1.1.1.1.1.0", "it has 12 parts"),
        ("permit1.closed.a.1.0.1.1.1.1.1.1.0.0.0.0", "it has 15 parts"),
        ("permit1.opened.a.1.0.1.1.1.1.1.1.0.0.0", "its kind 'opened' is not known"),
        ("permit1.closed..1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.%.1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.%4.1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.%c3%a9.1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.%FF.1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.a/b.1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.%61.1.0.1.1.1.1.1.1.0.0.0", "its checksum is wrong"),
        ("permit1.closed.\(String(repeating: "a", count: 201)).1.0.1.1.1.1.1.1.0.0.0", "its circuit has no valid name"),
        ("permit1.closed.a.x.0.1.1.1.1.1.1.0.0.0", "'x' is not a number"),
        ("permit1.closed.a.01.0.1.1.1.1.1.1.0.0.0", "'01' is not a number"),
        ("permit1.closed.a.+1.0.1.1.1.1.1.1.0.0.0", "'+1' is not a number"),
        ("permit1.closed.a.9223372036854775808.0.1.1.1.1.1.1.0.0.0", "is not a number"),
        ("permit1.closed.a.1.0.1.4294967296.1.1.1.1.0.0.0", "out of range"),
        ("permit1.closed.a.1.0.1.-1.1.1.1.1.0.0.0", "out of range"),
        ("permit1.closed.a.1.0.1.1.-1.1.1.1.0.0.0", "out of range"),
        ("permit1.closed.a.1.0.1.1.1.-1.1.1.0.0.0", "out of range"),
        ("permit1.closed.a.1.0.1.1.1.1.0.1.0.0.0", "its holder is not a process"),
        ("permit1.closed.a.1.0.1.1.1.1.-1.1.0.0.0", "its holder is not a process"),
        ("permit1.closed.a.1.0.1.1.1.1.4294967297.1.0.0.0", "its holder is not a process"),
        ("permit1.closed.a.1.0.1.1.1.1.1.-1.0.0.0", "its holder is not a process"),
        ("permit1.closed.a.1.0.1.1.1.1.1.9223372036854775807.0.0.0", "its holder is not a process"),
        ("permit1.probe.a.1.5.1.1.1.1.1.1.0.0.0", "its keeper is not a process"),
        ("permit1.probe.a.1.5.1.1.1.1.1.1.-9.1.0", "its keeper is not a process"),
        ("permit1.probe.a.1.-5.1.1.1.1.1.1.9.1.0", "out of range"),
        ("permit1.closed.a.1.0.1.1.1.1.1.1.9.0.0", "only a probe has a token and a keeper"),
        ("permit1.closed.a.1.5.1.1.1.1.1.1.0.0.0", "only a probe has a token and a keeper"),
    ]

    @Test(arguments: Self.hostile) func aHostileTextIsNoPermit(text: String, problem: String) throws {
        let error = #expect(throws: PermitText.Malformed.self) { try PermitText(text) }
        #expect(error?.problem.contains(problem) ?? false, "\(error?.problem ?? "none")")
    }

    /// No text that is one byte away from a permit is one, and no beginning of one.
    @Test func aChangedPermitIsNone() throws {
        let permit = Self.permit("a.b")
        let bytes = Array(permit.text.utf8)
        for index in bytes.indices {
            for byte in UInt8(0x20)...0x7F where byte != bytes[index] {
                var other = bytes
                other[index] = byte
                let text = String(decoding: other, as: UTF8.self)
                #expect((try? PermitText(text)) == nil, "\(text)")
            }
            #expect(throws: PermitText.Malformed.self) {
                try PermitText(String(decoding: bytes[..<index], as: UTF8.self))
            }
        }
    }

    @Test func outcomesAreWords() throws {
        func verdict(_ text: String, mayBeIgnored: Bool = true) throws -> Verdict {
            try OutcomeText.verdict(text, mayBeIgnored: mayBeIgnored, verb: "finish")
        }
        #expect(try verdict("success") == .success)
        #expect(try verdict("failure") == .failure)
        #expect(try verdict("ignored") == .ignored)
        #expect(try verdict("outage") == .outage(for: nil))
        #expect(try verdict("outage=1.5m") == .outage(for: .seconds(90)))
        #expect(try verdict("outage=30") == .outage(for: .seconds(30)))
        #expect(try verdict("outage=") == .outage(for: nil))
        #expect(try verdict("outage=0") == .outage(for: .zero))
        #expect(try verdict("outage=0s") == .outage(for: .zero))
        #expect(try verdict("outage=Thu, 01 Jan 1970 00:00:00 GMT") == .outage(for: .zero))
        #expect(try verdict("outage=99999999999h") == .outage(for: .seconds(100 * 365 * 86_400)))
        for text in ["", "Success", "outage=soon", "outage=-1s", "outage=1e9d", "failure=3s"] {
            #expect(throws: (any Error).self) { try verdict(text) }
        }
        #expect(throws: (any Error).self) { try verdict("ignored", mayBeIgnored: false) }
    }
}

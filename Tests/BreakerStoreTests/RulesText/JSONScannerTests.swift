import BreakerTestSupport
import Testing

@testable import BreakerStore

@Suite(.timeLimit(.minutes(10))) struct JSONScannerTests {
    @Test(arguments: ScannerCase.all) func readsWhatIsGood(scanned: ScannerCase) {
        #expect(Self.error(of: scanned.text)?.description == scanned.error)
    }

    @Test func readsWhatPythonReads() async throws {
        let python = try PythonJSON()
        defer { python.clear() }
        for scanned in ScannerCase.all {
            let expected = try await python.meaning(of: scanned.text)
            switch scanned.readers {
            case .both:
                let value = try JSONScanner.value(of: scanned.text)
                #expect(value.meaning == expected, "\(scanned)")
            case .python: #expect(expected != nil && Self.error(of: scanned.text) != nil, "\(scanned)")
            case .nobody: #expect(expected == nil && Self.error(of: scanned.text) != nil, "\(scanned)")
            }
        }
    }

    /// Changed texts: what the scanner reads, Python reads as the same value; what Python alone reads has a reason.
    @Test func readsChangedTextsAsPythonDoes() async throws {
        let python = try PythonJSON()
        defer { python.clear() }
        let reasons = ["second time", "surrogate", "inside each other", "beyond the limit"]
        var random = SplitMix64(seed: 52)
        let short = ScannerCase.all.map(\.text).filter { $0.count < 200 }
        let pieces = Array(#"{}[]:,"\ue0123456789.-+Etrufalsn"#.utf8) + [0x20, 0x0A, 0x00, 0x80, 0xC3, 0xA9, 0xFF]
        var readers = (both: 0, python: 0, nobody: 0)
        for _ in 0..<4_000 {
            var text = random.pick(short) ?? []
            for _ in 0...random.number(in: 0...2) {
                let place = random.number(in: 0...text.count)
                let end = min(text.count, place + random.number(in: 0...1))
                let other = random.chance(10) ? random.pick(short) ?? [] : random.pick(pieces).map { [$0] } ?? []
                text.replaceSubrange(place..<end, with: random.chance(80) ? other : [])
            }
            let expected = try await python.meaning(of: text)
            do throws(JSONTextError) {
                let value = try JSONScanner.value(of: text)
                #expect(value.meaning == expected, "\(text.hex)")
                readers.both += 1
            } catch {
                guard expected != nil else {
                    readers.nobody += 1
                    continue
                }
                readers.python += 1
                let isWordOfJavaScript = ["NaN", "Infinity"].contains { text[error.byte...].starts(with: $0.utf8) }
                #expect(
                    isWordOfJavaScript || reasons.contains { error.problem.contains($0) }, "\(text.hex): \(error)")
            }
        }
        #expect(readers.both > 200 && readers.nobody > 200 && readers.python > 20, "\(readers)")
    }

    @Test func keepsNumbersAsTheyWereWritten() throws {
        let value = try JSONScanner.value(of: Array("[1.50, 9223372036854775808 ,-9223372036854775808,1e0]".utf8))
        guard case .array(let values) = value.kind else {
            Issue.record("no list: \(value.description)")
            return
        }
        #expect(
            values.map { String(decoding: $0.text, as: UTF8.self) } == [
                "1.50", "9223372036854775808", "-9223372036854775808", "1e0",
            ])
        #expect(values.map(\.integer) == [nil, nil, .min, nil])
        #expect(values.map(\.number) == [1.5, 0x1p63, -0x1p63, 1])
    }

    /// A long key is cut, and its control characters are spelled out, where people read about it.
    @Test func errorsAreShortLines() throws {
        let key = String(repeating: #"\n"#, count: 900)
        let error = try #require(Self.error(of: Array("{\"\(key)\":1,\"\(key)\":2}".utf8)))
        #expect(error.problem.utf8.count < 4_096 && !error.problem.contains("\n"))
        #expect(error.byte == 1_806)
    }

    private static func error(of text: [UInt8]) -> JSONTextError? {
        do throws(JSONTextError) {
            _ = try JSONScanner.value(of: text)
            return nil
        } catch {
            return error
        }
    }
}

extension ScannedValue {
    /// The value as the script of `PythonJSON` writes it.
    fileprivate var meaning: String {
        switch self.kind {
        case .object(let members):
            "{" + members.map { "\($0.key.hex):\($0.value.meaning)" }.sorted().joined(separator: ",") + "}"
        case .array(let values): "[" + values.map(\.meaning).joined(separator: ",") + "]"
        case .string(let bytes): "s" + bytes.hex
        case .number: self.meaningOfNumber
        case .boolean(let isTrue): "\(isTrue)"
        case .null: "null"
        }
    }

    private var meaningOfNumber: String {
        let text = String(decoding: self.text, as: UTF8.self)
        guard text.contains(where: { ".eE".contains($0) }) else { return "i" + (text == "-0" ? "0" : text) }
        let bits = String(self.number?.bitPattern ?? 0, radix: 16)
        return "d" + String(repeating: "0", count: 16 - bits.count) + bits
    }
}

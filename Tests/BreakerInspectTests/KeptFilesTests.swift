import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// Files that services have moved away, which nobody deletes.
@Suite(.timeLimit(.minutes(10))) struct KeptFilesTests {
    private static func sentence(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }

    @Test func areCountedWithTheirSizeAndTheOldest() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(!shop.inspect("doctor").output.contains("set aside"))
        // Those of another store, and what is no file of a lost store.
        let others = ["db2.corrupt-7", "db.corrupt-old", "db.corrupt-", "db.corrupt-7-x", "db.stray-7"]
        for name in others {
            try Data("x".utf8).write(to: shop.directory.appendingPathComponent("shop.\(name)"))
        }
        #expect(!shop.inspect("doctor").output.contains("set aside"))

        let kept = ["shop.db.corrupt-1795754774", "shop.db-wal.corrupt-1795754774", "shop.db-shm.stray-1795754773-2"]
        for name in kept {
            try Data(repeating: 0, count: 700_000).write(to: shop.directory.appendingPathComponent(name))
        }
        let (code, output, _) = shop.inspect("doctor")
        #expect(code == .done)
        let note =
            "set aside  note   3 files of lost stores, 3 MB; the oldest, of 2026-11-27, is "
            + "shop.db-shm.stray-1795754773-2\n"
        #expect(output.contains(note), "\(output)")
        #expect(output.contains("-> copy what you need from them, then delete them\n"), "\(output)")

        for name in kept.dropFirst() { try FileManager.default.removeItem(atPath: "\(shop.directory.path)/\(name)") }
        let one = shop.inspect("doctor").output
        #expect(one.contains("1 file of a lost store, 1 MB; the oldest, of "), "\(one)")

        // Of a store that is gone, too.
        shop.store.close()
        try FileManager.default.removeItem(atPath: shop.path)
        let (missing, findings, _) = shop.inspect("doctor")
        #expect(missing == .failed)
        #expect(findings.contains("1 file of a lost store, 1 MB"), "\(findings)")
    }

    /// The file is overwritten while a service has it open, which moves it away and makes a new one.
    @Test func theNewFileNamesTheOldOne() async throws {
        let shop = try Shop()
        let breaker = try shop.circuit("a")
        try await shop.store.hold("a", .open, by: "ann")
        #expect(!breaker.isCallPermitted)
        for ending in ["", "-wal"] {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: shop.path + ending))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 20_000))
            try file.close()
        }
        let end = ContinuousClock.now + .hangLimit
        while !shop.inspect("history").output.contains("created"), ContinuousClock.now < end {
            try? await shop.store.release("b")
            try await Task.sleep(for: .milliseconds(20))
        }
        let names = Directory.names(in: shop.directory.path)
        let kept = try #require(names.first { $0.hasPrefix("shop.db.corrupt-") }, "\(names)")
        let text = Self.sentence(shop.inspect("doctor").output)
        #expect(text.contains(" in place of a damaged file. 1 hold was restored by live workers; "), "\(text)")
        #expect(text.contains("; the old file is kept as \(kept) -> "), "\(text)")
        #expect(text.contains("; then delete the kept files; "), "\(text)")
        // Until there are others, this says all about them.
        #expect(!text.contains("set aside"), "\(text)")
        let older = shop.directory.appendingPathComponent("shop.db.corrupt-7")
        try Data("x".utf8).write(to: older)
        let two = Self.sentence(shop.inspect("doctor").output)
        #expect(two.contains("the oldest, of 1970-01-01, is shop.db.corrupt-7 "), "\(two)")
        try FileManager.default.removeItem(at: older)
        try FileManager.default.removeItem(atPath: "\(shop.directory.path)/\(kept)")
        let later = Self.sentence(shop.inspect("doctor").output)
        #expect(later.contains(" in place of a damaged file. ") && !later.contains("delete the kept files"), "\(later)")
    }
}

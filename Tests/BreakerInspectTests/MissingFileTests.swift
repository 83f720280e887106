import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What the doctor says where there is no store.
@Suite(.timeLimit(.minutes(10))) struct MissingFileTests {
    private static let advice = "name the services' path in --store or BREAKER_STORE"

    static let cases: [(line: String, code: Int32, told: [String])] = [
        (
            "BREAKER_STORE=$D/braker.db \"$0\" doctor", 1,
            [
                "file       wrong  there is no '$D/braker.db', which BREAKER_STORE names\n", Self.advice,
                "directory  note   '$D' is there: 0755 of user ", "; it holds 'shop.db'\n",
                "user       note   you are ", "\n1 problem\n",
            ]
        ),
        (
            "\"$0\" doctor --store $D/no/where/shop.db", 1,
            [
                "file       wrong  there is no '$D/no/where/shop.db', which --store names\n",
                "directory  wrong  there is no '$D/no/where'; the path exists up to '$D'\n",
                "-> no service makes it: create it",
                "\n2 problems\n",
            ]
        ),
        (
            "cd $D/empty && \"$0\" doctor --store shop.db", 1,
            [
                "there is no 'shop.db', as seen from '$D/empty', which --store names\n",
                "directory  note   '.' is there: 0755", "; it holds no store\n",
            ]
        ),
        (
            "touch $D/new.db; \"$0\" doctor --store $D/new.db", 1,
            ["file       wrong  '$D/new.db', named by --store, holds no store yet\n"]
        ),
    ]

    @Test(arguments: Self.cases)
    func saysWhatToRead(line: String, code: Int32, told: [String]) throws {
        let shop = try Shop(clock: SystemHostClock())
        try FileManager.default.createDirectory(
            at: shop.directory.appendingPathComponent("empty"), withIntermediateDirectories: true)
        let result = try Child.shell(
            "umask 022; chmod 755 $D $D/empty; \(line)".replacing("$D", with: shop.directory.path), store: "")
        #expect(result.code == code)
        #expect(result.talk.isEmpty)
        for text in told {
            #expect(result.output.contains(text.replacing("$D", with: shop.directory.path)), "\(result.output)")
        }
    }

    @Test func showsItInJSON() throws {
        let shop = try Shop()
        let console = RecordingConsole()
        let code = run(arguments: ["doctor", "--json", "--store", "\(shop.path)x"], environment: [:], console: console)
        #expect(code == .failed)
        #expect(try SchemaTests.schema().complaints(about: console.output, as: "doctor") == [])
        #expect(console.output.contains(#""isHealthy":false"#))
    }
}

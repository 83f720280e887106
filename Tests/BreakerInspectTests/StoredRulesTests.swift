import BreakerStore
import BreakerTestSupport
import BreakerTool
import Testing

@testable import breaker_inspect

/// What the tool says of rules that this release does not know or can't read, and of a file of an older schema.
@Suite(.timeLimit(.minutes(10))) struct StoredRulesTests {
    private func shop(_ rules: String) throws -> Shop {
        let shop = try Shop()
        try shop.circuit("a", failures: 1)
        try shop.circuit("b")
        shop.store.close()
        try Shop.sqlite(shop.path, "UPDATE circuit SET rules = \(rules) WHERE name = 'a'")
        return shop
    }

    @Test(arguments: [
        ("rules", nil, ExitCode.done),
        (
            "json_set(rules, '$.recovery.growth', 2, '$.limit', json('[1,{}]'))",
            "note   a later release has registered members that this one does not know, and keeps: a (limit, "
                + "recovery.growth)", .done
        ),
        (
            "json_set(rules, '$.!limit', 2)",
            "note   a later release has registered rules that release \(Versions.library) can't use: a (the member "
                + "'!limit'); workers of release \(Versions.library) use the rules that they have registered themselves",
            .done
        ),
        (
            "'{'",
            "wrong  the stored rules can't be read: a (the text ends; expected a key in quotation marks at byte 1); state "
                + "and hold stay, and each worker uses the rules that it has registered", .failed
        ),
    ])
    func theDoctorNamesThem(rules: String, finding: String?, code: ExitCode) throws {
        let shop = try self.shop(rules)
        let doctor = shop.inspect("doctor")
        #expect(doctor.code == code, "\(doctor)")
        let line = doctor.output.split(separator: "\n").first { $0.hasPrefix("rules") }
        #expect(
            line.map { String($0.dropFirst("rules".count)).trimmingPrefix { $0 == " " } } == finding.map { $0[...] })
    }

    @Test func showHasThemAsTheyAreStored() throws {
        let shop = try self.shop("json_set(rules, '$.recovery.growth', 2.5, '$.limit', json('[1,{}]'))")
        let output = shop.inspect("show", "a", "--json").output
        #expect(try SchemaTests.schema().complaints(about: output, as: "show") == [])
        let rules = #"""
            "rules":{"limit":[1,{}],"minimumReporters":1,"probes":{"leaseMicroseconds":30000000,"limit":1,\#
            "successesToClose":1},"recovery":{"capMicroseconds":600000000,"growth":2.5,"jitter":0,\#
            "multiplier":1,"timeoutMicroseconds":30000000},"trip":{"count":2,"rule":"failures",\#
            "windowMicroseconds":60000000}}
            """#
        #expect(output.contains(rules), "\(output)")
    }

    /// A circuit whose rules can't be read is listed with its state, and says so.
    @Test func unreadableRulesHideNothing() throws {
        let shop = try self.shop("'{'")
        let output = shop.inspect("show", "a", "--json").output
        #expect(try SchemaTests.schema().complaints(about: output, as: "show") == [])
        #expect(output.contains(#""rules":null"#) && output.contains(#""state":"closed""#), "\(output)")
        #expect(shop.inspect("list").output.contains("\na "))
        #expect(shop.inspect("show", "a").output.contains("rules that can't be read"))
    }

    /// Only workers of the release before live: the tool reads their file, migrates nothing, and calls nobody outside.
    @Test(arguments: ["2.0", "2.1"]) func readsAnOlderFile(version: String) throws {
        let shop = try Shop(of: version)
        let list = shop.inspect("list", "--json")
        #expect(list.code == .done && list.output.contains(#""name":"watched-rate""#), "\(list)")
        #expect(try SchemaTests.schema().complaints(about: list.output, as: "list") == [])
        let show = shop.inspect("show", "rate", "--json")
        #expect(show.code == .done && show.output.contains(#""rule":"failureRate","share":0.3,"#), "\(show)")
        #expect(try SchemaTests.schema().complaints(about: show.output, as: "show") == [])
        let doctor = shop.inspect("doctor").output
        #expect(
            doctor.contains(
                "schema     note   \(version), this tool knows \(Versions.schema)"), "\(doctor)")
        #expect(!doctor.contains("cannot use this file"))
    }
}

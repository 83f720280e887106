import Testing

@testable import BreakerStore

@Suite struct StoreConfigurationTests {
    typealias Case = FieldCase<CircuitStore.Configuration>

    static let cases: [Case] = [
        Case("defaults") { _ in },
        Case("busyTimeout of 1 µs") { $0.busyTimeout = .microseconds(1) },
        Case("busyTimeout of 1 h") { $0.busyTimeout = .seconds(3_600) },
        Case("busyTimeout of 0", refused: "busyTimeout") { $0.busyTimeout = .zero },
        Case("busyTimeout negative", refused: "busyTimeout") { $0.busyTimeout = .seconds(-1) },
        Case("busyTimeout above 1 h", refused: "busyTimeout") { $0.busyTimeout = .seconds(3_601) },
        Case("mode 0o600") { $0.fileMode = 0o600 },
        Case("mode 0o664") { $0.fileMode = 0o664 },
        Case("mode 0o777") { $0.fileMode = 0o777 },
        Case("mode 0o400", refused: "fileMode") { $0.fileMode = 0o400 },
        Case("mode 0o200", refused: "fileMode") { $0.fileMode = 0o200 },
        Case("mode 0", refused: "fileMode") { $0.fileMode = 0 },
        Case("mode 0o1600", refused: "fileMode") { $0.fileMode = 0o1600 },
        Case("1 event") { $0.eventsKept = 1 },
        Case("1,000,000 events") { $0.eventsKept = 1_000_000 },
        Case("0 events", refused: "eventsKept") { $0.eventsKept = 0 },
        Case("1,000,001 events", refused: "eventsKept") { $0.eventsKept = 1_000_001 },
        Case("forgetIdleAfter of a day") { $0.forgetIdleAfter = .seconds(86_400) },
        Case("forgetIdleAfter of 0", refused: "forgetIdleAfter") { $0.forgetIdleAfter = .zero },
        Case("forgetIdleAfter overflowing", refused: "forgetIdleAfter") {
            $0.forgetIdleAfter = Duration(attoseconds: .max)
        },
        Case("workerName of 200") { $0.workerName = String(repeating: "w", count: 200) },
        Case("workerName empty", refused: "workerName") { $0.workerName = "" },
        Case("workerName of 201", refused: "workerName") { $0.workerName = String(repeating: "w", count: 201) },
        Case("workerName with escape", refused: "workerName") { $0.workerName = "\u{1B}" },
    ]

    @Test(arguments: Self.cases)
    func namesTheField(field: Case) {
        field.check(CircuitStore.Configuration()) { value throws(BreakerStoreError) in try value.validate() }
    }

    @Test func writesAModeInOctal() {
        var configuration = CircuitStore.Configuration()
        configuration.fileMode = 0o444
        let error = #expect(throws: BreakerStoreError.self) { try configuration.validate() }
        #expect(error?.message == "fileMode is 0o444; allowed: within 0o777, containing 0o600")
    }
}

import Testing

@testable import BreakerStore

/// Two stores of one process on one file.
@Suite(.timeLimit(.minutes(10))) struct SharedSettingsTests {
    /// A setting in which the second store differs from the first.
    struct Setting: Sendable, CustomTestStringConvertible {
        let field: String
        let change: @Sendable (inout CircuitStore.Configuration) -> Void
        var testDescription: String { self.field }

        init(_ field: String, _ change: @escaping @Sendable (inout CircuitStore.Configuration) -> Void) {
            self.field = field
            self.change = change
        }
    }

    private let fixture: StoreFixture

    init() throws { self.fixture = try StoreFixture() }

    private func open(_ change: (inout CircuitStore.Configuration) -> Void) throws -> CircuitStore {
        var configuration = self.fixture.store.configuration
        change(&configuration)
        return try CircuitStore(path: self.fixture.store.backend.file.path, configuration: configuration)
    }

    @Test(arguments: [
        Setting("durability") { $0.durability = .everyCommit },
        Setting("eventsKept") { $0.eventsKept = 7 },
        Setting("forgetIdleAfter") { $0.forgetIdleAfter = .seconds(60) },
        Setting("clock") { $0.clock = ManualHostClock() },
    ])
    func aSettingThatCanNotBeSharedIsRefused(_ setting: Setting) throws {
        let error = #expect(throws: BreakerStoreError.self) { try self.open(setting.change) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix(setting.field + " is ") == true)
        // Who was refused has left nothing behind: the next one shares the core, and the last to close ends it.
        let other = try self.open { _ in }
        #expect(other.backend.core === self.fixture.core)
        other.close()
        #expect(self.fixture.isHealthy)
        self.fixture.store.close()
        #expect(self.fixture.core?.isClosed == true)
    }

    @Test(arguments: [
        Setting("busyTimeout") { $0.busyTimeout = .milliseconds(1) },
        Setting("whenUnavailable") { $0.whenUnavailable = .degrade },
        Setting("fileMode") { $0.fileMode = 0o660 },
        Setting("access") { $0.access = .existing },
        Setting("onEvent") { $0.onEvent = { _ in } },
        Setting("workerName") { $0.workerName = "another" },
        Setting("clock") { $0.clock = SystemHostClock() },
        Setting("migration") { $0.migration = .never },
    ])
    func otherSettingsMayDiffer(_ setting: Setting) throws {
        let other = try self.open(setting.change)
        defer { other.close() }
        #expect(other.backend.core === self.fixture.core)
    }

    @Test func aReaderSharesNothing() throws {
        let reader = try self.open {
            $0.access = .readOnly
            $0.durability = .processCrash
            $0.clock = SystemHostClock()
        }
        defer { reader.close() }
        #expect(try reader.circuits().isEmpty)
    }
}

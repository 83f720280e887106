import Synchronization

// The declarations of swift-log, swift-metrics and swift-service-lifecycle that "Recipes" uses: tests have no
// dependencies.

extension RecipeSnippets {
    /// What loggers, counters and their like were told.
    static let told = Mutex<[String]>([])

    private static func tell(_ line: String) { self.told.withLock { $0.append(line) } }

    struct Logger: Sendable {
        struct Message: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
            var text: String
            init(stringLiteral value: String) { self.text = value }
        }

        typealias Metadata = [String: MetadataValue]

        struct MetadataValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
            var text: String
            init(stringLiteral value: String) { self.text = value }
        }

        let label: String

        func debug(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
            self.log("debug", message(), metadata())
        }

        func notice(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
            self.log("notice", message(), metadata())
        }

        func warning(_ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil) {
            self.log("warning", message(), metadata())
        }

        private func log(_ level: String, _ message: Message, _ metadata: Metadata?) {
            let rest = (metadata ?? [:]).map { " \($0)=\($1.text)" }.sorted().joined()
            RecipeSnippets.tell("\(self.label) \(level): \(message.text)\(rest)")
        }
    }

    final class Counter {
        private let name: String

        init(label: String, dimensions: [(String, String)] = []) { self.name = "\(label) \(dimensions.map(\.1))" }

        func increment() { RecipeSnippets.tell("\(self.name) + 1") }
    }

    final class Gauge {
        private let name: String

        init(label: String, dimensions: [(String, String)] = []) { self.name = label }

        func record<DataType: BinaryInteger>(_ value: DataType) { RecipeSnippets.tell("\(self.name) = \(value)") }
    }

    final class Timer {
        private let name: String

        init(label: String, dimensions: [(String, String)] = []) { self.name = "\(label) \(dimensions.map(\.1))" }

        func record(duration: Duration) { RecipeSnippets.tell("\(self.name) took time: \(duration > .zero)") }
    }

    protocol Service: Sendable {
        func run() async throws
    }

    /// Whether a group of services shuts down gracefully; its services' tasks are not cancelled by that.
    static let shutdown = AsyncStream.makeStream(of: Never.self)

    static func cancelWhenGracefulShutdown<T: Sendable>(
        _ operation: @Sendable @escaping () async throws -> T
    ) async throws -> T {
        let task = Task { try await operation() }
        for await _ in Self.shutdown.stream {}
        task.cancel()
        return try await task.value
    }
}

import Foundation
import Testing

@testable import BreakerStore

private let date = Date(timeIntervalSince1970: 0)

@Suite struct ErrorDescriptionTests {
    @Test(arguments: [
        (
            CircuitOpenError(
                name: "UserServiceAPI", group: "NetworkServices", cause: .open, retryAfter: .milliseconds(12_340),
                lastError: "URLError"),
            "the call was not made: circuit 'UserServiceAPI' (group 'NetworkServices') is open, retry after 12.3 s;"
                + " last error: URLError"
        ),
        (
            CircuitOpenError(name: "a", group: nil, cause: .probing, retryAfter: nil, lastError: nil),
            "the call was not made: circuit 'a' is probing and lets no other call through"
        ),
        (
            CircuitOpenError(name: "a", group: nil, cause: .held, retryAfter: nil, lastError: "two\nlines"),
            #"the call was not made: circuit 'a' is held open; last error: two\u{A}lines"#
        ),
        (
            CircuitOpenError(
                name: "a", group: "G", cause: .held, retryAfter: .seconds(90), lastError: "an old error",
                hold: CircuitSnapshot.Hold(
                    state: .open, since: date, until: date, by: "ann\n", reason: "two\nlines")),
            "the call was not made: circuit 'a' (group 'G') is held open by ann\\u{A} until 1970-01-01 00:00:00 +0000,"
                + " retry after 90 s; reason: two\\u{A}lines"
        ),
        (
            CircuitOpenError(
                name: "a", cause: .held, hold: CircuitSnapshot.Hold(state: .open, since: date)),
            "the call was not made: circuit 'a' is held open until it is released"
        ),
        (
            CircuitOpenError(
                name: "a", cause: .held,
                hold: CircuitSnapshot.Hold(
                    state: .open, since: date, until: Date(timeIntervalSince1970: 9.3e12), by: "ann")),
            "the call was not made: circuit 'a' is held open by ann until \(Date(timeIntervalSince1970: 9.3e12))"
        ),
        (
            CircuitOpenError(name: "a", group: nil, cause: .open, retryAfter: .zero, lastError: nil),
            "the call was not made: circuit 'a' is open, retry now"
        ),
    ])
    func showsWhyACallWasRefused(error: CircuitOpenError, text: String) {
        #expect(error.description == text)
        #expect("\(error)" == text)
    }

    @Test(arguments: [
        (BreakerStoreError(code: .closed, message: "the store is closed"), "closed: the store is closed"),
        (
            BreakerStoreError(code: .notFound, message: "no such directory", sqliteCode: 14, path: "/x/y.db"),
            "notFound: no such directory [/x/y.db] [SQLite 14]"
        ),
        (
            BreakerStoreError(code: .unsafePath, message: "a directory", path: "/x\n"),
            #"unsafePath: a directory [/x\u{A}]"#
        ),
        (
            BreakerStoreError(
                code: .busy, message: "locked; so", advice: "try\nagain", sqliteCode: 5, path: "/a; b"),
            #"busy: locked; so; try\u{A}again [/a; b] [SQLite 5]"#
        ),
        (BreakerStoreError(code: .busy, message: "locked", sqliteCode: 5), "busy: locked [SQLite 5]"),
    ])
    func showsWhatIsWrongWithAStore(error: BreakerStoreError, text: String) {
        #expect(error.description == "BreakerStoreError.\(text)")
    }

    @Test(arguments: [
        (BreakerStoreError.Code.invalidConfiguration, "invalidConfiguration"), (.notAStore, "notAStore"),
        (.newerSchema, "newerSchema"), (.foreignSchema, "foreignSchema"),
        (.olderSchema, "olderSchema"),
        (.unsupportedFileSystem, "unsupportedFileSystem"),
        (.unsafePath, "unsafePath"), (.notFound, "notFound"), (.permissionDenied, "permissionDenied"),
        (.busy, "busy"), (.full, "full"), (.corrupt, "corrupt"), (.unavailable, "unavailable"),
        (.noSuchCircuit, "noSuchCircuit"), (.inUse, "inUse"), (.closed, "closed"), (.forked, "forked"),
        (.readOnly, "readOnly"),
    ])
    func namesEachCode(code: BreakerStoreError.Code, name: String) {
        #expect(code.description == name)
    }
}

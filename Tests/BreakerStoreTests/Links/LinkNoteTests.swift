import BreakerTestSupport
import FoundationEssentials
import Testing

@testable import BreakerStore

/// What a link says of itself beside its file, and what is made of anything else that stands there.
@Suite(.timeLimit(.minutes(10))) struct LinkNoteTests {
    private let fixture: StoreFixture
    private var path: String { self.fixture.store.path + "-link" }

    init() throws { self.fixture = try StoreFixture() }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: self.path)) }

    @Test func isSeenWhileALinkLives() throws {
        let store = self.fixture.store
        #expect(store.linkStanding == .none)
        let seat = LinkSeat(of: store)
        #expect(seat.take())
        #expect(store.linkStanding == .begun)
        let note = LinkNote(
            isJoined: false, since: Date(timeIntervalSince1970: 1_700_000_000), pid: 7, reason: "no \"way\"\n")
        store.note(note)
        let shown = LinkNote(isJoined: false, since: note.since, pid: 7, reason: note.reason.escaped)
        #expect(store.linkStanding == .reported(shown))
        store.note(LinkNote(isJoined: true, since: note.since, pid: 7))
        #expect(store.linkStanding == .reported(LinkNote(isJoined: true, since: note.since, pid: 7)))
        // As after a kill.
        seat.leave()
        #expect(store.linkStanding == .gone(LinkNote(isJoined: true, since: note.since, pid: 7)))
        store.note(nil)
        #expect(store.linkStanding == .none)
    }

    @Test(arguments: [
        "", "joined", "joined 1 1", "joined 1 1 ", "joined 1 \n", "joined -1 1 \n", "joined 99999999999999 1 \n",
        "opened 1 1 \n", "joined 1.5 1 \n", "joined 1 0 \n", "joined 1 99999999999 \n", "\u{0}",
        String(repeating: "x", count: 5_000) + "\n",
        "joined 1 1 " + String(repeating: "x", count: 5_000) + "\n",
    ])
    func anythingElseSaysNothing(text: String) throws {
        let seat = LinkSeat(of: self.fixture.store)
        #expect(seat.take())
        try self.write(text)
        #expect(self.fixture.store.linkStanding == .begun)
    }

    @Test func controlCharactersAreNeverShown() throws {
        let seat = LinkSeat(of: self.fixture.store)
        #expect(seat.take())
        try self.write("cutOff 1 1 \u{1B}[2J\u{7}\n")
        guard case .reported(let note) = self.fixture.store.linkStanding else {
            Issue.record("the note is not read")
            return
        }
        #expect(note.reason.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    /// An enemy may have put a link to another file there, or made one file of both.
    @Test func noOtherFileIsWrittenTo() throws {
        let victim = self.path + "-victim"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        let note = LinkNote(isJoined: true, since: Date(timeIntervalSince1970: 1), pid: 1)
        let manager = FileManager.default
        for isSymbolic in [true, false] {
            for place in [self.path, self.path + ".new"] {
                try? manager.removeItem(atPath: place)
                if isSymbolic {
                    try manager.createSymbolicLink(atPath: place, withDestinationPath: victim)
                } else {
                    try manager.linkItem(atPath: victim, toPath: place)
                }
                self.fixture.store.note(note)
                #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
                #expect(LinkNote.read(at: self.path) == note)
            }
        }
    }
}

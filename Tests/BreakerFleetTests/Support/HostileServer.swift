#if PostgreSQL
import BreakerTestSupport

@testable import BreakerFleet

/// A server on loopback that speaks PostgreSQL's protocol badly, in Python.
final class HostileServer: Sendable {
    enum Manner: String, CaseIterable, Sendable {
        // Before anybody is let in.
        case silent, closes, garbage, hugeMessage, endlessErrors
        // Once a statement is sent.
        case silentAtStatement, garbageAtStatement, endlessRows, endlessNotices, endlessNotifications, copyOut, copyIn
        case commandsWithoutEnd, rowsOfNothing, wrongColumns, hugeRow, errorWithoutFields, closesAtStatement
        /// One byte every tenth of a second.
        case drips

        var letsIn: Bool { ![.silent, .closes, .garbage, .hugeMessage, .endlessErrors].contains(self) }
    }

    let port: Int
    private let python: WorkerProcess

    init(_ manner: Manner) async throws {
        self.python = try WorkerProcess(
            program: "/usr/bin/env", arguments: ["python3", "-c", Self.script, manner.rawValue])
        self.port = try await self.python.ask("port").number("port") ?? 0
    }

    deinit { self.python.clear() }

    var settings: ConnectionSettings {
        get throws(FleetError) {
            try ConnectionSettings(parsing: "host=127.0.0.1 port=\(self.port) user=u dbname=d sslmode=disable")
        }
    }

    private static let script = #"""
        import socket, struct, sys, threading, time, random
        manner = sys.argv[1]
        def message(kind, body): return kind + struct.pack("!I", len(body) + 4) + body
        ready = message(b"Z", b"I")
        done = message(b"C", b"SELECT 1\0")
        def field(name): return name + b"\0" + struct.pack("!IhIhih", 0, 0, 25, -1, -1, 0)
        columns = message(b"T", struct.pack("!h", 1) + field(b"a"))
        def row(*values): return message(b"D", struct.pack("!h", len(values)) + b"".join(struct.pack("!i", len(v)) + v for v in values))
        begin = message(b"1", b"") + message(b"2", b"") + columns
        notice = message(b"N", b"SNOTICE\0C00000\0M" + b"n" * 900 + b"\0\0")
        def exactly(s, count):
            data = b""
            while len(data) < count:
                more = s.recv(count - len(data))
                if not more: raise OSError
                data += more
            return data
        def forever(s, data):
            while True: s.sendall(data)
        def hush(s):
            while s.recv(65536): pass
        def startup(s):
            length, = struct.unpack("!I", exactly(s, 4))
            return exactly(s, length - 4)
        def serve(s):
            startup(s)
            if manner == "silent": hush(s)
            if manner == "closes": return
            if manner == "garbage":
                s.sendall(random.Random(7).randbytes(100000)); hush(s)
            if manner == "hugeMessage":
                s.sendall(b"E" + struct.pack("!I", 0x7FFFFFFF)); forever(s, b"x" * 65536)
            if manner == "endlessErrors": forever(s, notice * 50)
            s.sendall(message(b"R", struct.pack("!I", 0)) + message(b"S", b"client_encoding\0UTF8\0")
                + message(b"S", b"in_hot_standby\0off\0") + message(b"S", b"default_transaction_read_only\0off\0")
                + message(b"S", b"server_version\0" + b"15.0\0") + ready)
            s.recv(65536)
            if manner == "silentAtStatement": hush(s)
            if manner == "closesAtStatement": return
            if manner == "garbageAtStatement":
                s.sendall(random.Random(9).randbytes(100000)); hush(s)
            if manner == "endlessRows": s.sendall(begin); forever(s, row(b"1") * 4000)
            if manner == "endlessNotices": forever(s, notice * 50)
            if manner == "endlessNotifications": forever(s, message(b"A", struct.pack("!I", 1) + b"fleet\0" + b"y" * 900 + b"\0") * 50)
            if manner == "copyOut": s.sendall(message(b"1", b"") + message(b"2", b"") + message(b"H", b"\0\0\0")); hush(s)
            if manner == "copyIn": s.sendall(message(b"1", b"") + message(b"2", b"") + message(b"G", b"\0\0\0")); hush(s)
            if manner == "commandsWithoutEnd": s.sendall(begin); forever(s, done * 4000)
            if manner == "rowsOfNothing": s.sendall(message(b"1", b"") + message(b"2", b"") + row(b"1") + done + ready); hush(s)
            if manner == "wrongColumns": s.sendall(begin + row(b"1", b"2", b"3") + done + ready); hush(s)
            if manner == "hugeRow":
                s.sendall(begin + b"D" + struct.pack("!I", 0x7FFFFFF0) + struct.pack("!h", 1) + struct.pack("!i", 0x7FFFFFE0))
                forever(s, b"x" * 65536)
            if manner == "errorWithoutFields": s.sendall(message(b"E", b"\0") + ready); hush(s)
            if manner == "drips":
                for byte in begin * 100:
                    s.sendall(bytes([byte])); time.sleep(0.1)
        def guarded(s):
            try: serve(s)
            except OSError: pass
            s.close()
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(20)
        def accept():
            while True: threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        for line in sys.stdin:
            print("port=%d" % listener.getsockname()[1], flush=True)
        """#
}
#endif

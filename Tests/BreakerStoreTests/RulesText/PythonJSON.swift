import BreakerTestSupport

/// Python's `json`, which reads texts and says what they mean.
struct PythonJSON {
    private let python: WorkerProcess

    init() throws {
        self.python = try WorkerProcess(program: "/usr/bin/env", arguments: ["python3", "-c", Self.script])
    }

    /// The value of a text, as `meaning` writes it; nil if Python refuses the text.
    func meaning(of text: [UInt8]) async throws -> String? {
        let answer = try await self.python.ask(text.hex).description
        return answer == "refused" ? nil : answer
    }

    func clear() { self.python.clear() }

    private static let script = #"""
        import json, struct, sys
        def hex(text): return text.encode("utf-8", "surrogatepass").hex()
        def meaning(value):
            if value is None: return "null"
            if value is True: return "true"
            if value is False: return "false"
            if isinstance(value, int): return "i%d" % value
            if isinstance(value, float): return "d" + struct.pack(">d", value).hex()
            if isinstance(value, str): return "s" + hex(value)
            if isinstance(value, list): return "[" + ",".join(meaning(v) for v in value) + "]"
            return "{" + ",".join(sorted(hex(k) + ":" + meaning(v) for k, v in value.items())) + "}"
        for line in sys.stdin:
            try: print(meaning(json.loads(bytes.fromhex(line).decode("utf-8"))), flush=True)
            except (ValueError, RecursionError): print("refused", flush=True)
        """#
}

extension Sequence<UInt8> {
    /// Two digits for each byte.
    var hex: String { self.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

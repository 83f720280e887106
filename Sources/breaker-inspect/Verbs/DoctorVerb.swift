import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `doctor`: checks everything that can be wrong with the store.
struct DoctorVerb: Verb {
    static let name = "doctor"
    static let synopsis = ""
    static let summary = "find what is wrong, say what to do; exit with 1 if anything is"
    static let details = ""
    static let options: [Option] = []

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'doctor' takes no names", verb: Self.name) }
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        var live: LiveWorkers?
        let findings = try Self.findings(&live, in: context)
        let wrong = findings.count { $0.status == .wrong }
        if context.isJSON {
            let shown = findings.map {
                (check: $0.check, status: $0.status.rawValue, finding: $0.finding, advice: $0.advice)
            }
            context.console.write(JSONDocument.findings(shown, isHealthy: wrong == 0, degraded: live?.seen))
        } else {
            Self.print(findings, in: context)
            let verdict = wrong == 0 ? "nothing is wrong with the store" : wrong.counted("problem")
            context.console.write("\n\(verdict)\n")
        }
        return wrong == 0 ? .done : .failed
    }

    /// The findings; sets the workers if the file could be examined.
    private static func findings(_ live: inout LiveWorkers?, in context: Context) throws(Failure) -> [Finding] {
        let path = try context.path()
        let missing = MissingFile(path: path, source: context.pathSource, user: context.console.loginName)
        let facts: StoreFiles
        do throws(BreakerStoreError) {
            facts = try StoreFiles(path: path)
        } catch {
            if error.code == .notFound { return missing.findings }
            if error.code == .permissionDenied, let closed = ClosedDirectory(on: path) {
                return [closed.finding(user: context.console.loginName)]
            }
            throw Failure(error, path: path, doing: "open")
        }
        let files = FileChecks(facts: facts)
        var findings = [files.fileSystem(isReserveUsedUp: false)] + files.permissions
        do throws(BreakerStoreError) {
            var examination = try facts.examine(context.clock)
            UnlistedWorkers(facts: facts).name(&examination.live)
            let isFull = examination.live.degraded.contains { $0.reason == .full }
            // Only the workers know about the reserve; without an examination the first version stays.
            findings[0] = files.fileSystem(isReserveUsedUp: isFull)
            let contents = ContentChecks(examination: examination)
            let kept = KeptFiles(beside: facts.database?.path ?? path)
            let creation = contents.creation(kept: kept.newestDatabase)
            if let creation { findings.append(creation) }
            live = examination.live
            if let rules = contents.rules { findings.append(rules) }
            findings += [ContentChecks.schema(examination.schema), contents.contents(hasLog: facts.log?.size ?? 0 > 0)]
            findings += [files.log(examination), files.lockFile(examination), files.board(examination)]
            let isWaitedFor = examination.live.degraded.contains { $0.reason == .busy }
            let watch = facts.watch(context.clock)
            findings += [WriterCheck.finding(facts, isWaitedFor: isWaitedFor, watch), ContentChecks.sqlite]
            findings += [contents.clock] + contents.workers + contents.degraded + [contents.probes]
            findings += CircuitChecks.findings(in: context)
            if let link = files.link(at: context.now) { findings.append(link) }
            if let kept = kept.finding(beside: creation) { findings.append(kept) }
        } catch {
            // Damage and foreign tables are findings; other errors end the verb, as in all verbs.
            switch error.code {
            case .corrupt: findings += [.damaged(error.message.escaped), ContentChecks.sqlite]
            case .foreignSchema:
                findings.append(.wrong("schema", error.message.escaped, error.advice?.escaped ?? ""))
                findings.append(ContentChecks.sqlite)
            case .unavailable where error.isOfRefusedValue:
                findings.append(.wrong("contents", error.message.escaped, error.advice?.escaped ?? ""))
                findings.append(ContentChecks.sqlite)
            case .notAStore: findings.append(UnusableFile(path: path, refusal: error).finding(facts))
            case .notFound: return missing.findings
            case .permissionDenied where findings.contains { $0.status == .wrong }: break
            default: throw Failure(error, path: path, doing: "open")
            }
        }
        return findings
    }

    /// Prints what is wrong first, then what is worth knowing, and the names of all else.
    private static func print(_ all: [Finding], in context: Context) {
        let findings = all.filter { $0.status == .wrong } + all.filter { $0.status == .note }
        Self.printLines(findings, in: context)
        var names: [String] = []
        for finding in all where finding.status == .ok && !names.contains(finding.check) { names.append(finding.check) }
        guard !names.isEmpty else { return }
        let margin = max("ok".utf8.count, findings.map(\.check.utf8.count).max() ?? 0) + 2
        let width = context.console.width.map { max(20, $0 - margin) }
        var label = context.style.paint("ok", .good) + String(repeating: " ", count: margin - 2)
        for line in names.joined(separator: ", ").wrapped(to: width) {
            context.console.write("\(label)\(line)\n")
            label = String(repeating: " ", count: margin)
        }
    }

    private static func printLines(_ findings: [Finding], in context: Context) {
        let margin = findings.map(\.check.utf8.count).max() ?? 0
        for finding in findings {
            let status = finding.status.rawValue
            let blanks = String(repeating: " ", count: margin - finding.check.utf8.count)
            let gap = String(repeating: " ", count: "wrong".utf8.count - status.utf8.count)
            let indent = margin + "  wrong  ".utf8.count
            let width = context.console.width.map { max(20, $0 - indent) }
            var lines = finding.finding.wrapped(to: width)
            if let advice = finding.advice { lines += "-> \(advice)".wrapped(to: width) }
            context.console.write(
                "\(finding.check)\(blanks)  \(context.style.paint(status, finding.status.look))\(gap)  \(lines[0])\n")
            for line in lines.dropFirst() {
                context.console.write("\(String(repeating: " ", count: indent))\(line)\n")
            }
        }
    }
}

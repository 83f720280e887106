import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Copies a real file system's disk in an instant, at random moments, while processes use a store on it, and opens what
/// is in the copies.
///
/// A copy is what a power cut leaves of a disk whose own cache is kept. Its rules are those of `power`.
struct BlockCuts {
    private static let goal = 1_000
    private static let shortGoal = 10
    private static let maxCopies = 40
    private static let maxShortCopies = 12
    private static let scenes: [PowerPlan.Scene] = [
        .calls, .creation, .calls, .quarantine, .again, .calls, .migration, .again,
    ]

    private let report: Report
    private let options: Options
    private let directory: String

    /// In a mount namespace of a process of its own, which takes all mounts with it.
    static func run(_ stage: Stage) async throws {
        #if os(Linux)
        guard geteuid() == 0, unsafe access("/dev/loop-control", R_OK | W_OK) == 0 else {
            return Report.say("block: only root may mount file systems, on loop devices")
        }
        guard BlockDisk.Kind.btrfs.isAvailable || BlockDisk.Kind.xfs.isAvailable else {
            return Report.say("block: no mkfs.btrfs and no mkfs.xfs here; Debian has them in btrfs-progs and xfsprogs")
        }
        let options = stage.options
        guard options.without == nil || options.without == .tripSync else {
            return stage.report.violated("of the real syncs only trip-sync can be left out")
        }
        var arguments = ["role", Role.block.rawValue, "--part", Part.block.rawValue, "--seed", "\(options.seed)"]
        if options.isShort { arguments.append("--short") }
        if let duration = options.duration { arguments += ["--duration", "\(duration.components.seconds)"] }
        if let only = options.only { arguments += ["--only", only] }
        if let without = options.without { arguments += ["--without", without.rawValue] }
        let process = try WorkerProcess(
            program: "breaker-torture", arguments: arguments, through: ["unshare", "--mount"])
        defer { process.clear() }
        let code = await process.end()
        if code != 0 { stage.report.violated("the process that copies disks ended with \(code)") }
        #else
        Report.say("block: there are no loop devices here")
        #endif
    }

    /// In the namespace.
    static func main(_ arguments: [String]) async -> Int32 {
        do {
            let options = try Options(arguments)
            let report = Report(.block, options)
            let stage = try Stage(options, report)
            defer { stage.clear() }
            let base = try await BlockDisk.mountBase(in: stage.directory)
            defer { _ = unsafe umount2(base, Int32(MNT_DETACH)) }
            try await BlockCuts(report: report, options: options, directory: stage.directory).play(on: base)
            return report.close() ? 0 : 1
        } catch {
            Report.say("block: \(error)")
            return 1
        }
    }

    private var isDone: Bool {
        if self.options.without != nil { return self.report.violations > 0 }
        if self.options.isShort { return self.report.count(of: "copies") >= Self.shortGoal }
        return self.options.duration == nil && self.report.count(of: "copies") >= Self.goal
    }

    private func play(on base: String) async throws {
        let kinds = BlockDisk.Kind.allCases.filter {
            $0.isAvailable && (self.options.only == nil || self.options.only == $0.rawValue)
        }
        var random = SeededRandom(seed: self.options.seed)
        var remainder: PowerRemainder?
        var number = 0
        while self.report.goesOn, !self.isDone, !kinds.isEmpty {
            let kind = kinds[number % kinds.count]
            let scene = Self.scenes[number / kinds.count % Self.scenes.count]
            let plan =
                self.options.without == nil
                ? PowerPlan(scene, isShort: false, using: &random) : PowerPlan(missingSyncUsing: &random)
            let scratch = "\(self.directory)/\(number)"
            guard unsafe mkdir(scratch, 0o700) == 0 else { throw SystemError("make \(scratch)") }
            defer { Directory.remove(scratch) }
            let disk = try await BlockDisk(kind, on: base)
            var round = PowerRound(
                plan, in: scratch, store: disk.place + "/store", without: self.options.without, isShort: false)
            let left = try await self.play(&round, plan.scene == .again ? remainder : nil, on: disk, &random)
            remainder = left ?? remainder
            for count in round.counts { self.report.add(count.count, count.what) }
            for violation in round.violations {
                self.report.violated("round \(number), \(kind), \(plan.description): \(violation)")
            }
            number += 1
        }
    }

    /// One run; returns what one of the copies has.
    private func play(
        _ round: inout PowerRound,
        _ remainder: PowerRemainder?,
        on disk: BlockDisk,
        _ random: inout SeededRandom
    ) async throws -> PowerRemainder? {
        let copies = Locked<[(begun: Int, ended: Int)]>([])
        let seed = random.next()
        let most = self.options.isShort ? Self.maxShortCopies : Self.maxCopies
        let judge = try await round.runForReal(from: remainder, settle: disk.settle) { record in
            var random = SeededRandom(seed: seed)
            // Near each other, or up to the end of the run.
            let pause = [2_000, 20_000, 60_000].randomElement(using: &random) ?? 20_000
            while !Task.isCancelled, copies.withLock({ $0.count }) < most {
                try? await Task.sleep(for: .microseconds(Int64.random(in: 0...Int64(pause), using: &random)))
                let begun = PowerRecord.length(of: record)
                try disk.take(copies.withLock { $0.count })
                let ended = PowerRecord.length(of: record)
                copies.withLock { $0.append((begun, ended)) }
            }
        }
        try await disk.unmount()
        var kept: PowerRemainder?
        for (number, copy) in copies.withLock({ $0 }).enumerated() {
            defer { disk.removeCopy(number) }
            guard self.report.goesOn, self.options.without == nil || round.violations.isEmpty else { continue }
            // A hang is as bad as a death.
            alarm(120)
            defer { alarm(0) }
            try await disk.mountCopy(number)
            let files = Self.files(in: disk.place + "/store")
            if kept == nil || Bool.random(using: &random) {
                kept = round.remainder(of: files)
            }
            let copied = PowerCopy(
                directory: disk.place + "/store", files: files, begun: round.number(ofByte: copy.begun),
                // One process may have written and not yet recorded that.
                ended: round.number(ofByte: copy.ended) + 1)
            let names = files.sorted { $0.key < $1.key }.map { "\($0.key) of \($0.value.count)" }
            for fault in try judge(copied, &round) {
                round.add("copy \(number), records \(copied.begun) to \(copied.ended): \(fault); \(names)")
            }
            try await disk.unmount()
            self.report.add(1, "copies")
            self.report.add(1, "copies of \(disk.kind)")
        }
        return kept
    }

    private static func files(in directory: String) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in Directory.names(in: directory) { files[name] = FileBytes.read("\(directory)/\(name)") }
        return files
    }
}

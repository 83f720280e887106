import FoundationEssentials
import Testing

@testable import BreakerStore

@Suite struct ManualHostClockTests {
    let clock = ManualHostClock()

    private var wall: Double { self.clock.wallTime.timeIntervalSince1970 }

    @Test func startsAtAFixedTime() {
        #expect(self.clock.bootID == "manual-boot-1")
        #expect(self.clock.uptime == .seconds(1_000))
        #expect(self.wall == 1_767_225_600)
    }

    @Test func advancesBoth() {
        self.clock.advance(by: .seconds(30))
        self.clock.advance(by: .microseconds(1))
        #expect(self.clock.uptime == .seconds(1_030) + .microseconds(1))
        #expect(abs(self.wall - 1_767_225_630.000_001) < 1e-6)
        #expect(self.clock.bootID == "manual-boot-1")
    }

    @Test func neverRunsBackwards() {
        self.clock.advance(by: .seconds(-30))
        #expect(self.clock.uptime == .seconds(1_000))
        #expect(self.wall == 1_767_225_600)
        self.clock.advance(by: Duration(attoseconds: .max))
        #expect(self.clock.uptime == Duration(attoseconds: .max))
    }

    @Test func stepsTheWallAlone() {
        self.clock.stepWallTime(by: .seconds(-3_600))
        #expect(self.clock.uptime == .seconds(1_000))
        #expect(self.wall == 1_767_222_000)
        self.clock.stepWallTime(by: .seconds(7_200))
        #expect(self.wall == 1_767_229_200)
    }

    @Test func reboots() {
        self.clock.reboot(downFor: .seconds(60))
        #expect(self.clock.bootID == "manual-boot-2")
        #expect(self.clock.uptime == .zero)
        #expect(self.wall == 1_767_225_660)
        self.clock.reboot(downFor: .seconds(-60))
        #expect(self.clock.bootID == "manual-boot-3")
        #expect(self.wall == 1_767_225_660)
    }
}

@Suite struct SystemHostClockTests {
    @Test func uptimeNeverSteps() {
        let clock = SystemHostClock()
        var last = clock.uptime
        #expect(last > .zero)
        for _ in 0..<10_000 {
            let now = clock.uptime
            guard now >= last else {
                Issue.record("\(now) after \(last)")
                return
            }
            last = now
        }
    }

    @Test func oneBootForAll() {
        #expect(!SystemHostClock().bootID.isEmpty)
        #expect(SystemHostClock().bootID == SystemHostClock().bootID)
        #expect(SystemHostClock().bootID.allSatisfy { !$0.isWhitespace })
    }

    @Test func wallTimeIsNow() {
        #expect(abs(SystemHostClock().wallTime.timeIntervalSinceNow) < 60)
    }

    #if os(Linux)
    @Test func readsWhatTheKernelSays() throws {
        let kernel = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(SystemHostClock().bootID == kernel.filter { !$0.isWhitespace })
    }

    @Test func uptimeIsTheHosts() throws {
        // proc_uptime(5): seconds since boot, suspension included; shifted as the time namespace is.
        let text = try String(contentsOfFile: "/proc/uptime", encoding: .utf8)
        let offsets = try? String(contentsOfFile: "/proc/self/timens_offsets", encoding: .utf8)
        let shift = Double(SystemHostClock.boottimeShift(in: offsets ?? "")) / 1e9
        let seconds = try #require(text.split(separator: " ").first.flatMap { Double($0) })
        #expect(abs(Double(SystemHostClock().uptime.attoseconds) / 1e18 + shift - seconds) < 60)
    }
    #endif

    @Test(
        arguments: [
            ("monotonic           0         0\nboottime            0         0\n", 0),
            ("monotonic           5         0\nboottime       100000         7\n", 100_000_000_000_007),
            ("boottime -2 500000000\n", -1_500_000_000),
            ("monotonic 5 0\n7 1 0\n", 1_000_000_000),
            ("boottime 9223372036854775807 0", 0),
            ("boottime x 0", 0),
            ("", 0),
        ] as [(String, Int64)])
    func readsAShiftedNamespace(text: String, nanoseconds: Int64) {
        #expect(SystemHostClock.boottimeShift(in: text) == nanoseconds)
    }
}

import Testing

@testable import BreakerStore

/// A file that is lost and created again, in every order of what a few processes and an operator can do.
@Suite(.timeLimit(.minutes(10))) struct LostFileStatesTests {
    private struct Found {
        var states = 0
        var broken: (how: String, trace: [LostFileWorld.Event])?
    }

    /// Visits every state that so many events lead to, nearest first.
    private static func explore(_ processes: Int, depth: Int, _ plant: LostFileWorld.Plant? = nil) -> Found {
        let first = LostFileWorld(processes: processes, plant: plant)
        var seen: Set<[Int]> = [first.key]
        var level: [(world: LostFileWorld, trace: [LostFileWorld.Event])] = [(first, [])]
        for _ in 0..<depth {
            var next: [(world: LostFileWorld, trace: [LostFileWorld.Event])] = []
            for (world, trace) in level {
                for event in world.events {
                    var after = world
                    after.happen(event)
                    let trace = trace + [event]
                    if let broken = after.broken { return Found(states: seen.count, broken: (broken, trace)) }
                    if seen.insert(after.key).inserted { next.append((after, trace)) }
                }
            }
            level = next
        }
        return Found(states: seen.count)
    }

    @Test(arguments: [(processes: 2, depth: 10), (3, 8)])
    func noHoldIsLostAndNoneComesBack(processes: Int, depth: Int) {
        let found = Self.explore(processes, depth: depth)
        print("lost files, \(processes) processes: \(found.states) states to depth \(depth)")
        #expect(found.broken == nil, "\(String(describing: found.broken))")
    }

    @Test(arguments: LostFileWorld.Plant.allCases) func aWrongLineIsNoticed(_ plant: LostFileWorld.Plant) {
        let found = Self.explore(3, depth: 10, plant)
        print("lost files, \(plant): \(found.broken?.how ?? "not noticed") after \(found.states) states")
        #expect(found.broken != nil)
    }
}

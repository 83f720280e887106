import BreakerTestSupport
import Foundation
import Testing

/// The kept inputs of the fuzzers, and those that they begin with.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CorpusTests {
    private static let corpus = Package.root.path + "/Tests/Fuzzing/corpus"

    @Test(arguments: TargetName.allCases) func keepsItsPromises(of name: TargetName) throws {
        let target = try name.make(in: Scratch(in: Workplace.here.directory))
        let kept = "\(Self.corpus)/\(name)"
        let names = Directory.names(in: kept)
        #expect(!names.isEmpty)
        var inputs = try names.map { ($0, try #require(Scratch.read("\(kept)/\($0)"))) }
        inputs += try target.seeds.enumerated().map { ("seed \($0)", $1) }
        for (input, bytes) in inputs {
            let start = ContinuousClock.now
            do {
                try target.feed(bytes)
            } catch {
                Issue.record("\(input): \(error)")
            }
            let time = ContinuousClock.now - start
            // The limit of a hang; `make fuzz` judges the time on a processor.
            #expect(time < .seconds(300), "\(input)")
        }
    }
}

import Foundation

/// The environment of the processes that tests start.
package enum ChildEnvironment {
    /// Lets a process write no coverage profile.
    ///
    /// Tests kill processes, and limit their files. A profile that is cut so can't be read, and the package
    /// manager then merges none at all: the coverage is that of the test processes.
    package static let withoutProfile = ["LLVM_PROFILE_FILE": "/dev/null"]

    /// What this process has, without a profile.
    static var inherited: [String: String] {
        ProcessInfo.processInfo.environment.merging(self.withoutProfile) { _, new in new }
    }
}

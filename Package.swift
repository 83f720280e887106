// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target of this package is built with.
let settings: [SwiftSetting] = [
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
    .enableUpcomingFeature("ExistentialAny"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
    .enableUpcomingFeature("InternalImportsByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
    .enableUpcomingFeature("MemberImportVisibility"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0470-isolated-conformances.md
    .enableUpcomingFeature("InferIsolatedConformances"),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0458-strict-memory-safety.md
    .strictMemorySafety(),
    // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0480-swiftpm-warning-control.md
    .treatAllWarnings(as: .error),
    // Named points at which a test may end the process. No release build has them.
    .define("BREAKERSTORE_HOOKS", .when(configuration: .debug)),
]

let package = Package(
    name: "BreakerStore",
    // Tests, breaker-inspect and the demo are for macOS and Linux.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "BreakerStore", targets: ["BreakerStore"]),
        .library(name: "BreakerFleet", targets: ["BreakerFleet"]),
        .executable(name: "breaker-inspect", targets: ["breaker-inspect"]),
        .executable(name: "breaker-fleet", targets: ["breaker-fleet"]),
    ],
    // Off by default: without a trait nobody needs libpq, and BreakerFleet is empty.
    traits: [
        .trait(name: "PostgreSQL", description: "BreakerFleet joins hosts through PostgreSQL. Needs libpq."),
        .default(enabledTraits: []),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .target(
            name: "BreakerStoreMigrations",
            path: "Migrations",
            swiftSettings: settings
        ),
        // What is not SQLite's and can't be said in Swift.
        .target(name: "CBreakerStore"),
        .target(
            name: "BreakerStore",
            dependencies: ["CBreakerStore", "CSQLite", "BreakerStoreMigrations"],
            swiftSettings: settings
        ),
        // The JSON that breaker-inspect prints, made of the library's public values. No product.
        .target(name: "BreakerStoreJSON", dependencies: ["BreakerStore"], swiftSettings: settings),
        // What the command-line programs share: how they read arguments, print, help and end. No product.
        .target(name: "BreakerTool", dependencies: ["BreakerStore", "BreakerStoreJSON"], swiftSettings: settings),
        // What `breaker-inspect` needs to run commands: what happens between fork and exec, and in handlers of signals.
        .target(name: "CBreakerCommand", dependencies: ["CBreakerStore"]),
        .executableTarget(
            name: "breaker-inspect",
            dependencies: ["BreakerStore", "BreakerStoreJSON", "BreakerTool", "CBreakerCommand"],
            swiftSettings: settings
        ),
        // Joins the circuits of several hosts through PostgreSQL.
        .target(
            name: "BreakerFleet",
            dependencies: ["BreakerStore", .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"]))],
            swiftSettings: settings
        ),
        // Asked for with the trait alone: `make trait-check` holds that no other build tells of libpq. Homebrew's libpq
        // lies apart, so there: PKG_CONFIG_PATH="$(brew --prefix libpq)/lib/pkgconfig".
        .systemLibrary(
            name: "CPostgreSQL",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        // Runs links on a host, and tells of the fleet. Without the trait it says how to build it.
        .executableTarget(
            name: "breaker-fleet",
            dependencies: ["BreakerFleet", "BreakerStore", "BreakerStoreJSON", "BreakerTool"],
            swiftSettings: settings
        ),
        // A PostgreSQL of the tests' own, and what lies between it and a link.
        .target(
            name: "BreakerFleetTestSupport",
            dependencies: ["BreakerFleet", "BreakerTestSupport"],
            path: "Tests/FleetTestSupport",
            swiftSettings: settings
        ),
        // The figures of a fleet: `make bench-fleet`.
        .executableTarget(
            name: "breaker-fleet-bench",
            dependencies: ["BreakerFleet", "BreakerStore"],
            path: "Tests/breaker-fleet-bench",
            swiftSettings: settings
        ),
        .testTarget(
            name: "BreakerFleetTests",
            dependencies: [
                "BreakerFleet", "BreakerFleetTestSupport", "BreakerStore", "BreakerTestSupport", "CTestSupport",
                "breaker-fleet", "breaker-torture", "breaker-worker",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "BreakerStoreTests",
            dependencies: [
                "BreakerStore", "BreakerTestSupport", "CFaults", "breaker-torture", "breaker-worker",
            ],
            swiftSettings: settings
        ),
        // For tests with real processes: what drives them, and the program that they run.
        .systemLibrary(name: "CTestSupport", path: "Tests/CTestSupport"),
        .target(
            name: "BreakerTestSupport",
            dependencies: ["BreakerStore", "CSQLite", "CTestSupport"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "breaker-worker",
            dependencies: ["BreakerFleet", "BreakerStore", "BreakerTestSupport", "CSQLite", "CTestSupport"],
            path: "Tests/breaker-worker",
            swiftSettings: settings
        ),
        .target(name: "CFaults", dependencies: ["CSQLite"], path: "Tests/CFaults"),
        .target(name: "CRecorder", path: "Tests/CRecorder"),
        // Breaks stores on purpose: for long in `make torture`, for moments in the tests.
        .executableTarget(
            name: "breaker-torture",
            dependencies: [
                "BreakerFleet", "BreakerFleetTestSupport", "BreakerStore", "BreakerStoreMigrations",
                "BreakerTestSupport", "CFaults", "CRecorder", "CSQLite", "CTestSupport", "breaker-inspect",
                "breaker-worker",
            ],
            path: "Tests/breaker-torture",
            swiftSettings: settings
        ),
        .testTarget(
            name: "BreakerInspectTests",
            dependencies: [
                "BreakerStore", "BreakerStoreJSON", "BreakerTestSupport", "BreakerTool", "CSQLite", "CTestSupport",
                "breaker-inspect", "breaker-worker",
            ],
            // What lies in `Fuzzing` is a link to the fuzzers' targets, which a test feeds with the kept inputs.
            exclude: ["Fuzzing/Fuzzing.swift", "Fuzzing/breaker-inspect"],
            swiftSettings: settings
        ),
        // What `make demo` and, with the trait, `make demo-fleet` run. No product: users never build it.
        .executableTarget(
            name: "breaker-demo",
            dependencies: ["BreakerFleet", "BreakerStore"],
            path: "Demo",
            swiftSettings: settings
        ),
    ]
)

// Feeds arbitrary bytes to all that reads bytes. `make fuzz` sets this: no other build knows the program, which needs
// libFuzzer and, for @testable, `-enable-testing`.
if Context.environment["BREAKERSTORE_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "breaker-fuzz",
            dependencies: [
                "BreakerStore", "BreakerStoreJSON", "BreakerTestSupport", "BreakerTool", "CBreakerCommand", "CSQLite",
            ],
            path: "Tests/breaker-fuzz",
            // What lies in `breaker-inspect` there is a link to the tool's sources: no program but a test can be linked
            // with another one.
            exclude: ["breaker-inspect/BreakerInspect.swift"],
            swiftSettings: settings + [.define("BREAKERSTORE_FUZZ")]
        )
    )
}

// Builds the library and its own tests alone, with the one program that most of these run. `make mutants` sets this: it
// builds once for each fault, and whatever holds the library would be linked anew each time. So does .ci/run for the
// thread sanitizer, under which it runs tests of the library alone.
if Context.environment["BREAKERSTORE_LIBRARY_ALONE"] != nil {
    let kept: Set = [
        "BreakerStore", "BreakerStoreMigrations", "BreakerStoreTests", "BreakerTestSupport", "CBreakerStore", "CFaults",
        "CSQLite", "CTestSupport", "breaker-worker",
    ]
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
    let tests = package.targets.first { $0.name == "BreakerStoreTests" }
    tests?.dependencies = ["BreakerStore", "BreakerTestSupport", "CFaults", "breaker-worker"]
    let worker = package.targets.first { $0.name == "breaker-worker" }
    worker?.dependencies = ["BreakerStore", "BreakerTestSupport", "CSQLite", "CTestSupport"]
    // These look into a program that is left out.
    tests?.exclude = ["Torture/HistoriesTests.swift"]
}

// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that whoever uses BreakerStore never builds it.

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "breaker-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "BreakerStore", path: "..")
    ],
    targets: [
        // Counts allocations, syncs and system calls, and holds the floors that are written in C.
        .target(
            name: "CBenchmarks",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        .executableTarget(
            name: "breaker-bench",
            dependencies: [
                "CBenchmarks",
                .product(name: "BreakerStore", package: "BreakerStore"),
            ],
            swiftSettings: settings
        ),
    ]
)

import BreakerTestSupport

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A program of this test's own that imports the library as another package would, in a Swift mode of its own.
///
/// It is built by the compiler on the path, from the modules and objects that the tests themselves were built of.
struct SwiftClient {
    struct Result {
        var code: Int32
        var output: String
    }

    private let place: Workplace
    private let folder: String
    private var sources: [String] = []
    private var program: String { self.folder + "/client" }

    /// Writes the sources into a folder of the test's workplace.
    init(_ files: [String: String], named name: String = "client") throws {
        self.place = try Workplace.here
        self.folder = self.place.directory + "/" + name
        guard unsafe mkdir(self.folder, 0o700) == 0 else { throw SystemError("make a directory") }
        for (name, text) in files.sorted(by: { $0.key < $1.key }) {
            let path = self.folder + "/" + name
            Files.write(Array(text.utf8), to: path)
            self.sources.append(path)
        }
    }

    /// Builds the program; warnings are errors.
    func build(mode: Int) async throws -> Result {
        try await self.run(
            ["swiftc"] + self.options(mode) + self.sources + ["-o", self.program, "-lsqlite3"] + Self.objects())
    }

    /// Only looks whether the sources compile.
    func check(mode: Int) async throws -> Result {
        try await self.run(["swiftc", "-typecheck"] + self.options(mode) + self.sources)
    }

    func run() async throws -> Result { try await self.run([self.program]) }

    /// The shell keeps the pipe by which the end of the command is noticed.
    private func run(_ command: [String]) async throws -> Result {
        let output = self.folder + "/output"
        let process = try self.place.start("/bin/sh", ["-c", "\"$@\" >\"$0\" 2>&1", output] + command)
        let code = await process.end()
        return Result(code: code, output: String(decoding: Files.read(output) ?? [], as: UTF8.self))
    }

    // MARK: - How the tests were built

    private static let built = BuiltProgram.path(of: "")

    private func options(_ mode: Int) -> [String] {
        let built = Self.built
        let package = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let maps = ["\(built)CBreakerStore.build/module.modulemap", "\(package)/Sources/CSQLite/module.modulemap"]
        var options = ["-swift-version", "\(mode)", "-warnings-as-errors", "-I", "\(built)Modules"]
        options += ["-module-name", "Client", "-module-cache-path", self.place.directory + "/modules"]
        options += maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        #if canImport(Darwin)
        #if arch(arm64)
        options += ["-target", "arm64-apple-macosx15.0"]
        #else
        options += ["-target", "x86_64-apple-macosx15.0"]
        #endif
        #endif
        // The objects need what they were built with.
        if unsafe dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil { options.append("-sanitize=thread") }
        if unsafe getenv("LLVM_PROFILE_FILE") != nil { options.append("-profile-generate") }
        return options
    }

    /// The objects of the library, among those that the package manager links into a program of the tests.
    private static func objects() throws -> [String] {
        guard let list = Files.read(Self.built + "breaker-worker.product/Objects.LinkFileList") else {
            throw SystemError("read which objects belong to the library")
        }
        let modules = ["BreakerStore", "BreakerStoreMigrations", "CBreakerStore"]
        return String(decoding: list, as: UTF8.self).split(separator: "\n").map(String.init)
            .filter { object in modules.contains { object.contains("/\($0).build/") } }
    }
}

#if PostgreSQL
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A PostgreSQL of the demo's own: on loopback, in a temporary directory, run by another user when the demo is root's.
final class PostgreSQL {
    let port: UInt16
    private let stage: Stage
    private let scratch: Scratch
    private let programs: String
    private let launcher: [String]
    private var maker: ChildProcess?
    private var server: ChildProcess?

    /// Makes a server that does not run yet.
    init(on stage: Stage) throws {
        self.stage = stage
        self.programs = try Self.findPrograms()
        self.scratch = try Scratch()
        do {
            self.launcher = try Self.launcher(owning: self.scratch.path)
            // Free a moment ago.
            let (socket, port) = try Loopback.newServer()
            socket.shut()
            self.port = port
        } catch {
            self.scratch.remove()
            throw error
        }
    }

    /// What a link is given; the user `postgres` may do everything.
    func connection(port: UInt16? = nil) -> String {
        "host=127.0.0.1 port=\(port ?? self.port) dbname=postgres user=postgres"
    }

    /// Makes the database, and starts the server.
    func make() throws {
        let options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
        let maker = try self.launch("initdb", options)
        self.maker = maker
        try self.stage.wait(until: "the database is made") { maker.isSilent }
        guard maker.end() == 0 else { throw self.failure("initdb") }
        try self.start()
    }

    /// Starts the server, also after a crash, and waits until it answers.
    func start() throws {
        let isReady = ["-q", "-h", "127.0.0.1", "-p", String(self.port), "-d", "postgres", "-U", "postgres"]
        let deadline = Moment.now + Stage.patience
        repeat {
            guard Moment.now < deadline else { throw self.failure("PostgreSQL") }
            if let server = self.server, !server.isSilent {
                self.stage.attend()
            } else {
                self.server?.end()
                // Processes die in this story, the machine does not: nothing needs to be synced.
                self.server = try self.launch(
                    "postgres",
                    [
                        "-p", String(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                        "-c", "fsync=off", "-c", "max_connections=20", "-c", "shared_buffers=16MB",
                    ])
            }
        } while try self.stage.run("pg_isready", "\(self.programs)/pg_isready", isReady).code != 0
    }

    /// Ends the server with SIGKILL; returns when the last of its processes is gone.
    func kill() throws -> pid_t {
        guard let server = self.server else { throw DemoError.missing("a PostgreSQL that runs") }
        server.die()
        try self.stage.wait(until: "PostgreSQL is dead") { server.isSilent }
        server.end()
        return server.pid
    }

    /// What a statement returns: a line a row.
    func ask(_ sql: String) throws -> [String] {
        try self.stage.run("psql", "\(self.programs)/psql", ["-X", "-A", "-t", "-d", self.connection(), "-c", sql])
            .lines
    }

    /// Ends the server in order, and removes all that is left of it.
    func clear() {
        // It takes a second or two, and would leave shared memory behind if it were killed.
        self.maker?.end()
        self.server?.signal(SIGQUIT)
        self.server?.end()
        self.removeSharedMemory()
        self.scratch.remove()
    }

    /// A server that was killed leaves a small segment, whose number stands in a line of its file.
    private func removeSharedMemory() {
        let file = "\(self.scratch.path)/data/postmaster.pid"
        let lines = (try? String(contentsOfFile: file, encoding: .utf8))?.split(
            separator: "\n", omittingEmptySubsequences: false)
        guard let lines, lines.count > 6, let segment = lines[6].split(separator: " ").last.flatMap({ Int32($0) })
        else { return }
        shmctl(segment, IPC_RMID, nil)
    }

    private func failure(_ program: String) -> DemoError {
        let log = try? String(contentsOfFile: "\(self.scratch.path)/log", encoding: .utf8)
        let lines = log?.split(separator: "\n").suffix(3).joined(separator: " ") ?? ""
        return .failed("\(program): \(lines)")
    }

    // MARK: - What it takes

    /// Starts one of the server's programs in the directory, which its user may enter.
    private func launch(_ program: String, _ options: [String]) throws -> ChildProcess {
        let script = "cd \"$0\" && exec \"$@\" 2>>log"
        let words = self.launcher + ["\(self.programs)/\(program)", "-D", "\(self.scratch.path)/data"] + options
        return try self.stage.start(program, "/bin/sh", ["-c", script, self.scratch.path] + words)
    }

    /// The folder of the newest server that is installed; Debian keeps it out of PATH.
    private static func findPrograms() throws -> String {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { String($0) }
        let folders =
            versions.compactMap { Int($0) }.sorted(by: >).map { "\(debian)/\($0)/bin" } + path + ["/opt/homebrew/bin"]
        let found = folders.first { folder in
            ["postgres", "initdb", "pg_isready", "psql"].allSatisfy { unsafe access("\(folder)/\($0)", X_OK) == 0 }
        }
        guard let found else { throw DemoError.missing("the programs of a PostgreSQL server; run: make demo-fleet") }
        return found
    }

    /// The words that run a command as a user whom the server accepts, who gets the directory.
    private static func launcher(owning directory: String) throws -> [String] {
        let launcher = ChildProcess.leash(signal: "QUIT")
        guard getuid() == 0 else { return launcher }
        for name in ["postgres", "nobody"] {
            guard let user = unsafe getpwnam(name) else { continue }
            let (id, group) = unsafe (user.pointee.pw_uid, user.pointee.pw_gid)
            guard unsafe chown(directory, id, group) == 0
            else { throw DemoError.system("give \(directory) to \(name)", code: errno) }
            return launcher + ["--reuid", String(id), "--regid", String(group), "--clear-groups"]
        }
        throw DemoError.missing("a user other than root, whom PostgreSQL needs")
    }
}
#endif

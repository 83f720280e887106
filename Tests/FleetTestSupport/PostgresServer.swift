#if PostgreSQL
import BreakerFleet
import BreakerTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A PostgreSQL of the tests' own, on loopback, in a temporary directory.
///
/// A shell runs the server and does what it is told on its standard input. When that ends, as it does however this
/// process ends, the shell ends the server and removes the directory. The server runs as another user when the tests
/// run as root, whom it refuses. A test whose server can't be had fails.
package final class PostgresServer: Sendable {
    /// The server that tests share; it runs until the last of them has ended.
    package static func shared() async throws -> PostgresServer { try await self.started.value }

    private static let started = Task { try await PostgresServer() }

    package let port: Int
    private let shell: WorkerProcess
    private let numbers = Locked(0)

    /// Starts a server that a test has for itself.
    package init() async throws {
        let programs = try Self.programs()
        let directory = try Directory.make("breakerstore-postgres")
        let launcher = try Self.launcher(owning: directory)
        self.port = try FreePort.find()
        self.shell = try WorkerProcess(
            program: "/bin/sh",
            arguments: ["-c", Self.script, "postgres-of-tests", programs, directory, String(self.port)] + launcher)
        try await self.shell.ask("make")
        try await self.start()
    }

    // Killed, the shell could not clear up.
    deinit { Task { [shell] in await shell.quit() } }

    /// Starts the server again, and waits until it answers.
    package func start() async throws { try await self.shell.ask("start") }

    /// Ends the server in order, without waiting for its clients.
    package func stop() async throws { try await self.shell.ask("stop INT") }

    /// Ends the server as a crash does.
    package func kill9() async throws { try await self.shell.ask("stop KILL") }

    /// Ends the server and removes its directory; for one that a test has for itself.
    package func clear() async { await self.shell.quit() }

    /// A connection string for a database of the server; the user `postgres` may do everything.
    package func connection(database: String = "postgres", user: String = "postgres") -> String {
        "host=127.0.0.1 port=\(self.port) dbname=\(database) user=\(user)"
    }

    /// A new and empty database.
    package func makeDatabase() throws -> String {
        let name = self.numbers.withLock { number in
            number += 1
            return "test\(number)"
        }
        let owner = try ServerConnection(ConnectionSettings(parsing: self.connection()), manner: .patient)
        try owner.run("CREATE DATABASE \(name)")
        return name
    }

    // MARK: - What it takes

    /// The folder of the newest server that is installed.
    private static func programs() throws -> String {
        let debian = Directory.names(in: "/usr/lib/postgresql").compactMap { Int($0) }.sorted().reversed()
            .map { "/usr/lib/postgresql/\($0)/bin" }
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { String($0) }
        let found = (debian + path + ["/opt/homebrew/bin"]).first { folder in
            ["postgres", "initdb", "pg_isready"].allSatisfy { unsafe access("\(folder)/\($0)", X_OK) == 0 }
        }
        guard let found else { throw Missing(description: "no PostgreSQL server is installed: make test-fleet") }
        return found
    }

    package struct Missing: Error, CustomStringConvertible {
        package let description: String
    }

    /// The words that run a command as a user whom the server accepts, who gets the directory.
    private static func launcher(owning directory: String) throws -> [String] {
        guard getuid() == 0 else { return [] }
        for name in ["postgres", "nobody"] {
            guard let user = unsafe getpwnam(name) else { continue }
            let (id, group) = unsafe (user.pointee.pw_uid, user.pointee.pw_gid)
            guard unsafe chown(directory, id, group) == 0 else { throw SystemError("give \(directory) to \(name)") }
            return [
                "setpriv", "--reuid", String(id), "--regid", String(group), "--clear-groups", "--pdeathsig", "QUIT",
            ]
        }
        throw Missing(description: "no user for a PostgreSQL server")
    }

    /// Answers each line that it reads with one line.
    ///
    /// The server's shared memory lies in its directory: what a killed server leaves behind goes with that.
    /// The user `secretive` needs the password `s3cret-word`.
    private static let script = """
        bin=$1 dir=$2 port=$3 pid=
        shift 3
        trap '' INT HUP TERM
        cd "$dir" || exit 1
        answer() { if [ "$1" -eq 0 ]; then echo ok; else echo "error $2: $(tail -n 3 "$dir/log" | tr '\\n' ' ')"; fi; }
        make() {
            "$@" "$bin/initdb" -D "$dir/data" -A trust -U postgres -E UTF8 --locale=C --no-sync &&
            "$@" sh -c 'printf "host all %s 127.0.0.1/32 %s\\n" secretive scram-sha-256 all trust >"$1"' sh "$dir/data/pg_hba.conf"
        }
        begin() {
            tries=0
            while [ $tries -lt 400 ]; do
                # After a crash the server does not start before the last of its old processes has ended.
                if [ -z "$pid" ] || ! kill -0 "$pid" 2>/dev/null; then
                    "$@" "$bin/postgres" -D "$dir/data" -p "$port" -c listen_addresses=127.0.0.1 \
                        -c unix_socket_directories= -c fsync=off -c full_page_writes=off -c max_connections=200 \
                        -c shared_buffers=32MB -c dynamic_shared_memory_type=mmap \
                        -c password_encryption=scram-sha-256 </dev/null >>"$dir/log" 2>&1 &
                    pid=$!
                fi
                "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" -d postgres -U postgres && return 0
                tries=$((tries + 1))
                sleep 0.05
            done
            return 1
        }
        halt() {
            [ -n "$pid" ] || return 0
            kill "-$1" "$pid"
            wait "$pid"
            pid=
            return 0
        }
        while read -r word argument; do
            case $word in
            make) make "$@" >>"$dir/log" 2>&1; answer $? make ;;
            start) begin "$@"; answer $? start ;;
            stop) halt "$argument" 2>/dev/null; echo ok ;;
            esac
        done
        halt QUIT 2>/dev/null
        cd /
        rm -rf "$dir"
        """
}
#endif

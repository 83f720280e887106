/// The file system on which a directory lies, as the kernel lists it.
struct Mount: Equatable {
    enum Access {
        case readWrite
        /// This mount is read-only; the file system may be writable elsewhere, such as outside a container.
        case readOnlyHere
        /// The whole file system is read-only.
        case readOnly
    }

    /// Where it is mounted.
    let path: String
    /// Such as `ext4`.
    let kind: String
    let access: Access

    /// - Parameter list: the text of /proc/self/mountinfo (proc_pid_mountinfo(5)).
    init?(of directory: String, in list: String) {
        var best: Mount?
        for line in list.split(separator: "\n") {
            // Such as `36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`.
            let fields = line.split(separator: " ")
            guard fields.count > 5, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            let mount = Mount(
                path: Self.unescaped(fields[4]), kind: String(fields[dash + 1]),
                access: Self.access(options: fields[5], ofFileSystem: dash + 3 < fields.count ? fields[dash + 3] : ""))
            // A later mount at the same path covers the earlier ones.
            if mount.has(directory), mount.path.utf8.count >= best?.path.utf8.count ?? 0 { best = mount }
        }
        guard let best else { return nil }
        self = best
    }

    private init(path: String, kind: String, access: Access) {
        self.path = path
        self.kind = kind
        self.access = access
    }

    private static func access(options: Substring, ofFileSystem all: Substring) -> Access {
        // From Linux 6.15 on, ext4 says by `emergency_ro` or `shutdown` that an error has stopped all writing.
        let stopped: Set<Substring> = ["ro", "emergency_ro", "shutdown"]
        guard stopped.isDisjoint(with: all.split(separator: ",")) else { return .readOnly }
        return options.split(separator: ",").contains("ro") ? .readOnlyHere : .readWrite
    }

    private func has(_ directory: String) -> Bool {
        directory == self.path || directory.hasPrefix(self.path.hasSuffix("/") ? self.path : self.path + "/")
    }

    /// The kernel writes blanks, tabs, line ends and backslashes as three octal digits.
    private static func unescaped(_ field: Substring) -> String {
        var text = String(field)
        for (escape, mark) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
            text = text.replacing(escape, with: mark)
        }
        return text
    }
}

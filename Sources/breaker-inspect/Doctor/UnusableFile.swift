import BreakerStore

/// The doctor's finding about a file that is no store.
struct UnusableFile {
    let path: String
    let refusal: BreakerStoreError

    func finding(_ files: StoreFiles) -> Finding {
        do throws(BreakerStoreError) {
            switch try files.standing() {
            case .unrecognizable: return self.broken(isKnown: files.isLockFileOfStore)
            // The file has changed since it was refused.
            case .refused, .unused:
                return self.wrong(self.refusal.message.escaped, "it has changed since: run this again")
            }
        } catch {
            return self.wrong(error.message.escaped, error.advice?.escaped ?? "correct the path")
        }
    }

    /// - Parameter isKnown: whether a lock file shows that a store was here; services then move the file away.
    private func broken(isKnown: Bool) -> Finding {
        let what = "it is not an SQLite database, or is damaged; "
        guard !isKnown else {
            return self.wrong(
                what + "the next service that opens it moves it away, and starts a new one",
                "start a service, or move it away now: '\(Tool.name) set-aside'")
        }
        return self.wrong(
            what + "services that start now refuse it",
            "if it was the store: '\(Tool.name) set-aside' moves it away, and they start a new one; else correct the "
                + "path")
    }

    private func wrong(_ what: String, _ advice: String) -> Finding {
        .wrong("file", "\(self.path.quoted): \(what)", advice)
    }
}

import CTestSupport

/// Forks a child that SIGALRM ends after so many seconds, whatever it waits for; 0 in the child.
package func fork(forSeconds seconds: UInt32) -> Int32 { ts_fork_for(seconds) }

/// The same at an instant at which all other threads of this process sleep: none of them leaves the child a lock.
package func forkBesideSleepers(forSeconds seconds: UInt32) -> Int32 { ts_fork_beside_sleepers(seconds) }

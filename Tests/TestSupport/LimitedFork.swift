import CTestSupport

/// Forks a child that SIGALRM ends after so many seconds, whatever it waits for; 0 in the child.
package func fork(forSeconds seconds: UInt32) -> Int32 { ts_fork_for(seconds) }

/// What must hold in every state of the world, in plain words.
enum Promise: String {
    case probes = "at most the configured number of probes run at a time"
    case slots = "a slot is held by a probe that will give it back"
    case probedAgain = "an open circuit whose time has come is probed again when somebody calls"
    case late = "a result that comes too late changes nothing"
    case acknowledged = "no acknowledged report is lost, and enough of them trip"
    case once = "a report counts once"
    case oneTrip = "one trip, one event"
    case held = "a hold is in force from the operator's word until its end"
    case oneLeader = "one leader at a time"
    case gates = "the gates are shut before a caller hears that its change failed"
    case ends = "no ticket waits for ever"
    case woken = "a change that can be made waits for no deadline"
}

/// A promise that is broken, and how.
struct BrokenPromise {
    let promise: Promise
    let how: String
}

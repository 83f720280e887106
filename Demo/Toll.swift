/// How many doomed calls reached the broken service, by what happened meanwhile.
struct Toll {
    var untilOpen = 0
    var probing = 0
    var newcomer = 0
    var deployment = 0

    var total: Int { self.untilOpen + self.probing + self.newcomer + self.deployment }
}

/// What operations of these tests throw.
struct CallFailure: Error, Equatable {
    var number = 0
}

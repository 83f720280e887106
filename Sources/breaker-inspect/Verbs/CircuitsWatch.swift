import BreakerStore
import BreakerTool

/// The selected circuits, read again whenever the file has changed.
struct CircuitsWatch {
    private let watch: ChangeWatch
    private let selection: Selection
    private let context: Context
    private var image: StoreImage?
    /// Why the last read found no circuits.
    private(set) var trouble: Failure?

    init(_ watch: ChangeWatch, _ selection: Selection, in context: Context) {
        self.watch = watch
        self.selection = selection
        self.context = context
    }

    /// Reads the circuits if the file has changed; changes by time alone need no read.
    ///
    /// After an error of the store, the circuits of the last read stay; after a missing name, they are dropped.
    mutating func refresh() throws(Failure) {
        let selection = self.selection
        let found: Outcome<StoreImage>?
        do throws(BreakerStoreError) {
            found = try self.watch.inspectIfChanged { (inspection, _) throws(BreakerStoreError) in
                try selection.image(in: inspection)
            }
        } catch {
            throw self.context.failure(error)
        }
        switch found {
        case nil: if let trouble = self.trouble { throw trouble }
        case .success(let image): (self.image, self.trouble) = (image, nil)
        case .failure(let failure):
            // This stays until a changed file is read.
            (self.image, self.trouble) = (nil, failure)
            throw failure
        }
    }

    /// The circuits now, by name.
    mutating func circuits() throws(Failure) -> [InspectedCircuit] {
        try self.refresh()
        return self.lastCircuits
    }

    /// The circuits whose rows the last read could not read.
    var unreadable: Unreadable { Unreadable(self.image?.unreadable ?? []) }

    /// The circuits of the last read, as of now.
    var lastCircuits: [InspectedCircuit] { self.image?.circuits() ?? [] }

    /// The workers now; nil if nothing was read.
    var live: LiveWorkers? { self.image?.liveWorkers() }

    /// The same circuits, each computed on demand; nil if nothing was read.
    var lastMoment: StoreImage.Moment? { self.image?.now() }
}

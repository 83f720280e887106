import BreakerStore
import BreakerTool

/// The selected circuits, read again whenever the file has changed.
struct CircuitsWatch {
    private let watch: ChangeWatch
    private let selection: Selection
    private let context: Context
    private var image: StoreImage?
    /// Why they can't be told just now.
    private(set) var trouble: Failure?

    init(_ watch: ChangeWatch, _ selection: Selection, in context: Context) {
        self.watch = watch
        self.selection = selection
        self.context = context
    }

    /// Reads the circuits if the file has changed; what the passing of time alone changes needs no look at the file.
    ///
    /// Throws what keeps them from being read; those that were read before are still there then.
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
            // Nothing changes that but another look at a changed file.
            (self.image, self.trouble) = (nil, failure)
            throw failure
        }
    }

    /// The circuits now, by name.
    mutating func circuits() throws(Failure) -> [InspectedCircuit] {
        try self.refresh()
        return self.lastCircuits
    }

    /// Those of the last reading that could not be read.
    var unreadable: Unreadable { Unreadable(self.image?.unreadable ?? []) }

    /// The circuits as they were read last, now.
    var lastCircuits: [InspectedCircuit] { self.image?.circuits() ?? [] }

    /// The same, each made when it is asked for; nil where nothing was read.
    var lastMoment: StoreImage.Moment? { self.image?.now() }
}

/// How wide the columns of a table are on a terminal.
extension Table {
    /// The width of each column on a terminal; nil for a column that is left out, and for one whose texts all go below.
    func layout(_ available: Int?) -> [Int?] {
        var widths: [Int?] = self.widths
        guard let available else { return widths }
        for (index, column) in self.columns.enumerated() where column.isLeftOutEmpty && !self.isFilled[index] {
            widths[index] = nil
        }
        self.boundNames(&widths, available)
        self.leaveOut(.whereRoomy, from: &widths, available) { min($0, max($1, Self.readable)) }
        self.leaveOut(.whereItFits, from: &widths, available) { $1 == 0 ? nil : min($0, $1) }
        self.boundTextsThatMayStandBelow(&widths, available)
        self.shrink(&widths, to: available)
        return widths
    }

    /// Limits names to the room that the columns that are always shown leave; a longer name gets its own line, and so
    /// needs no room in the column.
    private func boundNames(_ widths: inout [Int?], _ available: Int) {
        let needed = zip(self.columns, widths).map { column, width -> Int? in
            guard let width, column.presence == .always, column.narrowest(width) > 0 else { return nil }
            return column.isName ? 0 : column.narrowest(width)
        }
        let room = (available - Self.total(needed[...])) / max(1, self.columns.count(where: \.isName))
        for (index, column) in self.columns.enumerated() where column.isName && self.widths[index] > room {
            let least = max(column.title.displayWidth, min(column.usualWidth, room))
            widths[index] = max(least, self.widestText(in: index, upTo: room))
        }
    }

    /// Gives the columns whose texts may stand below the room that the others leave, from the first to the last.
    ///
    /// A column is left out if none of its texts fits, so that no title stands above nothing.
    private func boundTextsThatMayStandBelow(_ widths: inout [Int?], _ available: Int) {
        let wanted = widths
        for (index, column) in self.columns.enumerated() where column.mayStandBelow { widths[index] = nil }
        for (index, column) in self.columns.enumerated() where column.mayStandBelow {
            guard let width = wanted[index] else { continue }
            let room = available - Self.total(widths[...]) - Self.gap
            guard width > room else {
                widths[index] = width
                continue
            }
            let widest = max(column.usualWidth, self.widestText(in: index, upTo: room))
            let title = column.title.displayWidth
            widths[index] = widest == 0 || title > room ? nil : min(room, max(title, widest))
        }
    }

    private func widestText(in column: Int, upTo room: Int) -> Int {
        self.ranks.indices.reduce(0) { widest, row in
            let width = Int(self.storedCells[row * self.columns.count + column].width)
            return width > room ? widest : max(widest, width)
        }
    }

    /// Leaves out columns from the last to the first, until the others fit.
    ///
    /// - Parameter cut: the width of a column, from its full width and its narrowest one; nil if it needs none.
    private func leaveOut(
        _ presence: Presence, from widths: inout [Int?], _ available: Int, cut: (_ width: Int, _ narrowest: Int) -> Int?
    ) {
        for index in self.columns.indices.reversed() where self.columns[index].presence == presence {
            let needed = zip(self.columns, widths).map { column, width in
                width.flatMap { cut($0, column.narrowest($0)) }
            }
            guard Self.total(needed[...]) > available else { return }
            widths[index] = nil
        }
    }

    private static func total(_ widths: ArraySlice<Int?>) -> Int {
        widths.reduce(-Self.gap) { $0 + ($1.map { $0 + Self.gap } ?? 0) }
    }

    private func shrink(_ widths: inout [Int?], to available: Int) {
        let excess = Self.total(widths[...]) - available
        guard excess > 0 else { return }
        for _ in 0..<excess {
            var widest: (index: Int, width: Int)?
            for (index, width) in widths.enumerated() {
                guard let width, width > self.columns[index].minimumWidth ?? .max else { continue }
                if width >= widest?.width ?? 0 { widest = (index, width) }
            }
            guard let widest else { return }
            widths[widest.index] = widest.width - 1
        }
    }
}

extension Table.Column {
    /// The least width of a column of this width: none where all texts may go below.
    fileprivate func narrowest(_ width: Int) -> Int {
        min(width, self.minimumWidth ?? (self.mayStandBelow ? 0 : width))
    }
}

/// Rows of text in aligned columns.
///
/// ```
/// what            count
/// orders taken      300
/// ```
struct Table: Sendable {
  /// Where the text of a column stands.
  enum Alignment: Sendable {
    case left, right
  }

  private let alignments: [Alignment]
  private var rows: [[String]]

  /// A table with a row of headings; numbers belong in right-aligned columns.
  init(_ columns: [(heading: String, alignment: Alignment)]) {
    alignments = columns.map(\.alignment)
    rows = [columns.map(\.heading)]
  }

  /// Adds a row with one text a column; missing ones are empty.
  mutating func add(_ cells: [String]) {
    precondition(
      cells.count <= alignments.count, "\(cells.count) cells, \(alignments.count) columns")
    rows.append(cells + Array(repeating: "", count: alignments.count - cells.count))
  }

  /// The lines of the table, headings first, none ending in a space.
  var lines: [String] {
    let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line +=
          (column == 0 ? "" : "  ") + (alignments[column] == .left ? cell + space : space + cell)
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

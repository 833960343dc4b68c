import Foundation
import Testing

/// `Docs/Format.md`, and the sources whose doc comments repeat its byte tables.
enum FormatPage {
  private static let directory = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The page's lines.
  static func lines() throws -> [String] {
    try String(contentsOf: directory.appending(path: "Docs/Format.md"), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// A table of the page: the section that it stands in, the cells of its header, and its rows.
  struct Table {
    let section: String
    let columns: [String]
    let rows: [[String]]
  }

  /// Every table of the page. A table under a paragraph that begins in bold has that as its
  /// section.
  static func tables() throws -> [Table] {
    var tables: [Table] = []
    var section = ""
    var cells: [[String]] = []
    for line in try lines() + [""] {
      if line.hasPrefix("|") {
        cells.append(
          line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) })
        continue
      }
      if let columns = cells.first {
        tables.append(
          Table(section: section, columns: columns, rows: Array(cells.dropFirst(2))))
        cells = []
      }
      if line.hasPrefix("#") {
        section = String(line.drop { $0 == "#" || $0 == " " })
      } else if line.hasPrefix("**"), let end = line.dropFirst(2).firstRange(of: "**") {
        section = line[..<end.lowerBound].dropFirst(2).trimmingCharacters(in: ["."])
      }
    }
    return tables
  }

  /// The tables of bytes, by section.
  static func byteTables() throws -> [String: ByteTable] {
    let tables = try tables().filter { $0.columns == ["offset", "size", "field"] }
    return Dictionary(
      try tables.map { table in
        let rows = try table.rows.map { cells in
          try ByteTable.Row(
            offset: #require(cells.first), size: #require(cells.dropFirst().first),
            field: cells.dropFirst(2).joined(separator: " | "))
        }
        return (table.section, ByteTable(section: table.section, rows: rows))
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The byte table in a source file's doc comments.
  static func byteTable(inSource path: String) throws -> ByteTable {
    let text = try String(
      contentsOf: directory.appending(path: "Sources/\(path)"), encoding: .utf8)
    let comments = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .drop { !$0.hasPrefix("///     offset  size  field") }.dropFirst()
      .prefix { $0.hasPrefix("///     ") }
    let rows = try comments.compactMap { line -> ByteTable.Row? in
      let words = line.dropFirst(3).split(separator: " ", maxSplits: 2).map(String.init)
      // Any other line goes on with the field of the one before it.
      guard line.dropFirst(8).first?.isNumber == true else { return nil }
      return try ByteTable.Row(
        offset: #require(words.first), size: #require(words.dropFirst().first),
        field: #require(words.dropFirst(2).first).trimmingCharacters(in: .whitespaces))
    }
    return ByteTable(section: path, rows: rows)
  }
}

/// A table of offsets and sizes.
struct ByteTable {
  struct Row {
    let offset: Int
    /// `nil` for what goes on to the end.
    let byteCount: Int?
    let field: String

    init(offset: String, size: String, field: String) throws {
      self.offset = try #require(Int(offset), "\(offset) is no offset")
      // "8 x 48" stands for eight items of 48 bytes.
      let factors = size.split(separator: "x").map {
        Int($0.trimmingCharacters(in: .whitespaces))
      }
      try #require(size == "..." || !factors.contains(nil), "\(size) is no size")
      byteCount = size == "..." ? nil : factors.compactMap(\.self).reduce(1, *)
      self.field = field
    }

    /// The bytes of the row, as far as `bytes` go.
    func range(in bytes: [UInt8]) -> Range<Int> {
      offset..<(byteCount.map { offset + $0 } ?? bytes.count)
    }

    /// Whether the field is the same in all there is: magic, version, sizes, zeros.
    var isConstant: Bool {
      let starts = ["magic", "zero", "major version", "minor version", "header bytes", "key id"]
      return starts.contains { field.hasPrefix($0) }
    }

    /// Whether the field is made of the other fields.
    var isChecksum: Bool {
      field.hasPrefix("CRC-32C of bytes") || field.hasPrefix("CRC-32C of the kind")
    }

    /// The numbers that the field may have, as in "kind: 1 batch, 2 echo".
    var namedNumbers: [Int: String] {
      var names: [Int: String] = [:]
      for part in field.split(separator: ":", maxSplits: 1).last?.split(separator: ",") ?? [] {
        let words = part.split(separator: " ", maxSplits: 1).map(String.init)
        if words.count == 2, let number = Int(words[0]) { names[number] = words[1] }
      }
      return names
    }
  }

  let section: String
  let rows: [Row]

  /// Where the last row ends; where it begins, if it goes on.
  var byteCount: Int { rows.last.map { $0.offset + ($0.byteCount ?? 0) } ?? 0 }
}

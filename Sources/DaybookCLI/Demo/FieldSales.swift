import Daybook
import DaybookFormat
import Foundation

/// The records of the running example, as an app would declare them.
enum FieldSales {
  struct Product: Record {
    static let collection = "products"
    var id: String
    var manufacturer: String
    var department: String
    var brand: String
    var category: String?
    var type: String?
    var package: String?
  }

  struct Shop: Record {
    static let collection = "shops"
    var id: String
    var orders: Int
  }

  struct SalesOrder: Record {
    static let collection = "orders"

    struct Line: Codable, Sendable {
      var sku: String
      var qty: Int
      var amountCents: Int
    }

    var id: String
    var rep: String
    var shop: String
    var customer: String
    var takenAt: Date
    var lines: [Line]
    var totalCents: Int
    var status: String
    var note: String?
  }

  struct Visit: Record {
    static let collection = "visits"
    var id: String
    var rep: String
    var shop: String
    var at: Date
  }
}

/// The real grocery data that the demo runs on, from `Fixtures/field-sales`.
struct FieldSalesData: Sendable {
  let schema: Schema
  /// The file that the schema was read from, for the server to keep.
  let schemaBytes: [UInt8]
  let products: [FieldSales.Product]
  let shops: [FieldSales.Shop]
  private let orders: [ValueMap]

  /// Reads the fixtures from a folder above the program or the working directory.
  static func load() throws -> FieldSalesData {
    guard let folder = folder() else {
      throw Failure(
        status: .inputOutput, message: "Fixtures/field-sales was not found",
        remedy: "Run the demo inside a checkout of Daybook, or with its Fixtures folder beside it.")
    }
    let schemaBytes = try bytes(of: folder.appendingPathComponent("schema.json"))
    return FieldSalesData(
      schema: try Schema(json: schemaBytes), schemaBytes: schemaBytes,
      products: try lines(folder, "products").compactMap { row in
        guard let sku = row["sku"]?.text else { return nil }
        return FieldSales.Product(
          id: sku, manufacturer: row["manufacturer"]?.text ?? "",
          department: row["department"]?.text ?? "", brand: row["brand"]?.text ?? "",
          category: row["category"]?.text, type: row["type"]?.text,
          package: row["package"]?.text)
      },
      shops: try lines(folder, "shops").compactMap { row in
        guard let id = row["id"]?.text, let count = row["orders"]?.integer else { return nil }
        return FieldSales.Shop(id: id, orders: Int(count))
      },
      orders: try lines(folder, "orders"))
  }

  /// Order `index`, taken by `rep`. Beyond the fixture's last one it goes round again, with a new
  /// id and a date a week later each time.
  func order(_ index: Int, rep: String) -> FieldSales.SalesOrder {
    let row = orders[index % orders.count]
    let round = index / orders.count
    let taken = row["takenAt"]?.text.flatMap { Timestamp(rfc3339: $0) }?.milliseconds ?? 0
    let seconds = Double(taken) / 1_000 + Double(round) * 7 * 86_400
    let lines = (row["lines"]?.array ?? []).compactMap { line -> FieldSales.SalesOrder.Line? in
      guard let line = line.map, let sku = line["sku"]?.text, let qty = line["qty"]?.integer,
        let cents = line["amountCents"]?.integer
      else { return nil }
      return FieldSales.SalesOrder.Line(sku: sku, qty: Int(qty), amountCents: Int(cents))
    }
    let id = row["id"]?.text ?? "order"
    return FieldSales.SalesOrder(
      id: round == 0 ? id : "\(id)-\(round + 1)", rep: rep, shop: row["shop"]?.text ?? "",
      customer: row["customer"]?.text ?? "", takenAt: Date(timeIntervalSince1970: seconds),
      lines: lines, totalCents: lines.reduce(0) { $0 + $1.amountCents }, status: "open")
  }

  private static func folder() -> URL? {
    let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").standardizedFileURL
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    for start in [here, program] {
      var place = start
      while place.path != "/" {
        let folder = place.appendingPathComponent("Fixtures/field-sales")
        let schema = folder.appendingPathComponent("schema.json").path
        if FileManager.default.fileExists(atPath: schema) { return folder }
        place.deleteLastPathComponent()
      }
    }
    return nil
  }

  private static func bytes(of file: URL) throws -> [UInt8] {
    do {
      return Array(try Data(contentsOf: file))
    } catch {
      throw Failure(
        status: .inputOutput, message: "\(file.path) can't be read",
        remedy: "Check that the checkout is whole.")
    }
  }

  private static func lines(_ folder: URL, _ name: String) throws -> [ValueMap] {
    let file = folder.appendingPathComponent("\(name).jsonl")
    return try bytes(of: file).split(separator: UInt8(ascii: "\n")).compactMap {
      try JSONText.parse($0).map
    }
  }
}

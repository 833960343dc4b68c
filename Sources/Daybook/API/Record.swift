public import DaybookFormat

/// An app's type for the records of one collection.
///
///     struct Order: Record {
///       static let collection = "orders"
///       var id: String
///       var shop: String
///       var note: String?
///     }
///
/// `id` is the record's id and not a field of the schema; every other stored property is a field by
/// its coding key. A property that is `nil` is a field that the record lacks.
public protocol Record: Codable, Sendable, Identifiable where ID: RecordIdentifier {
  /// The name of the collection in the schema.
  static var collection: String { get }
}

/// A type that can be the id of a record.
public protocol RecordIdentifier: Hashable, Sendable {
  /// The id as it is stored: 1 to 512 bytes of UTF-8.
  var recordID: String { get }
}

extension String: RecordIdentifier {
  /// The text itself.
  public var recordID: String { self }
}

extension Int: RecordIdentifier {
  /// The number in decimal.
  public var recordID: String { String(self) }
}

extension Identifier: RecordIdentifier {
  /// The text form of the UUID.
  public var recordID: String { description }
}

/// Turns an app's records into rows and back.
enum RecordCoding {
  /// The fields of `record`, without its id.
  static func row(of record: some Record) throws(DaybookError) -> ValueMap {
    let value: Value
    do {
      value = try RecordEncoder().encode(record)
    } catch {
      throw DaybookError(
        .schema, "A \(type(of: record)) can't be stored: \(error)", cause: error)
    }
    guard var map = value.map else {
      throw DaybookError(.schema, "A \(type(of: record)) must encode as a keyed container.")
    }
    map["id"] = nil
    return map
  }

  /// The number that `id` spells, in the one way in which it is spelled; else the text, which is no
  /// id of a record with numbers.
  private static func number(_ id: String) -> Value {
    guard let number = Int64(id), String(number) == id else { return .text(id) }
    return .int(number)
  }

  /// The record `id` whose fields are `row`.
  static func record<R: Record>(
    _ type: R.Type, id: String, row: ValueMap
  ) throws(DaybookError) -> R {
    var map = row
    map["id"] = R.ID.self == Int.self ? number(id) : .text(id)
    do {
      return try RecordDecoder().decode(type, from: .map(map))
    } catch {
      throw DaybookError(
        .notDecodable, "A row of \(R.collection) does not fit \(type).", cause: error)
    }
  }
}

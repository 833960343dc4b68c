/// Why a schema or a value of it can't be used.
public enum SchemaError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file is not JSON; the offset of the first byte that can't be read.
  case notJSON(offset: Int)
  /// The member at this path is missing, of another type, or not one of the choices.
  case member(path: String, expected: String)
  /// A collection, field or action is named that the schema does not have.
  case unknown(path: String)
  /// The schema has no collection of this name.
  case unknownCollection(String)
  /// The collection has no such field.
  case unknownField(collection: String, field: String)
  /// The collection has no such action.
  case unknownAction(collection: String, action: String)
  /// The field holds a value of another type.
  case wrongType(collection: String, field: String)
  /// A new record lacks the field.
  case missingField(collection: String, field: String)
  /// The record's scope cannot be told, or would change.
  case scope(collection: String, field: String)

  /// The error in a sentence with a remedy, without the contents of any field.
  public var description: String {
    switch self {
    case .notJSON(let offset):
      return "The schema is not JSON: byte \(offset) can't be read. Check the file there."
    case .member(let path, let expected):
      return "The schema's \(path) must be \(expected)."
    case .unknown(let path):
      return "The schema's \(path) names something that it does not define."
    case .unknownCollection(let name):
      return "The schema has no collection \(name). Add it, or correct the name."
    case .unknownField(let collection, let field):
      return "The collection \(collection) has no field \(field). Add it to the schema."
    case .unknownAction(let collection, let action):
      return "The collection \(collection) has no action \(action). Add it to the schema."
    case .wrongType(let collection, let field):
      return "The field \(field) of \(collection) holds a value of another type than the schema's."
    case .missingField(let collection, let field):
      return "A new record of \(collection) needs the field \(field)."
    case .scope(let collection, let field):
      return "The field \(field) of \(collection) decides the scope: it must be text, and never "
        + "changes."
    }
  }
}

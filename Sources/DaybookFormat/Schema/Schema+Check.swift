extension Schema {
  /// The scope of a new record of `collection` with the row `row`, made by `account`.
  package func scope(
    of collection: String, row: ValueMap, account: String
  ) throws(SchemaError) -> String {
    guard let schema = collections[collection] else { throw .unknownCollection(collection) }
    switch schema.scope {
    case .constant(let name): return name
    case .account: return account
    case .field(let field):
      guard let value = row[field]?.text, !value.isEmpty else {
        throw .scope(collection: collection, field: field)
      }
      return "\(field)/\(value)"
    }
  }

  /// Checks that the fields of an action on `collection` are declared and of their types, that a
  /// whole row has all it needs, and that what decides the scope stays as it is.
  ///
  /// With `keepsUnknownFields` a field that the schema lacks is let through: a newer app may have
  /// made it.
  package func check(
    _ action: Action, collection: String, fields: ValueMap, unset: [String],
    keepsUnknownFields: Bool = false
  ) throws(SchemaError) {
    guard let schema = collections[collection] else { throw .unknownCollection(collection) }
    if case .named(let name) = action, schema.actions[name] == nil {
      throw .unknownAction(collection: collection, action: name)
    }
    for entry in fields.entries {
      let name = entry.key.text ?? ""
      guard let field = schema.fields[name] else {
        if keepsUnknownFields { continue }
        throw .unknownField(collection: collection, field: name)
      }
      guard field.admits(entry.value) else {
        throw .wrongType(collection: collection, field: name)
      }
    }
    for name in unset {
      guard let field = schema.fields[name] else { continue }
      guard field.isOptional else { throw .missingField(collection: collection, field: name) }
    }
    switch action {
    case .create, .replace:
      for (name, field) in schema.fields.sorted(by: { ByteOrder.precedes($0.key, $1.key) })
      where !field.isOptional && fields[name] == nil {
        throw .missingField(collection: collection, field: name)
      }
    case .patch, .named, .delete:
      if case .field(let name) = schema.scope, fields[name] != nil || unset.contains(name) {
        throw .scope(collection: collection, field: name)
      }
    }
  }
}

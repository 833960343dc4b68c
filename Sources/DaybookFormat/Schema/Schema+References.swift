extension CollectionSchema {
  /// The records that `fields` refer to, with the field of each, in the order of the fields.
  package func references(in fields: ValueMap) -> [(field: String, record: RecordKey)] {
    fields.entries.compactMap { entry in
      guard let name = entry.key.text, let id = entry.value.text,
        case .reference(let target, _) = self.fields[name]?.kind
      else { return nil }
      return (name, RecordKey(target, id))
    }
  }
}

extension Schema {
  /// The records that an operation's fields refer to; none if its collection is not known.
  package func references(of operation: Operation) -> [RecordKey] {
    self[operation.record.collection]?.references(in: operation.fields).map(\.record) ?? []
  }
}

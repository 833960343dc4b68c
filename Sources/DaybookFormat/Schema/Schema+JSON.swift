extension Schema {
  /// Reads the schema that `json` describes, as UTF-8.
  ///
  /// Members that this version does not know are left alone, so that a newer schema still opens.
  public init(json: [UInt8]) throws(SchemaError) {
    let value: Value
    do throws(JSONError) {
      value = try JSONText.parse(json)
    } catch {
      throw .notJSON(offset: error.place)
    }
    try self.init(SchemaNode(value: value, path: "root"))
  }

  private init(_ root: SchemaNode) throws(SchemaError) {
    var collections: [CollectionSchema] = []
    for (name, node) in try root.member("collections").members() {
      collections.append(try CollectionSchema(name: name, node: node))
    }
    let version = try root.member("version").integer()
    guard let number = UInt32(exactly: version), number > 0 else {
      throw .member(path: "root.version", expected: "a whole number from 1")
    }
    self.init(
      name: try root.member("name").text(), version: number, collections: collections,
      overseers: Set(try root.optional("overseers")?.texts() ?? []))
    try checkNames()
  }

  /// Every name that the schema uses is one that it defines.
  private func checkNames() throws(SchemaError) {
    for (name, collection) in collections {
      let path = "root.collections.\(name)"
      for (fieldName, field) in collection.fields {
        if case .reference(let target, _) = field.kind, collections[target] == nil {
          throw .unknown(path: "\(path).fields.\(fieldName).to")
        }
      }
      var used = collection.indexes.map { ("indexes", $0) }
      if let lane = collection.lane { used.append(("lane", lane)) }
      if case .field(let field) = collection.scope { used.append(("scope.field", field)) }
      if let states = collection.states { used.append(("states.field", states.field)) }
      for (actionName, action) in collection.actions {
        used += action.set.names.map { ("actions.\(actionName).set", $0) }
      }
      for (place, field) in used where collection.fields[field] == nil {
        throw .unknown(path: "\(path).\(place)")
      }
    }
  }
}

extension CollectionSchema {
  fileprivate init(name: String, node: SchemaNode) throws(SchemaError) {
    var fields: [String: FieldSchema] = [:]
    for (field, member) in try node.member("fields").members() {
      fields[field] = try FieldSchema(node: member)
    }
    guard fields["id"] == nil else {
      throw .member(path: "\(node.path).fields", expected: "free of id, which every record has")
    }
    var actions: [String: NamedAction] = [:]
    for (action, member) in try node.optional("actions")?.members() ?? [] {
      actions[action] = NamedAction(
        from: Set(try member.optional("from")?.texts() ?? []),
        set: try member.optional("set")?.map() ?? [:])
    }
    self.init(
      name: name, fields: fields,
      policy: try node.optional("policy")?.choice(Policy.self) ?? .versionCheck,
      lane: try node.optional("lane")?.text(), scope: try ScopeRule(node: node.member("scope")),
      indexes: try node.optional("indexes")?.texts() ?? [],
      states: try node.optional("states").map { node throws(SchemaError) in
        try StateRules(node: node)
      }, actions: actions,
      history: try node.optional("history").map { node throws(SchemaError) in
        try HistoryRule(node: node)
      } ?? .latest)
  }
}

extension FieldSchema {
  fileprivate init(node: SchemaNode) throws(SchemaError) {
    let name = try node.member("type").text()
    let kind: Kind
    switch name {
    case "text": kind = .text
    case "int": kind = .int
    case "double": kind = .double
    case "decimal": kind = .decimal
    case "bool": kind = .bool
    case "bytes": kind = .bytes
    case "time": kind = .time
    case "list": kind = .list
    case "map": kind = .map
    case "reference":
      let rule = try node.optional("onDelete")?.choice(ReferenceRule.self) ?? .refuse
      kind = .reference(to: try node.member("to").text(), onDelete: rule)
    default:
      throw .member(
        path: "\(node.path).type",
        expected: "text, int, double, decimal, bool, bytes, time, list, map or reference")
    }
    self.init(kind, isOptional: try node.optional("optional")?.boolean() ?? false)
  }
}

extension ScopeRule {
  fileprivate init(node: SchemaNode) throws(SchemaError) {
    if node.value.text == "account" {
      self = .account
    } else if let constant = try node.optional("constant") {
      self = .constant(try constant.text())
    } else if let field = try node.optional("field") {
      self = .field(try field.text())
    } else {
      throw .member(
        path: node.path, expected: "\"account\", {\"constant\": ...} or {\"field\": ...}")
    }
  }
}

extension HistoryRule {
  fileprivate init(node: SchemaNode) throws(SchemaError) {
    if node.value.text == "latest" {
      self = .latest
    } else if node.value.text == "keep" {
      self = .keep
    } else if let count = try? node.member("days").integer(),
      (1...Int64(HistoryRule.dayLimit)).contains(count)
    {
      self = .days(Int(count))
    } else {
      throw .member(
        path: node.path,
        expected: "\"latest\", \"keep\" or {\"days\": N}, N from 1 to \(HistoryRule.dayLimit)")
    }
  }
}

extension StateRules {
  fileprivate init(node: SchemaNode) throws(SchemaError) {
    var transitions: [String: Set<String>] = [:]
    for (state, member) in try node.optional("transitions")?.members() ?? [] {
      transitions[state] = Set(try member.texts())
    }
    self.init(
      field: try node.member("field").text(), initial: Set(try node.member("initial").texts()),
      transitions: transitions, final: Set(try node.optional("final")?.texts() ?? []))
  }
}

extension JSONError {
  /// Where the first byte that can't be read stands; the limit if there are too many.
  fileprivate var place: Int {
    switch self {
    case .truncated(let offset), .unexpected(let offset, _), .notText(let offset),
      .badEscape(let offset), .badNumber(let offset), .numberOutOfRange(let offset),
      .duplicateName(let offset), .tooDeep(let offset, _), .trailing(let offset):
      return offset
    case .tooLarge(_, let limit): return limit
    }
  }
}

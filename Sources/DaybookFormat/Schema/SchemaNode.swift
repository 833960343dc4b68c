/// A place in a schema file, so that an error can say where it is.
struct SchemaNode {
  let value: Value
  let path: String

  func member(_ name: String) throws(SchemaError) -> SchemaNode {
    guard let member = try optional(name) else {
      throw .member(path: "\(path).\(name)", expected: "given")
    }
    return member
  }

  func optional(_ name: String) throws(SchemaError) -> SchemaNode? {
    guard let map = value.map else { throw .member(path: path, expected: "an object") }
    guard let member = map[name], member != .null else { return nil }
    return SchemaNode(value: member, path: "\(path).\(name)")
  }

  func members() throws(SchemaError) -> [(name: String, node: SchemaNode)] {
    let map = try map()
    return map.entries.compactMap { entry in
      entry.key.text.map { ($0, SchemaNode(value: entry.value, path: "\(path).\($0)")) }
    }
  }

  func map() throws(SchemaError) -> ValueMap {
    guard let map = value.map else { throw .member(path: path, expected: "an object") }
    return map
  }

  func text() throws(SchemaError) -> String {
    guard let text = value.text, !text.isEmpty else { throw .member(path: path, expected: "text") }
    return text
  }

  func integer() throws(SchemaError) -> Int64 {
    guard let integer = value.integer else {
      throw .member(path: path, expected: "a whole number")
    }
    return integer
  }

  func boolean() throws(SchemaError) -> Bool {
    guard case .bool(let flag) = value else { throw .member(path: path, expected: "true or false") }
    return flag
  }

  func texts() throws(SchemaError) -> [String] {
    guard let array = value.array else { throw .member(path: path, expected: "a list of texts") }
    let texts = array.compactMap(\.text)
    guard texts.count == array.count else {
      throw .member(path: path, expected: "a list of texts")
    }
    return texts
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type
  ) throws(SchemaError) -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: try text()) else {
      let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .member(path: path, expected: "one of \(choices)")
    }
    return choice
  }
}

/// A map from values to values, in canonical order: by the bytes of the encoded key.
///
/// A row of a record is such a map with text keys, its top-level fields.
public struct ValueMap: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  /// One key with its value.
  public struct Entry: Sendable, Hashable {
    /// The key; any value that is no map may be one.
    public let key: Value
    /// What the key stands for.
    public var value: Value

    /// The pair of `key` and `value`.
    public init(key: Value, value: Value) {
      self.key = key
      self.value = value
    }
  }

  /// The entries, ordered by the encoded bytes of their keys, no key twice.
  public private(set) var entries: [Entry] = []

  /// A map with no entry.
  public init() {}

  /// The map of `fields`, text keys to values.
  public init(_ fields: [String: Value]) {
    entries = fields.map { Entry(key: .text($0.key), value: $0.value) }
    entries.sort { ValueMap.precedes($0.key, $1.key) }
  }

  /// A map of text keys; of a key given twice the last value counts.
  public init(dictionaryLiteral elements: (String, Value)...) {
    for (key, value) in elements { self[key] = value }
  }

  /// The map of `entries` in any order, `nil` if a key comes twice. O(*n* log *n*), and O(*n*) if
  /// they are in canonical order.
  package init?(unordered entries: consuming [Entry]) {
    ValueMap.sort(&entries)
    self.entries = entries
    if hasKeyTwice { return nil }
  }

  /// The map of `entries` in any order; of a key that comes twice the last value counts.
  init(lastOf entries: consuming [Entry]) {
    ValueMap.sort(&entries)
    self.entries = entries
    guard hasKeyTwice else { return }
    var last: [Entry] = []
    for entry in self.entries {
      if last.last?.key == entry.key { last.removeLast() }
      last.append(entry)
    }
    self.entries = last
  }

  private var hasKeyTwice: Bool {
    for index in entries.indices.dropFirst() where entries[index - 1].key == entries[index].key {
      return true
    }
    return false
  }

  /// The map of `entries`, which the caller has found to be in canonical order with no key twice.
  init(ordered entries: [Entry]) { self.entries = entries }

  /// The number of entries.
  public var count: Int { entries.count }

  /// Whether there is no entry.
  public var isEmpty: Bool { entries.isEmpty }

  /// The text keys, in canonical order.
  public var names: [String] { entries.compactMap(\.key.text) }

  /// The value of the text key `name`; setting `nil` removes it. O(log *n*) to read.
  public subscript(name: String) -> Value? {
    get { self[key: .text(name)] }
    set { self[key: .text(name)] = newValue }
  }

  /// The value of `key`; setting `nil` removes it. O(log *n*) to read, O(*n*) to change.
  public subscript(key key: Value) -> Value? {
    get {
      let (index, found) = position(of: key)
      return found ? entries[index].value : nil
    }
    set {
      let (index, found) = position(of: key)
      switch (newValue, found) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): entries.insert(Entry(key: key, value: value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Appends an entry whose key comes after all others; returns `false` and changes nothing
  /// otherwise.
  package mutating func appendInOrder(key: Value, value: Value) -> Bool {
    if let last = entries.last, !ValueMap.precedes(last.key, key) { return false }
    entries.append(Entry(key: key, value: value))
    return true
  }

  /// This map with the entries of `fields` set and those of `unset` removed.
  package func applying(set fields: ValueMap, unset: [String]) -> ValueMap {
    var result = self
    for entry in fields.entries { result[key: entry.key] = entry.value }
    for name in unset { result[name] = nil }
    return result
  }

  private func position(of key: Value) -> (index: Int, found: Bool) {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      let order = ValueMap.order(entries[middle].key, key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return (low, false)
  }
}

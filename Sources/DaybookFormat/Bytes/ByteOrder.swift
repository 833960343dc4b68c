/// The order of texts by their UTF-8 bytes: the same on every machine and in every language.
package enum ByteOrder {
  /// Whether `left` comes before `right`.
  package static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// Whether each text comes after the one before it, so that none stands twice.
  static func isStrictlyOrdered(_ texts: [String]) -> Bool {
    zip(texts, texts.dropFirst()).allSatisfy(precedes)
  }
}

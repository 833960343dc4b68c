/// Swift text without what is no code: comments are left out, literals and backticked names
/// emptied.
///
/// Line feeds stay where they are, so that lines keep their numbers. What an interpolation holds is
/// left out with its string.
struct CodeOnly {
  private let bytes: [UInt8]
  private var position = 0
  private var code: [UInt8] = []

  /// The code of `text`.
  static func text(of text: String) -> String {
    var scanner = CodeOnly(bytes: Array(text.utf8))
    scanner.scan(until: nil)
    return String(decoding: scanner.code, as: UTF8.self)
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Scans code to its end, or to the parenthesis that closes an interpolation.
  private mutating func scan(until end: UInt8?) {
    var depth = 0
    while position < bytes.count {
      if isAt("//") {
        while position < bytes.count, bytes[position] != UInt8(ascii: "\n") { position += 1 }
      } else if isAt("/*") {
        skipComment()
      } else if let hashCount = stringStart() {
        skipString(hashCount)
      } else if bytes[position] == UInt8(ascii: "`") {
        skipName()
      } else {
        if end != nil, bytes[position] == UInt8(ascii: "(") { depth += 1 }
        if bytes[position] == end {
          if depth == 0 { return }
          depth -= 1
        }
        code.append(bytes[position])
        position += 1
      }
    }
  }

  private func isAt(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private mutating func keepLineFeed() {
    if bytes[position] == UInt8(ascii: "\n") { code.append(UInt8(ascii: "\n")) }
  }

  private mutating func skipComment() {
    var depth = 0
    repeat {
      if isAt("/*") {
        depth += 1
        position += 2
      } else if isAt("*/") {
        depth -= 1
        position += 2
      } else {
        keepLineFeed()
        position += 1
      }
    } while depth > 0 && position < bytes.count
  }

  private mutating func skipName() {
    code += "`name`".utf8
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "`") { position += 1 }
    position += 1
  }

  /// The number of hashes before the quotation mark of a string that begins here.
  private func stringStart() -> Int? {
    let rest = bytes[position...]
    let hashCount = rest.prefix { $0 == UInt8(ascii: "#") }.count
    return rest.dropFirst(hashCount).first == UInt8(ascii: "\"") ? hashCount : nil
  }

  private mutating func skipString(_ hashCount: Int) {
    let hashes = String(repeating: "#", count: hashCount)
    position += hashCount
    let quote = isAt("\"\"\"") ? "\"\"\"" : "\""
    let end = quote + hashes
    let escape = "\\" + hashes
    position += quote.utf8.count
    code += "\"\"".utf8
    while position < bytes.count, !isAt(end) {
      if isAt(escape + "(") {
        position += escape.utf8.count + 1
        let kept = code.count
        scan(until: UInt8(ascii: ")"))
        let lineFeeds = code[kept...].filter { $0 == UInt8(ascii: "\n") }
        code.replaceSubrange(kept..., with: lineFeeds)
        position += 1
      } else if isAt(escape) {
        position += escape.utf8.count + 1
      } else {
        keepLineFeed()
        position += 1
      }
    }
    position += end.utf8.count
  }
}

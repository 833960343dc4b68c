/// One HTTP/1.1 message as it is on the wire, with a body whose length the head gives or that ends
/// with the connection. Chunked bodies are not understood: neither end of ours sends any.
struct WireMessage: Sendable {
  /// The request line or the status line, without its line break.
  var startLine: String
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  /// Bytes of the head as it was read; 0 if it was not.
  private(set) var headByteCount = 0

  /// Which end sends it: an answer without a length ends with its connection, a request has no
  /// body.
  enum Kind {
    case request
    case answer
  }

  /// Reads one whole message from `socket`, at most `byteLimit` bytes; `nil` if the connection ends
  /// before, or what comes is not such a message. `onHead` may answer an `Expect`.
  init?(
    _ kind: Kind, from socket: TCPSocket, byteLimit: Int, onHead: (WireMessage) -> Void = { _ in }
  ) {
    var bytes: [UInt8] = []
    var searched = 0
    var headEnd: Int?
    while headEnd == nil {
      let piece = socket.receive()
      guard !piece.isEmpty, bytes.count + piece.count <= byteLimit else { return nil }
      bytes += piece
      headEnd = Self.endOfHead(in: bytes, from: searched)
      searched = max(0, bytes.count - 3)
    }
    guard let headEnd, let head = Self(head: bytes[..<headEnd]) else { return nil }
    self = head
    guard header("Transfer-Encoding") == nil else { return nil }
    headByteCount = headEnd
    bytes.removeFirst(headEnd)
    onHead(self)
    let length = header("Content-Length").map { Int($0) ?? -1 } ?? (kind == .request ? 0 : nil)
    if let length, length < 0 || length > byteLimit { return nil }
    while bytes.count < length ?? .max {
      let piece = socket.receive()
      if piece.isEmpty, length == nil { break }
      guard !piece.isEmpty, bytes.count + piece.count <= byteLimit else { return nil }
      bytes += piece
    }
    body = bytes
  }

  /// A message of these parts.
  init(startLine: String, headers: [(name: String, value: String)], body: [UInt8]) {
    self.startLine = startLine
    self.headers = headers
    self.body = body
  }

  private init?(head: ArraySlice<UInt8>) {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    guard let first = lines.first else { return nil }
    startLine = String(first)
    headers = []
    body = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers.append((String(line[..<colon]), String(value)))
    }
  }

  func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name.lowercased() == wanted }?.value
  }

  /// Says that the connection ends with this message: neither end may use it again.
  mutating func endConnection() {
    headers.removeAll { ["connection", "keep-alive", "expect"].contains($0.name.lowercased()) }
    headers.append(("Connection", "close"))
  }

  /// The bytes to send.
  var bytes: [UInt8] {
    var head = startLine + "\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    return Array((head + "\r\n").utf8) + body
  }

  /// The status of an answer, 0 if there is none.
  var status: Int {
    startLine.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  private static func endOfHead(in bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= start + 4 else { return nil }
    for index in start...(bytes.count - 4)
    where bytes[index] == 13 && bytes[index + 1] == 10 && bytes[index + 2] == 13
      && bytes[index + 3] == 10
    {
      return index + 4
    }
    return nil
  }
}

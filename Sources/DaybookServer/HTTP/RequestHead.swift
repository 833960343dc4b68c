/// What a request's headers say about its body.
struct RequestHead {
  /// Bytes of all headers as sent.
  private(set) var byteCount = 0
  /// The announced length; `nil` if it is not given, or not a number.
  private(set) var bodyByteCount: Int?
  /// The length is given twice, in two ways, or not as a number: two readers could disagree on
  /// where the request ends (RFC 9112, section 6.3).
  private(set) var isAmbiguous = false
  /// The client sends the body only after a `100 Continue`.
  private(set) var waitsForLeave = false
  private var isChunked = false

  init(_ headers: [(name: String, value: String)]) {
    var lengths = 0
    for (name, value) in headers {
      byteCount += name.utf8.count + value.utf8.count + ": \r\n".utf8.count
      switch name.lowercased() {
      case "content-length":
        lengths += 1
        let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        bodyByteCount = isNumber ? Int(value) : nil
        if bodyByteCount == nil { isAmbiguous = true }
      case "transfer-encoding":
        isChunked = true
        if value.lowercased() != "chunked" { isAmbiguous = true }
      case "expect":
        waitsForLeave = value.lowercased() == "100-continue"
      default:
        break
      }
    }
    if lengths + (isChunked ? 1 : 0) > 1 { isAmbiguous = true }
  }

  /// Whether bytes follow the head.
  var hasBody: Bool { isChunked || isAmbiguous || bodyByteCount ?? 0 > 0 }
}

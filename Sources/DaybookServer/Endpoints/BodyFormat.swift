import DaybookFormat

/// The two forms of a body: the log's own bytes, and text for people and other languages.
enum BodyFormat: Sendable, Hashable {
  case cbor
  case json

  /// The media type, as headers name it.
  var mediaType: String {
    switch self {
    case .cbor: return Wire.cborType
    case .json: return Wire.jsonType
    }
  }

  /// The format that a `Content-Type` names, whatever its parameters; `nil` for any other type.
  init?(mediaType header: String) {
    switch Self.name(of: header[...]) {
    case Wire.cborType: self = .cbor
    case Wire.jsonType: self = .json
    default: return nil
    }
  }

  /// The format that an `Accept` header asks for, else `other`.
  ///
  /// The highest weight wins, then the earlier one. A client that takes neither format gets `other`
  /// all the same, as RFC 9110, section 12.5.1 allows: it is told something, and never HTML.
  init(accept header: String?, else other: BodyFormat) {
    var best: (format: BodyFormat, weight: Double) = (other, 0)
    for range in (header ?? "").split(separator: ",") {
      let format: BodyFormat
      switch Self.name(of: range) {
      case Wire.cborType: format = .cbor
      case Wire.jsonType: format = .json
      case "*/*", "application/*": format = other
      default: continue
      }
      let weight = Self.weight(of: range)
      if weight > best.weight { best = (format, weight) }
    }
    self = best.format
  }

  /// An answer with the body `value`, of which `readable` is the form for people.
  func response(
    _ status: UInt16, _ value: @autoclosure () -> Value, readable: @autoclosure () -> Value
  ) -> ServerResponse {
    var body: [UInt8] = []
    switch self {
    case .cbor:
      CBOREncoder.append(value(), to: &body)
    case .json:
      JSONText.append(readable(), to: &body)
      body.append(UInt8(ascii: "\n"))
    }
    return ServerResponse(status: Int(status), contentType: mediaType, body: body)
  }

  private static func name(of range: Substring) -> String {
    range.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
  }

  /// The weight of a range: 1 without a `q`, 0 for one that is no number.
  private static func weight(of range: Substring) -> Double {
    for parameter in range.split(separator: ";").dropFirst() {
      let sides = parameter.filter { $0 != " " }.lowercased().split(separator: "=")
      if sides.first == "q" { return sides.count == 2 ? Double(sides[1]) ?? 0 : 0 }
    }
    return 1
  }
}

import DaybookFormat

/// The body of a push, read from either format.
enum PushBody {
  /// The batch in `body`. Limits come first: nothing of a batch that is too large is decoded.
  static func request(
    _ body: [UInt8], _ format: BodyFormat
  ) throws(EndpointProblem) -> PushRequest {
    guard body.count <= Wire.pushByteLimit else {
      throw .tooLarge("The body has more than \(Wire.pushByteLimit) bytes: send less at a time.")
    }
    let value = try value(of: body, format)
    for name in ["operations", "withdrawals"] {
      guard let count = value.map?[name]?.array?.count, count > Wire.pushOperationLimit else {
        continue
      }
      throw .tooLarge(
        "The body has \(count) \(name), more than \(Wire.pushOperationLimit): send less at a time.")
    }
    do throws(EntryError) {
      return try PushRequest(value: format == .json ? JSONPush.wireForm(of: value) : value)
    } catch {
      throw .malformed(error.sentence)
    }
  }

  private static func value(
    of body: [UInt8], _ format: BodyFormat
  ) throws(EndpointProblem) -> Value {
    switch format {
    case .cbor:
      do throws(CBORError) {
        return try CBORDecoder.decode(body, mode: .canonical)
      } catch {
        throw .malformed("The body is not canonical CBOR (RFC 8949, section 4.2.1).")
      }
    case .json:
      do throws(JSONError) {
        return try JSONText.parse(body)
      } catch {
        throw .malformed("The body is not JSON (RFC 8259).")
      }
    }
  }
}

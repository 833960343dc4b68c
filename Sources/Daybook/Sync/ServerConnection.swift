import DaybookFormat
import DaybookNet
import DaybookSync

/// Speaks the server's protocol over a transport, and tells answers from what only looks like one.
struct ServerConnection: Sendable {
  let transport: any Transport
  let credentials: any Credentials
  let account: String
  let device: String
  let incarnation: Identifier

  /// An answer, or why there is none.
  typealias Answer<Message> = Result<Message, FailedRequest>

  /// The failure of one request, in the machines' terms.
  struct FailedRequest: Error {
    let failure: SyncFailure
  }

  func push(_ request: PushRequest) async -> Answer<PushReply> {
    // The machine knows the device by its operations, which may come from a restored copy.
    var request = request
    request.account = account
    request.device = device
    return await send(
      "POST", Wire.pushPath, body: CBOREncoder.encode(request.value), serverID: request.serverID,
      expected: 207
    ) { value throws(EntryError) in try PushReply(value: value) }
  }

  func changes(after cursor: Cursor?, serverID: Identifier?) async -> Answer<ChangesPage> {
    var path = "\(Wire.changesPath)?limit=\(ChangesRequest.defaultLimit)"
    if let cursor { path += "&after=\(cursor.text)" }
    return await send("GET", path, body: [], serverID: serverID, expected: 200) {
      value throws(EntryError) in try ChangesPage(value: value)
    }
  }

  func rows(
    of scope: String, after key: RecordKey?, serverID: Identifier?
  ) async -> Answer<BootstrapPage> {
    var path = "\(Wire.bootstrapPath)?limit=\(BootstrapRequest.defaultLimit)"
    path += "&scope=\(ServerConnection.escape(scope))"
    if let key { path += "&after=\(ServerConnection.escape(key.description))" }
    return await send("GET", path, body: [], serverID: serverID, expected: 200) {
      value throws(EntryError) in try BootstrapPage(value: value)
    }
  }

  private func send<Message>(
    _ method: String, _ path: String, body: [UInt8], serverID: Identifier?, expected: Int,
    read: (Value) throws(EntryError) -> Message
  ) async -> Answer<Message> {
    var headers: [(name: String, value: String)] = [
      ("Accept", Wire.cborType), (Wire.accountHeader, ServerConnection.escape(account)),
      (Wire.deviceHeader, ServerConnection.escape(device)),
      (Wire.incarnationHeader, incarnation.description),
    ]
    if !body.isEmpty { headers.append(("Content-Type", Wire.cborType)) }
    if let serverID { headers.append((Wire.serverHeader, serverID.description)) }
    if let token = await credentials.token() {
      headers.append(("Authorization", "Bearer \(token)"))
    }
    let response: HTTPResponse
    do throws(TransportError) {
      response = try await transport.send(
        HTTPRequest(method: method, path: path, headers: headers, body: body))
    } catch {
      return failed(.unreachable(reason: "\(error)"))
    }
    let status = UInt16(clamping: response.status)
    let seconds = response.header("Retry-After").flatMap(UInt64.init)
    guard response.header(Wire.serverHeader) != nil else {
      // What stands before the server may still say that a batch is too large, or that it is busy.
      if [413, 429, 503].contains(response.status) {
        return failed(.status(status, retryAfterSeconds: seconds, problem: nil))
      }
      return failed(.notTheServer(status: status))
    }
    let value = try? CBORDecoder.decode(response.body[...], mode: .canonical)
    guard response.status == expected else {
      let problem = value.flatMap { try? ServerProblem(value: $0) }
      return failed(.status(status, retryAfterSeconds: seconds, problem: problem))
    }
    guard let value else { return failed(.notTheServer(status: status)) }
    do throws(EntryError) {
      return .success(try read(value))
    } catch {
      return failed(.notTheServer(status: status))
    }
  }

  private func failed<Message>(_ failure: SyncFailure) -> Answer<Message> {
    .failure(FailedRequest(failure: failure))
  }

  /// Percent-encodes all but the unreserved characters (RFC 3986, section 2.3).
  static func escape(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        result += "%" + Hexadecimal.digits(of: byte).uppercased()
      }
    }
    return result
  }
}

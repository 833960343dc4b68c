import DaybookFormat

/// Entries, the payloads of seals and proofs, and messages.
enum EntryTargets {
  /// An entry: its kind, then its bytes.
  static func entry(_ input: [UInt8]) {
    guard let kind = input.first, let entry = try? Entry(kind: kind, bytes: input.dropFirst())
    else { return }
    hold(entry.kind.rawValue == kind, "an entry of another kind")
    let again = try? Entry(kind: kind, bytes: entry.bytes[...])
    hold(again == entry, "an entry is another one after writing it")
  }

  /// A byte that chooses; then a seal, a proof with its hashes, or the entries of a frame.
  static func payload(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let rest = input.dropFirst()
    switch kind % 3 {
    case 0:
      guard let seal = try? Seal(bytes: rest) else { return }
      hold((try? Seal(bytes: seal.bytes[...])) == seal, "a seal is another one after writing it")
    case 1:
      guard let proof = try? SegmentProof(bytes: rest) else { return }
      let again = try? SegmentProof(bytes: proof.bytes[...])
      hold(again == proof, "a proof is another one after writing it")
      var hasher = ChainHasher()
      for count in [0, 1, 5] {
        _ = proof.isMade(of: Array(repeating: proof.root, count: count), hasher: &hasher)
      }
    default:
      guard let count = rest.first else { return }
      _ = FramePayload.parts(of: Array(rest.dropFirst()), count: Int(count))
      _ = FramePayload.decompress(rest.dropFirst(), count: Int(count) << 8)
    }
  }

  /// A byte that chooses the message, then CBOR of it; all of it as a seal, a proof, an anchor.
  static func wire(_ input: [UInt8]) {
    if let seal = try? Seal(bytes: input[...]) {
      hold((try? Seal(bytes: seal.bytes[...])) == seal, "a seal is another one")
    }
    if let proof = try? SegmentProof(bytes: input[...]) {
      hold((try? SegmentProof(bytes: proof.bytes[...])) == proof, "a proof is another one")
    }
    if let anchor = try? Anchor(text: String(decoding: input, as: UTF8.self)) {
      hold((try? Anchor(text: anchor.text)) == anchor, "an anchor is another one")
    }
    guard let kind = input.first, let value = try? CBORDecoder.decode(input.dropFirst()) else {
      return
    }
    switch kind % 6 {
    case 0: check(value, PushRequest.init(value:), \.value)
    case 1: check(value, PushResult.init(value:), \.value)
    case 2: check(value, PushReply.init(value:), \.value)
    case 3: check(value, ChangesPage.init(value:), \.value)
    case 4: check(value, BootstrapPage.init(value:), \.value)
    default: check(value, ServerProblem.init(value:), \.value)
    }
  }

  private static func check<Message: Equatable>(
    _ value: Value, _ read: (Value) throws -> Message, _ write: (Message) -> Value
  ) {
    guard let message = try? read(value) else { return }
    hold((try? read(write(message))) == message, "a message is another one after writing it")
  }
}

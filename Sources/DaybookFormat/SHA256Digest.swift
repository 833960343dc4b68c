#if canImport(CryptoKit)
  import CryptoKit
#else
  import CCrypto
#endif

/// SHA-256: 32 bytes that stand for any number of bytes; as a value, without memory of its own.
///
/// Source: FIPS 180-4.
package struct SHA256Digest: Sendable, Hashable {
  /// Bytes of a digest.
  package static let byteCount = 32
  /// 32 zero bytes: stands for "none" where a layout has a fixed place for a digest.
  package static let zero = SHA256Digest(words: (0, 0, 0, 0))

  // The bytes in the order in which they stand, eight in each, whatever the machine's order.
  private var word0: UInt64
  private var word1: UInt64
  private var word2: UInt64
  private var word3: UInt64

  fileprivate init(words: (UInt64, UInt64, UInt64, UInt64)) {
    (word0, word1, word2, word3) = words
  }

  /// The digest of exactly 32 `bytes`, `nil` for another count.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == SHA256Digest.byteCount else { return nil }
    self = .zero
    withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes) }
  }

  /// The digest of 64 hexadecimal digits, `nil` for any other text.
  package init?(hexadecimal text: String) {
    guard let bytes = Hexadecimal.bytes(of: text) else { return nil }
    self.init(bytes: bytes)
  }

  /// The 32 bytes, in order.
  package var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }

  /// The 32 bytes as 64 hexadecimal digits in small letters.
  package var hexadecimal: String { Hexadecimal.text(of: bytes) }

  /// Gives the 32 bytes to `body`.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeBytes(of: self, body)
  }

  /// The digest of `bytes`.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { hash($0) }
  }

  /// The digest of a slice.
  package static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bytes.withUnsafeBytes { hash($0) }
  }

  /// The digest of a buffer.
  package static func hash(_ buffer: UnsafeRawBufferPointer) -> [UInt8] {
    var hasher = Hasher()
    hasher.update(buffer)
    return hasher.finish()
  }
}

#if canImport(CryptoKit)
  extension SHA256Digest {
    /// A digest of bytes that come in pieces; after ``finish()`` it begins again.
    package struct Hasher: ~Copyable {
      private var state = SHA256()

      /// A hasher that has seen no byte.
      package init() {}

      /// Takes the bytes of a buffer.
      package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        state.update(bufferPointer: buffer)
      }

      /// Takes `bytes`.
      package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
      }

      /// The digest of all bytes taken since the last call; the hasher is as new.
      package mutating func finish() -> [UInt8] { finishDigest().bytes }

      /// The digest of all bytes taken since the last call, as a value; the hasher is as new.
      package mutating func finishDigest() -> SHA256Digest {
        var digest = SHA256Digest.zero
        withUnsafeMutableBytes(of: &digest) { $0.copyBytes(from: state.finalize()) }
        state = SHA256()
        return digest
      }
    }
  }
#else
  extension SHA256Digest {
    /// A digest of bytes that come in pieces; after ``finish()`` it begins again, with the same
    /// context: keep one for many digests.
    package struct Hasher: ~Copyable {
      private let context: OpaquePointer

      /// A hasher that has seen no byte. Takes a context from libcrypto's heap.
      package init() {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
        self.context = context
        begin()
      }

      deinit { EVP_MD_CTX_free(context) }

      private func begin() {
        let status = EVP_DigestInit_ex2(context, Algorithm.sha256.pointer, nil)
        precondition(status == 1, "libcrypto refuses SHA-256: \(status)")
      }

      /// Takes the bytes of a buffer.
      package mutating func update(_ buffer: UnsafeRawBufferPointer) {
        guard let start = buffer.baseAddress, !buffer.isEmpty else { return }
        let status = EVP_DigestUpdate(context, start, buffer.count)
        precondition(status == 1, "libcrypto refuses \(buffer.count) bytes: \(status)")
      }

      /// Takes `bytes`.
      package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
      }

      /// The digest of all bytes taken since the last call; the hasher is as new.
      package mutating func finish() -> [UInt8] { finishDigest().bytes }

      /// The digest of all bytes taken since the last call, as a value; the hasher is as new.
      package mutating func finishDigest() -> SHA256Digest {
        var digest = SHA256Digest.zero
        let status = withUnsafeMutableBytes(of: &digest) { buffer in
          EVP_DigestFinal_ex(context, buffer.bindMemory(to: UInt8.self).baseAddress, nil)
        }
        precondition(status == 1, "libcrypto gives no digest: \(status)")
        begin()
        return digest
      }
    }

    /// The algorithm, fetched once: libcrypto looks it up by name each time otherwise.
    private struct Algorithm: @unchecked Sendable {
      // Immutable after the fetch, and never freed.
      let pointer: OpaquePointer

      static let sha256: Algorithm = {
        guard let pointer = EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_sha256() else {
          preconditionFailure("libcrypto has no SHA-256")
        }
        return Algorithm(pointer: pointer)
      }()
    }
  }
#endif

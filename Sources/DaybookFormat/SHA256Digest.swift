#if canImport(CryptoKit)
  import CryptoKit
#else
  import CCrypto
#endif

/// SHA-256: 32 bytes that stand for any number of bytes.
///
/// Source: FIPS 180-4.
package enum SHA256Digest {
  /// Bytes of a digest.
  package static let byteCount = 32

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
      package mutating func finish() -> [UInt8] {
        let digest = Array(state.finalize())
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
      package mutating func finish() -> [UInt8] {
        let digest = [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { buffer, count in
          let status = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
          precondition(status == 1, "libcrypto gives no digest: \(status)")
          count = SHA256Digest.byteCount
        }
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

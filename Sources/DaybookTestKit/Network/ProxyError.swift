/// Why a socket of the test network could not be had.
package enum ProxyError: Error, Sendable, Equatable {
  /// This system call failed with this `errno`.
  case systemCall(name: String, errno: Int32)
  /// The proxy was stopped.
  case stopped
}

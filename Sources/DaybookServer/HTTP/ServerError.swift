/// Why a server does not listen.
package enum ServerError: Error, Sendable, Equatable {
  /// Another program listens on this port: choose another one, or 0 for any.
  case portInUse(UInt16)
  /// This user may not listen on this port (on most systems those below 1,024).
  case notPermitted(port: UInt16)
  /// The text is not an IP address, or none of this machine's.
  case addressUnavailable(String)
  /// `start` was called before; a stopped server does not start again.
  case alreadyStarted
  /// This system call failed with this `errno`.
  case systemCall(name: String, errno: Int32)
  /// The HTTP library did not start, usually because the process has too many open files or
  /// threads.
  case notStarted
}

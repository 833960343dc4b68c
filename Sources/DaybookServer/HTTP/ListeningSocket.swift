#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A socket that takes connections: opened here and not by the HTTP library, which would not say
/// why it failed. The owner closes it.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The real one, also if any was asked for.
  let port: UInt16

  /// Listens on the numeric `address`; port 0 takes any free one.
  init(address: String, port: UInt16) throws(ServerError) {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address, String(port), &hints, &found) == 0, let found
    else { throw .addressUnavailable(address) }
    defer { freeaddrinfo(found) }
    let descriptor = socket(found.pointee.ai_family, found.pointee.ai_socktype, 0)
    guard descriptor >= 0 else { throw .systemCall(name: "socket", errno: errno) }
    do throws(ServerError) {
      try Self.occupy(found.pointee, with: descriptor, address, port)
      self.port = try Self.boundPort(of: descriptor)
      self.descriptor = descriptor
    } catch {
      _ = close(descriptor)
      throw error
    }
  }

  private static func occupy(
    _ place: addrinfo, with descriptor: Int32, _ address: String, _ port: UInt16
  ) throws(ServerError) {
    var yes: Int32 = 1
    // Else a server that restarts waits a minute for the connections of the old one.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    // A child process must not keep the port.
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    else { throw .systemCall(name: "fcntl", errno: errno) }
    guard bind(descriptor, place.ai_addr, place.ai_addrlen) == 0 else {
      switch errno {
      case EADDRINUSE: throw .portInUse(port)
      case EACCES, EPERM: throw .notPermitted(port: port)
      case EADDRNOTAVAIL: throw .addressUnavailable(address)
      default: throw .systemCall(name: "bind", errno: errno)
      }
    }
    guard listen(descriptor, SOMAXCONN) == 0 else {
      throw errno == EADDRINUSE ? .portInUse(port) : .systemCall(name: "listen", errno: errno)
    }
  }

  private static func boundPort(of descriptor: Int32) throws(ServerError) -> UInt16 {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0 else { throw .systemCall(name: "getsockname", errno: errno) }
    return withUnsafeBytes(of: &storage) { bytes in
      // `sin_port` and `sin6_port` are both bytes 2 and 3, the first one the most significant.
      UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
  }
}

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A blocking TCP socket on loopback, for tests that speak below HTTP.
///
/// One thread reads or writes; any thread may call `hangUp`, which ends the other's call.
package final class TCPSocket: Sendable {
  private let descriptor: Int32
  private let isOpen = Mutex(true)

  private init(descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var yes: Int32 = 1
    #if canImport(Darwin)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit {
    // Nobody uses the number any more, so it can be given to another file.
    _ = close(descriptor)
  }

  /// Listens on any free port of 127.0.0.1.
  package static func listening() throws(ProxyError) -> TCPSocket {
    let socket = try refusing()
    guard listen(socket.descriptor, SOMAXCONN) == 0 else {
      throw .systemCall(name: "listen", errno: errno)
    }
    return socket
  }

  /// Holds a free port of 127.0.0.1 on which every connection is refused.
  package static func refusing() throws(ProxyError) -> TCPSocket {
    let socket = try open()
    let result = socket.withLoopbackAddress(port: 0) { bind(socket.descriptor, $0, $1) }
    guard result == 0 else { throw .systemCall(name: "bind", errno: errno) }
    return socket
  }

  /// Connects to `port` of 127.0.0.1.
  package static func connected(toPort port: UInt16) throws(ProxyError) -> TCPSocket {
    let socket = try open()
    let result = socket.withLoopbackAddress(port: port) { connect(socket.descriptor, $0, $1) }
    guard result == 0 else { throw .systemCall(name: "connect", errno: errno) }
    return socket
  }

  /// The port on this side.
  package var port: UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// The next connection; `nil` when the socket can take none any more.
  package func accepted() -> TCPSocket? {
    while true {
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 { return TCPSocket(descriptor: connection) }
      // A client that left in the queue is no reason to stop.
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// The next bytes, at most 64 KiB; empty at the end, and when the connection failed.
  package func receive() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
      var received: Int
      repeat {
        received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      } while received < 0 && errno == EINTR
      count = max(0, received)
    }
  }

  /// Sends all `bytes`; false when the other side is gone.
  @discardableResult
  package func send(_ bytes: some Collection<UInt8>) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    return Array(bytes).withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        let rest = UnsafeRawBufferPointer(rebasing: buffer[sent...])
        #if canImport(Glibc)
          let count = Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
        #elseif canImport(Musl)
          let count = Musl.send(descriptor, rest.baseAddress, rest.count, flags)
        #elseif canImport(Android)
          let count = Android.send(descriptor, rest.baseAddress, rest.count, flags)
        #elseif canImport(Darwin)
          let count = Darwin.send(descriptor, rest.baseAddress, rest.count, flags)
        #endif
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }
  }

  /// Whether the other side has ended the connection (a process that was killed has).
  package var isAbandoned: Bool {
    var byte: UInt8 = 0
    let flags = Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)
    let count = recv(descriptor, &byte, 1, flags)
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
  }

  /// Tells the other side that nothing more will come; it can still send.
  package func endSending() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Ends the connection both ways at once, also for a child process that has inherited it.
  ///
  /// A listening socket is woken by a connection to itself where this does not end `accepted`.
  package func hangUp() {
    isOpen.withLock { isOpen in
      guard isOpen else { return }
      isOpen = false
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  private static func open() throws(ProxyError) -> TCPSocket {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { throw .systemCall(name: "socket", errno: errno) }
    return TCPSocket(descriptor: descriptor)
  }

  private func withLoopbackAddress(
    port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}

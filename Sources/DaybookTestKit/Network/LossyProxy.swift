import Dispatch
import Foundation
import Synchronization

/// A poor network on loopback: real TCP, a port for each device, losses drawn from each one's seed.
///
/// It passes HTTP/1.1 requests on to one server and loses some of them and some of the answers, by
/// closing the connection (see `ProxiedDevice`). Each listener and each connection has a thread of
/// its own, so a device's hook may block. It must be stopped: threads and ports live until then.
package final class LossyProxy: Sendable {
  private struct State {
    var upstreamPort: UInt16
    var devices: [ProxiedDevice] = []
    var connections: [ObjectIdentifier: TCPSocket] = [:]
    var isStopped = false
  }

  /// Connections at a time, over all devices: 256 threads. More wait in the listener's queue.
  package static let connectionCount = 256
  /// Bytes of a thread's stack: 512 KiB, since a hook is the deepest that runs on it.
  private static let stackByteCount = 512 << 10

  private let state: Mutex<State>
  private let threads = DispatchGroup()
  private let slots = DispatchSemaphore(value: connectionCount)

  /// A proxy to the server on this port of 127.0.0.1, without devices.
  package init(upstreamPort: UInt16) {
    state = Mutex(State(upstreamPort: upstreamPort))
  }

  /// Where the server is, for requests passed on from now: a server that restarts may have moved.
  package var upstreamPort: UInt16 {
    get { state.withLock { $0.upstreamPort } }
    set { state.withLock { $0.upstreamPort = newValue } }
  }

  /// Listens for one more device. `generator` makes its draws, and no other's.
  package func addDevice(
    named name: String, network: ProxiedDevice.Network = ProxiedDevice.Network(),
    generator: any RandomNumberGenerator & Sendable, hook: ProxiedDevice.Hook? = nil
  ) throws(ProxyError) -> ProxiedDevice {
    let device = try ProxiedDevice(
      name: name, network: network, generator: generator, hook: hook)
    let isAdded = state.withLock { state in
      guard !state.isStopped else { return false }
      state.devices.append(device)
      startThread { self.listen(for: device) }
      return true
    }
    guard isAdded else { throw .stopped }
    return device
  }

  /// The counters of all devices together.
  package var counters: ProxyCounters {
    state.withLock { $0.devices }.reduce(into: ProxyCounters()) { $0 += $1.counters }
  }

  /// Closes every port and connection, and returns when every thread has ended; so it blocks while
  /// a hook does. A second call waits likewise.
  package func stop() {
    let (devices, connections) = state.withLock { state in
      state.isStopped = true
      return (state.devices, Array(state.connections.values))
    }
    for connection in connections { connection.hangUp() }
    for device in devices {
      // The connection wakes the listening thread where closing does not; it then sees the end.
      _ = try? TCPSocket.connected(toPort: device.port)
      device.listener.hangUp()
    }
    threads.wait()
  }

  private func listen(for device: ProxiedDevice) {
    while let client = device.listener.accepted() {
      guard keep(client) else { return }
      slots.wait()
      startThread {
        device.serve(client, withServer: self.withServer)
        self.forget(client)
        self.slots.signal()
      }
    }
  }

  /// What `body` reads from a new connection to the server; `nil` if there is none.
  private func withServer(_ body: (TCPSocket) -> WireMessage?) -> WireMessage? {
    guard let server = try? TCPSocket.connected(toPort: upstreamPort), keep(server)
    else { return nil }
    defer {
      server.hangUp()
      forget(server)
    }
    return body(server)
  }

  /// Notes an open connection, so that `stop` can end it; false after `stop`.
  private func keep(_ connection: TCPSocket) -> Bool {
    state.withLock { state in
      guard !state.isStopped else { return false }
      state.connections[ObjectIdentifier(connection)] = connection
      return true
    }
  }

  private func forget(_ connection: TCPSocket) {
    state.withLock { $0.connections[ObjectIdentifier(connection)] = nil }
  }

  private func startThread(_ body: @escaping @Sendable () -> Void) {
    threads.enter()
    let thread = Thread {
      body()
      self.threads.leave()
    }
    thread.stackSize = Self.stackByteCount
    thread.start()
  }
}

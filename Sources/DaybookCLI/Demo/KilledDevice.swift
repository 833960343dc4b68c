import DaybookTestKit
import Foundation
import Synchronization

/// The device that runs as a process of its own and is ended by SIGKILL while a push of it is in
/// flight: the server acts on it, and nobody is there to read the reply.
final class KilledDevice: Sendable {
  private struct State {
    var process: Process?
    var text = ""
    var pushes = 0
    var wasKilled = false
  }

  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)
  /// The push during which it is killed: the third, if there are more operations than the first
  /// one's, which comes twice.
  private let lastPush: Int

  init(lastPush: Int) { self.lastPush = lastPush }

  /// Starts this program again as the device.
  func start(directory: URL, port: UInt16, orders: Int, reps: Int) throws {
    let process = Process()
    process.executableURL = try KilledDevice.program()
    process.arguments = [
      "demo-device", "--dir", directory.path, "--server", "http://127.0.0.1:\(port)",
      "--orders", String(orders), "--reps", String(reps),
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    pipe.fileHandleForReading.readabilityHandler = { [self] handle in
      let data = handle.availableData
      if data.isEmpty {
        handle.readabilityHandler = nil
        ended.signal()
      } else {
        state.withLock { $0.text += String(decoding: data, as: UTF8.self) }
      }
    }
    state.withLock { $0.process = process }
    try process.run()
  }

  /// This program, to be started again.
  static func program() throws -> URL {
    let itself = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    if FileManager.default.isExecutableFile(atPath: itself.path) { return itself }
    return URL(fileURLWithPath: CommandLine.arguments[0]).standardizedFileURL
  }

  /// Decides about a request of the device: kills it at its last push, then lets the push go on.
  func verdict(on request: ProxiedRequest) -> ProxyVerdict {
    guard request.method == "POST" else { return .draw }
    let (push, process): (Int, Process?) = state.withLock { state in
      state.pushes += 1
      guard state.pushes == lastPush else { return (state.pushes, nil) }
      state.wasKilled = true
      return (state.pushes, state.process)
    }
    guard let process else {
      // The server acts on the first push and its reply is lost, so that it comes again.
      return push == 1 ? .loseReply : push < lastPush ? .forward : .draw
    }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return .forward
  }

  /// Waits until the device is gone. Returns the ids of the orders that it said were taken, and
  /// whether it was killed.
  @concurrent
  func wait() async -> (taken: [String], wasKilled: Bool) {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread { [self] in
        ended.wait()
        done.resume()
      }
    }
    return state.withLock { state in
      state.process?.waitUntilExit()
      let lines = state.text.split(separator: "\n")
      let taken = lines.compactMap { $0.hasPrefix("taken ") ? String($0.dropFirst(6)) : nil }
      return (taken, state.wasKilled)
    }
  }

  /// Ends the device if the demo is given up.
  func stop() {
    state.withLock { state in
      if let process = state.process, process.isRunning {
        kill(process.processIdentifier, SIGKILL)
      }
    }
  }
}

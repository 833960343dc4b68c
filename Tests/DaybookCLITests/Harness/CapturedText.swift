import DaybookTestKit
import Dispatch
import Foundation
import Synchronization

/// What one pipe of a command has said so far.
final class CapturedText: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var hasEnded = false
    var waiting: [(part: String, continuation: CheckedContinuation<String?, Never>)] = []
  }

  private let state = Mutex(State())
  /// Signalled when the pipe has no writer any more.
  let ended = Gate()

  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Reads `handle` to its end on a thread of its own.
  func read(_ handle: FileHandle) {
    let thread = Thread { [self] in
      while true {
        let data = handle.availableData
        if data.isEmpty { break }
        add(data)
      }
      finish()
    }
    thread.start()
  }

  /// There is no more to come.
  func finish() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for (part, continuation) in waiting { continuation.resume(returning: find(part)) }
    ended.open()
  }

  /// The first whole line that holds `part`, as soon as there is one; `nil` at the end.
  func line(_ part: String) async -> String? {
    await withCheckedContinuation { continuation in
      let isWaiting = state.withLock { state in
        guard !state.hasEnded, Self.find(part, state.bytes) == nil else { return false }
        state.waiting.append((part, continuation))
        return true
      }
      if !isWaiting { continuation.resume(returning: find(part)) }
    }
  }

  private func add(_ data: Data) {
    let found = state.withLock { state in
      state.bytes += data
      let bytes = state.bytes
      let found = state.waiting.filter { Self.find($0.part, bytes) != nil }
      state.waiting.removeAll { Self.find($0.part, bytes) != nil }
      return found
    }
    for (part, continuation) in found { continuation.resume(returning: find(part)) }
  }

  private func find(_ part: String) -> String? {
    Self.find(part, state.withLock { $0.bytes })
  }

  private static func find(_ part: String, _ bytes: [UInt8]) -> String? {
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n")
    return lines.first { $0.contains(part) }.map(String.init)
  }
}

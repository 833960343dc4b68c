import DaybookFormat
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

/// What a command says: data on standard output, everything else on standard error.
///
/// Safe to call from any thread. Lines of data are buffered, and written when 64 KiB are waiting,
/// on ``flush()``, and at the end; at once where standard output is a terminal. When the reader of
/// standard output has gone (`daybook dump DIR | head`), data is dropped and the command cancelled.
final class Output: Sendable {
  private struct State {
    var buffer: [UInt8] = []
    /// The `errno` of the first write to standard output that failed; 0 if none did.
    var failure: Int32 = 0
    /// The bar that stands on the terminal's last line, if one does.
    var bar: String?
    var whenClosed: (@Sendable () -> Void)?
  }

  private static let bufferByteCount = 65_536

  private let state = Mutex(State())
  private let dataIsOnTerminal = isatty(STDOUT_FILENO) == 1
  /// Whether standard error is a terminal that can redraw a line.
  let notesAreOnTerminal: Bool

  init() {
    // A gone reader is an error of `write`, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    notesAreOnTerminal = isatty(STDERR_FILENO) == 1 && !isDumb
  }

  /// Sets what to do, once, when the reader of standard output has gone.
  func onClosedReader(_ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.whenClosed = action }
  }

  /// Whether the reader of standard output has gone.
  var readerHasGone: Bool { state.withLock { $0.failure == EPIPE } }

  /// One line of data.
  func line(_ text: String = "") {
    write(text + "\n")
  }

  /// One line of data for programs.
  func object(_ object: JSONObject) {
    line(object.text)
  }

  /// A table, a line of data each.
  func table(_ table: Table) {
    write(table.lines.map { $0 + "\n" }.joined())
  }

  /// Text with its line feeds, as data.
  func write(_ text: String) {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      state.buffer.append(contentsOf: text.utf8)
      guard dataIsOnTerminal || state.buffer.count >= Self.bufferByteCount else { return nil }
      return flush(&state)
    }
    action?()
  }

  /// Writes the data that waits.
  func flush() {
    state.withLock { flush(&$0) }?()
  }

  /// One line for the person in front of it, on standard error.
  func note(_ text: String) {
    state.withLock { state in
      let before = flush(&state)
      erase(&state)
      writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
      redraw(&state)
      return before
    }?()
  }

  /// Why the command failed, and as the last line what to do next.
  func failure(_ failure: Failure) {
    note("daybook: \(failure.message)")
    note(failure.remedy)
  }

  /// Shows `bar` on the terminal's last line instead of the one there; `nil` removes it.
  func show(bar: String?) {
    guard notesAreOnTerminal else { return }
    state.withLock { state in
      erase(&state)
      state.bar = bar
      redraw(&state)
    }
  }

  /// Writes what waits and gives what stopped standard output, if anything but a gone reader did.
  func finish() -> Failure? {
    show(bar: nil)
    flush()
    let code = state.withLock { $0.failure }
    if code == 0 || code == EPIPE { return nil }
    return Failure(
      status: code == ENOSPC ? .diskFull : .inputOutput,
      message: "standard output could not be written: \(String(cString: strerror(code)))",
      remedy: "Its last part is missing: write it elsewhere and run the command again.")
  }

  private func flush(_ state: inout State) -> (@Sendable () -> Void)? {
    guard !state.buffer.isEmpty else { return nil }
    defer { state.buffer.removeAll(keepingCapacity: true) }
    guard state.failure == 0 else { return nil }
    if dataIsOnTerminal { erase(&state) }
    state.failure = writeAll(state.buffer, to: STDOUT_FILENO)
    if dataIsOnTerminal { redraw(&state) }
    guard state.failure != 0 else { return nil }
    defer { state.whenClosed = nil }
    return state.whenClosed
  }

  private func erase(_ state: inout State) {
    if state.bar != nil { writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO) }
  }

  private func redraw(_ state: inout State) {
    if let bar = state.bar { writeAll(Array(bar.utf8), to: STDERR_FILENO) }
  }
}

/// Writes all of `bytes`, however small the steps; gives the `errno` of what failed, or 0.
@discardableResult
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
  bytes.withUnsafeBytes { buffer in
    var rest = buffer[...]
    while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
      let count = write(descriptor, start, rest.count)
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }
}

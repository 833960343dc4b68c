import DaybookFormat
import Foundation
import Synchronization

/// The thread that writes: it takes everything that waits, writes it as groups, and tells whoever
/// waits in the order in which they came. A group is written only after the last sync returned.
final class Committer: Sendable {
  /// One piece of work.
  enum Work: Sendable {
    /// Entries for a stream, made durable before `done` if `isSynced`.
    case append(
      stream: Int, transactions: [[NewEntry]], isSynced: Bool,
      done: @Sendable (Result<UInt64, LogError>) -> Void)
    /// Idle marks and HEAD, now.
    case idle(done: @Sendable (Result<UInt64, LogError>) -> Void)
    /// Closing marks and HEAD; until a resumption every append fails with `suspended`.
    case suspend(done: @Sendable (Result<UInt64, LogError>) -> Void)
    /// Appends are taken again; HEAD's slots go on above `headSequence`.
    case resume(headSequence: UInt64, done: @Sendable (Result<UInt64, LogError>) -> Void)
    /// Closing marks, HEAD, and the end of the thread.
    case close(done: @Sendable (Result<UInt64, LogError>) -> Void)

    var done: @Sendable (Result<UInt64, LogError>) -> Void {
      switch self {
      case .append(_, _, _, let done), .idle(let done), .suspend(let done), .resume(_, let done),
        .close(let done):
        return done
      }
    }
  }

  /// The most bytes that become one group: what is waiting longer than this goes into the next, so
  /// that one sync never keeps everybody waiting.
  static let groupByteLimit = 4 << 20

  private struct Queue {
    var work: [Work] = []
    var isClosed = false
  }

  private let queue = Mutex(Queue())
  private let signal = DispatchSemaphore(value: 0)

  /// Starts the thread, which owns `writers` and `head` from now on.
  init(
    writers: sending [StreamWriter], head: sending HeadWriter, idleMarkDelay: Duration?
  ) {
    let thread = CommitterThread(writers: writers, head: head, idleMarkDelay: idleMarkDelay)
    let box = UncheckedBox(thread)
    let system = Thread { [self] in run(box.content) }
    system.name = "daybook committer"
    system.stackSize = 1 << 20
    system.start()
  }

  /// Hands `work` to the thread; after a close it fails with `closed`.
  func enqueue(_ work: Work) {
    let isAccepted = queue.withLock { queue in
      guard !queue.isClosed else { return false }
      queue.work.append(work)
      if case .close = work { queue.isClosed = true }
      return true
    }
    if isAccepted { signal.signal() } else { work.done(.failure(.closed)) }
  }

  private func run(_ thread: CommitterThread) {
    while true {
      if let delay = thread.idleMarkDelay, thread.wantsMark {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        if signal.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .timedOut {
          thread.idle()
          continue
        }
      } else {
        signal.wait()
      }
      let work = queue.withLock { queue in
        defer { queue.work = [] }
        return queue.work
      }
      if thread.perform(work) { return }
    }
  }
}

/// Carries what one thread owns into it.
private final class UncheckedBox<Content>: @unchecked Sendable {
  // Given away by the creating thread before the new one starts; never touched by both.
  let content: Content
  init(_ content: Content) { self.content = content }
}

/// What the committer's thread owns.
final class CommitterThread {
  let idleMarkDelay: Duration?
  private let writers: [StreamWriter]
  private let head: HeadWriter
  private var isSuspended = false

  init(writers: [StreamWriter], head: HeadWriter, idleMarkDelay: Duration?) {
    self.writers = writers
    self.head = head
    self.idleMarkDelay = idleMarkDelay
  }

  /// A stream has been written to since the last mark.
  var wantsMark: Bool { !isSuspended && writers.contains(where: \.wantsMark) }

  /// The next number of the stream beside `stream`, all below it durable; 0 without one.
  private func otherNext(_ stream: Int) -> UInt64 {
    writers.count == 2 ? writers[1 - stream].statedNumber + 1 : 0
  }

  /// Does all of `work` in order; `true` after a close.
  func perform(_ work: [Committer.Work]) -> Bool {
    var index = 0
    while index < work.count {
      switch work[index] {
      case .append(let stream, _, let isSynced, _):
        let end = endOfGroup(work, from: index, stream: stream, isSynced: isSynced)
        append(work[index..<end], stream: stream, isSynced: isSynced)
        index = end
      case .idle(let done):
        idle()
        done(.success(0))
        index += 1
      case .suspend(let done):
        let result = isSuspended ? .success(0) : close()
        isSuspended = true
        done(result)
        index += 1
      case .resume(let headSequence, let done):
        head.goOn(above: headSequence)
        isSuspended = false
        done(.success(0))
        index += 1
      case .close(let done):
        done(isSuspended ? .success(0) : close())
        for late in work[(index + 1)...] { late.done(.failure(.closed)) }
        return true
      }
    }
    return false
  }

  private func endOfGroup(
    _ work: [Committer.Work], from start: Int, stream: Int, isSynced: Bool
  ) -> Int {
    var byteCount = 0
    var end = start
    while end < work.count,
      case .append(let other, let transactions, let otherSynced, _) = work[end],
      other == stream, otherSynced == isSynced
    {
      byteCount += transactions.reduce(0) { $0 + GroupBuilder.byteCount(of: $1) }
      if end > start, byteCount > Committer.groupByteLimit { break }
      end += 1
    }
    return end
  }

  private func append(_ group: ArraySlice<Committer.Work>, stream: Int, isSynced: Bool) {
    let writer = writers[stream]
    var all: [[NewEntry]] = []
    for case .append(_, let transactions, _, _) in group { all += transactions }
    let result: Result<UInt64, LogError>
    do throws(LogError) {
      if isSuspended { throw .suspended }
      var first = writer.nextNumber
      if !all.isEmpty { first = try writer.write(all, otherNext: otherNext(stream)) }
      if isSynced {
        try writer.sync(withLastWrite: !all.isEmpty, otherNext: otherNext(stream))
      }
      result = .success(first)
    } catch {
      result = .failure(error)
    }
    var next = (try? result.get()) ?? 0
    for case .append(_, let transactions, _, let done) in group {
      done(result.map { _ in next })
      next += UInt64(transactions.reduce(0) { $0 + $1.count })
    }
  }

  /// States what is durable. Failing is no harm: the marks only help to tell damage from a torn
  /// tail.
  func idle() {
    if isSuspended { return }
    for (stream, writer) in writers.enumerated() {
      try? writer.idle(otherNext: otherNext(stream))
    }
    head.write(writers.map(\.head), isSynced: false)
  }

  private func close() -> Result<UInt64, LogError> {
    var result: Result<UInt64, LogError> = .success(0)
    for (stream, writer) in writers.enumerated() {
      do throws(LogError) {
        try writer.close(otherNext: otherNext(stream))
      } catch {
        result = .failure(error)
      }
    }
    head.write(writers.map(\.head), isSynced: true)
    head.close()
    return result
  }
}

/// Writes the two slots of `HEAD` in turn. Advisory: failing to is no harm.
final class HeadWriter {
  private let path: String
  private let fileSystem: any FileSystem
  private var file: (any OpenFile)?
  private var sequence: UInt64
  private var written: [HeadSlot.Stream] = []

  init(directory: String, fileSystem: any FileSystem, sequence: UInt64) {
    path = "\(directory)/\(LogDirectory.headFile)"
    self.fileSystem = fileSystem
    self.sequence = sequence
  }

  /// Writes the slot that is the older one, if there is anything new to say.
  func write(_ streams: [HeadSlot.Stream], isSynced: Bool) {
    guard streams != written || isSynced, streams.contains(where: { $0.ordinal > 0 }) else {
      return
    }
    if file == nil {
      file = try? fileSystem.open(path, writable: true)
      if file == nil { file = try? fileSystem.create(path) }
    }
    guard let file else { return }
    sequence += 1
    let offset = UInt64(sequence % 2) * UInt64(HeadSlot.byteCount)
    do throws(FileError) {
      try file.write(HeadSlot(sequence: sequence, streams: streams).bytes, at: offset)
      if isSynced { try file.sync() }
      written = streams
    } catch {
      file.close()
      self.file = nil
    }
  }

  /// Lets go of the file; the next write opens it again.
  func close() {
    file?.close()
    file = nil
  }

  /// Slots that somebody else wrote up to `sequence` are older than the next one.
  func goOn(above sequence: UInt64) { self.sequence = max(self.sequence, sequence) }
}

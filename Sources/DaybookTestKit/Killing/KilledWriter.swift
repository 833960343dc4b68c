import DaybookFormat
package import DaybookLog
import Foundation
import Synchronization

/// The writer of ``KillRounds``: a process of its own that writes to a real log until it is
/// killed, and says each write once it was acknowledged as durable.
///
/// Three threads append to the outbox and one to the feed, so that groups have several waiting
/// writers; another one marks, suspends and resumes. Every entry begins with `ROUND.THREAD
/// COUNTER`, the counters of a thread being 1, 2, 3, ...
package struct KilledWriter: Sendable {
  /// The threads that append to the outbox; the one of the feed has the next number.
  package static let outboxThreads = 3
  /// Writes of one thread after which the writer ends by itself, closing the log.
  static let writeLimit = 400

  private let directory: String
  private let round: Int
  private let seed: UInt64
  private let say: @Sendable (String) -> Void

  /// A writer of round `round` at `directory`; `say` must have handed a line over when it returns.
  package init(
    directory: String, round: Int, seed: UInt64, say: @escaping @Sendable (String) -> Void
  ) {
    self.directory = directory
    self.round = round
    self.seed = seed
    self.say = say
  }

  /// The log's configuration: segments so small that every round begins several.
  package static func configuration(seed: UInt64) -> LogConfiguration {
    var outbox = StreamOptions.outbox
    outbox.segmentByteLimit = 160 << 10
    var feed = StreamOptions.feed
    feed.segmentByteLimit = 48 << 10
    let random = Mutex(SplitMix64(seed: seed))
    return LogConfiguration(
      streams: [feed, outbox], account: "rep-7", random: { random.withLock { $0.next() } },
      clock: { HybridTime(rawValue: seed << 16) }, idleMarkDelay: .milliseconds(2))
  }

  /// Writes until every thread has had enough, then closes the log. Blocks.
  package func run() throws(LogError) {
    let log = try Log.open(directory, KilledWriter.configuration(seed: seed)) { _, _ in }
    say("opened")
    let group = DispatchGroup()
    let isOver = Mutex(false)
    for thread in 0...KilledWriter.outboxThreads {
      group.enter()
      Thread.detachNewThread { [self] in
        append(to: log, thread)
        group.leave()
      }
    }
    let restless = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [self] in
      disturb(log) { isOver.withLock { $0 } }
      restless.signal()
    }
    group.wait()
    isOver.withLock { $0 = true }
    restless.wait()
    try log.close()
    say("closed")
  }

  /// Writes of one thread, in transactions of one to three entries of up to 6 KB.
  private func append(to log: Log, _ thread: Int) {
    let isFeed = thread == KilledWriter.outboxThreads
    var random = SplitMix64(seed: seed &+ UInt64(thread) &* 0x9E37_79B9)
    var counter = 0
    while counter < KilledWriter.writeLimit {
      let count = Int(random.next() % 3) + 1
      let entries = (1...count).map { place in
        var bytes = Array("\(round).\(thread) \(counter + place) ".utf8)
        // Noise, so that the feed's compression does not keep its segments small.
        for _ in 0..<random.next() % 256 {
          bytes += withUnsafeBytes(of: random.next()) { Array($0) }
        }
        return NewEntry(kind: 1, bytes: bytes)
      }
      let isSynced = !isFeed || random.next() % 3 == 0
      do throws(LogError) {
        _ = try log.appendAndWait(isFeed ? "feed" : "outbox", [entries], isSynced: isSynced)
      } catch .suspended {
        usleep(100)
        continue
      } catch {
        say("failed \(error)")
        return
      }
      counter += count
      if isSynced { say("\(round).\(thread) \(counter)") }
    }
  }

  private func disturb(_ log: Log, isOver: () -> Bool) {
    var random = SplitMix64(seed: seed &* 31)
    while !isOver() {
      usleep(UInt32(random.next() % 4_000))
      do throws(LogError) {
        if random.next() % 8 == 0 {
          try log.suspend()
        } else {
          try log.markIdle()
        }
        try log.resume()
      } catch .locked {
        // The parent is looking whether it gets in.
        continue
      } catch {
        say("failed \(error)")
        return
      }
    }
  }
}

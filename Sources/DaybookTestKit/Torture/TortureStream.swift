import DaybookFormat

/// What one stream must hold, may hold, and must not hold: the model that a log is compared with.
struct TortureStream {
  /// One atomic append.
  struct Transaction {
    enum Standing {
      /// Durable: it was acknowledged as such, or an opening showed it.
      case acknowledged
      /// Written, and not synced: a crash may take it, and all behind it.
      case written
      /// The disk did not say.
      case unknown
    }

    let entries: [TortureEntry]
    var standing: Standing
    /// The number of the first entry, once told.
    var first: UInt64?
  }

  /// What comparing found wrong.
  struct Complaint {
    let invariant: TortureInvariant
    let detail: String
  }

  let name: TortureStreamName
  /// In the order in which they were handed over; what was refused is not among them.
  private(set) var transactions: [Transaction] = []
  /// The number that the next entry gets, if nothing is wrong with the disk.
  private var next: UInt64 = 1
  /// The highest number that was acknowledged or shown.
  private(set) var highest: UInt64 = 0
  /// Damage may have made a gap in the numbers.
  private(set) var mayHaveGaps = false

  init(_ name: TortureStreamName) { self.name = name }

  /// All entries that are there as far as is known, in order.
  var entries: [TortureEntry] {
    transactions.lazy.filter { $0.standing != .unknown }.flatMap(\.entries)
  }

  /// From now on numbers may be missing.
  mutating func noteDamage() { mayHaveGaps = true }

  /// Nothing names a number above `named` that is not there any more.
  mutating func limitHighest(to named: UInt64) {
    highest = min(highest, max(named, next - 1))
  }

  /// What a copy that was begun now, and ended after `count` more transactions, may lack.
  mutating func relax(from count: Int) {
    for place in transactions.indices.dropFirst(count) { transactions[place].standing = .written }
  }

  // MARK: - Appending

  /// `transactions` were stored as one group whose first number is `first`.
  mutating func accept(
    _ group: [[TortureEntry]], first: UInt64, isDurable: Bool
  ) -> Complaint? {
    var complaint: Complaint?
    let unknown = transactions.filter { $0.standing == .unknown }
    let unknownCount = UInt64(unknown.reduce(0) { $0 + $1.entries.count })
    if mayHaveGaps ? first <= highest : first != next && first != next + unknownCount {
      complaint = Complaint(
        invariant: .numbersOnce, detail: "\(name.rawValue):\(first) was given out, not \(next)")
    }
    if unknownCount > 0 {
      if first == next + unknownCount, !mayHaveGaps {
        settleUnknown()
      } else if first == next {
        // Their numbers went to others, so they are not in the log.
        transactions.removeAll { $0.standing == .unknown }
      }
    }
    var number = first
    for entries in group {
      transactions.append(Transaction(entries: entries, standing: .written, first: number))
      number += UInt64(entries.count)
    }
    next = number
    if isDurable { acknowledgeAll() }
    return complaint
  }

  private mutating func settleUnknown() {
    for place in transactions.indices where transactions[place].standing == .unknown {
      transactions[place].standing = .written
      transactions[place].first = next
      next += UInt64(transactions[place].entries.count)
    }
  }

  /// `group` may be stored or not.
  mutating func noteUnknown(_ group: [[TortureEntry]]) {
    for entries in group { transactions.append(Transaction(entries: entries, standing: .unknown)) }
  }

  /// A sync that returned covers all that was written before.
  mutating func acknowledgeAll() {
    for place in transactions.indices where transactions[place].standing == .written {
      transactions[place].standing = .acknowledged
    }
    highest = max(highest, next - 1)
  }

  // MARK: - Opening

  /// Compares the stream with what an opening found, which is what it must hold from now on.
  ///
  /// With `losesTail` the end may be missing from any acknowledged entry on.
  mutating func adopt(_ all: [TortureFound], losesTail: Bool) -> (
    complaints: [Complaint], lostCount: Int
  ) {
    var complaints = numberComplaints(all)
    // What the log itself has to say of damage takes numbers, and is no entry of the workload.
    let found = all.filter { $0.kind != EntryKind.gap.rawValue }
    var kept: [Transaction] = []
    var place = 0
    var lost: [Transaction] = []
    for var transaction in transactions {
      let matching = matchCount(transaction, found, from: place)
      if matching == transaction.entries.count {
        if let lost = lost.first, !mayHaveGaps, !losesTail {
          complaints.append(missing(lost))
        }
        transaction.first = found[place].number
        transaction.standing = .acknowledged
        kept.append(transaction)
        place += matching
        continue
      }
      if matching > 0 {
        complaints.append(
          Complaint(
            invariant: .allOrNothing,
            detail: "\(matching) of \(transaction.entries.count) entries from "
              + "\(name.rawValue):\(found[place].number) on"))
        place += matching
      }
      if transaction.standing == .acknowledged { lost.append(transaction) }
    }
    if place < found.count {
      complaints.append(
        Complaint(
          invariant: .refusedIsGone,
          detail: "\(name.rawValue):\(found[place].number) is there and was refused, or is strange")
      )
    }
    if let first = lost.first, !losesTail { complaints.append(missing(first)) }
    transactions = kept
    if let last = all.last { highest = max(highest, last.number) }
    next = (all.last?.number ?? 0) + 1
    return (complaints, lost.reduce(0) { $0 + $1.entries.count })
  }

  private func missing(_ transaction: Transaction) -> Complaint {
    let number = transaction.first.map { "\($0)" } ?? "?"
    return Complaint(
      invariant: mayHaveGaps && name == .outbox ? .nothingLost : .durableBeforeVisible,
      detail: "\(name.rawValue):\(number) was acknowledged and is not there")
  }

  private func matchCount(
    _ transaction: Transaction, _ found: [TortureFound], from start: Int
  ) -> Int {
    var count = 0
    for entry in transaction.entries {
      guard start + count < found.count else { break }
      let candidate = found[start + count]
      guard candidate.kind == entry.kind, candidate.bytes.elementsEqual(entry.bytes) else { break }
      if let first = transaction.first, candidate.number != first + UInt64(count) { break }
      count += 1
    }
    return count
  }

  private func numberComplaints(_ found: [TortureFound]) -> [Complaint] {
    var previous: UInt64 = 0
    for entry in found {
      if mayHaveGaps ? entry.number <= previous : entry.number != previous + 1 {
        return [
          Complaint(
            invariant: .onceInOrder,
            detail: "\(name.rawValue):\(entry.number) stands behind \(previous)")
        ]
      }
      previous = entry.number
    }
    return []
  }
}

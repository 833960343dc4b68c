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
    /// The places of entries that a compaction may have dropped.
    var droppable: Set<Int> = []
    /// The places of those that the last opening did not find.
    var gone: Set<Int> = []
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
  /// All entries up to this number may be gone: a snapshot stands for them.
  private var floor: UInt64 = 0
  /// A compaction may have made gaps in the numbers.
  private var isCompacted = false
  /// Damage has taken durable entries.
  private(set) var hasLostEntries = false
  /// Damage may have made a gap in the numbers.
  private(set) var mayHaveGaps = false

  init(_ name: TortureStreamName) { self.name = name }

  /// All entries that are there as far as is known, in order.
  var entries: [TortureEntry] {
    transactions.lazy.filter { $0.standing != .unknown }.flatMap(\.entries)
  }

  /// How many transactions are durable, before the first that is not.
  var durableCount: Int { transactions.prefix { $0.standing == .acknowledged }.count }

  /// The entries that are known and were dropped by a compaction.
  var goneEntries: [TortureEntry] {
    transactions.flatMap { transaction in transaction.gone.map { transaction.entries[$0] } }
  }

  /// From now on numbers may be missing.
  mutating func noteDamage() { mayHaveGaps = true }

  /// From now on entries up to the number `floor` may be gone, and durable ones that `mayGo` names.
  mutating func noteCompaction(through floor: UInt64, mayGo: (TortureEntry) -> Bool) {
    isCompacted = true
    self.floor = max(self.floor, floor)
    for place in transactions.indices where transactions[place].standing == .acknowledged {
      for (index, entry) in transactions[place].entries.enumerated() where mayGo(entry) {
        transactions[place].droppable.insert(index)
      }
    }
  }

  /// A snapshot stands for the entries up to the number `floor`, and for none above.
  mutating func limitFloor(to floor: UInt64) { self.floor = min(self.floor, floor) }

  /// Nothing names a number above `named` that is not there any more.
  mutating func limitHighest(to named: UInt64) {
    highest = min(highest, max(named, next - 1))
  }

  /// What a copy that was begun after `count` transactions may lack, if a snapshot in it stands for
  /// the entries up to the number `floor`.
  mutating func relax(from count: Int, floor: UInt64) {
    self.floor = floor
    for place in transactions.indices.dropFirst(count) {
      transactions[place].standing = .written
      transactions[place].droppable = []
    }
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
    complaints: [Complaint], lost: [UInt64]
  ) {
    var complaints = numberComplaints(all)
    // What the log itself has to say of damage takes numbers, and is no entry of the workload.
    let found = all.filter { $0.kind != EntryKind.gap.rawValue }
    var kept: [Transaction] = []
    var place = 0
    var lost: [Transaction] = []
    for var transaction in transactions {
      let (isWhole, matching, first, gone) = match(transaction, found, from: place)
      if isWhole {
        transaction.gone = gone
        if let lost = lost.first, !mayHaveGaps, !losesTail {
          complaints.append(missing(lost))
        }
        transaction.first = transaction.first ?? first
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
    // A gap that could not be recorded is shown by one opening, and found anew by the next.
    if let last = found.last { highest = max(highest, last.number) }
    let lastKept = kept.last.map { ($0.first ?? 1) + UInt64($0.entries.count) - 1 } ?? 0
    next = max(all.last?.number ?? 0, lastKept) + 1
    if !lost.isEmpty { hasLostEntries = true }
    let numbers = lost.flatMap { transaction in
      transaction.entries.indices.map { (transaction.first ?? 0) + UInt64($0) }
    }
    return (complaints, numbers)
  }

  private func missing(_ transaction: Transaction) -> Complaint {
    let number = transaction.first.map { "\($0)" } ?? "?"
    return Complaint(
      invariant: mayHaveGaps && name == .outbox ? .nothingLost : .durableBeforeVisible,
      detail: "\(name.rawValue):\(number) was acknowledged and is not there")
  }

  /// Whether all entries of `transaction` are there from `start` on, but for those that may be
  /// gone; how many are there before one that is missing, and the number of its first one.
  private func match(
    _ transaction: Transaction, _ found: [TortureFound], from start: Int
  ) -> (isWhole: Bool, count: Int, first: UInt64?, gone: Set<Int>) {
    var count = 0
    var gone: Set<Int> = []
    var first = transaction.first
    for (index, entry) in transaction.entries.enumerated() {
      if start + count < found.count, isFound(entry, found[start + count], first, index) {
        first = first ?? found[start + count].number - UInt64(index)
        count += 1
        continue
      }
      let isBelowFloor = first.map { $0 + UInt64(index) <= floor } ?? false
      guard isBelowFloor || transaction.droppable.contains(index) else {
        return (false, count, first, [])
      }
      gone.insert(index)
    }
    return (true, count, first, gone)
  }

  private func isFound(
    _ entry: TortureEntry, _ candidate: TortureFound, _ first: UInt64?, _ index: Int
  ) -> Bool {
    candidate.kind == entry.kind && candidate.bytes.elementsEqual(entry.bytes)
      && first.map { candidate.number == $0 + UInt64(index) } ?? true
  }

  private func numberComplaints(_ found: [TortureFound]) -> [Complaint] {
    var previous: UInt64 = 0
    for entry in found {
      if mayHaveGaps || isCompacted ? entry.number <= previous : entry.number != previous + 1 {
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

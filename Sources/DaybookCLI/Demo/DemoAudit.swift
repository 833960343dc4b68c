import Daybook
import DaybookFormat
import DaybookLog
import DaybookServerCore
import DaybookSync
import DaybookTestKit

/// Compares what the devices hold with what the server's log says, read from the disk after the
/// server has stopped.
struct DemoAudit {
  private let plan: DemoPlan
  private let data: FieldSalesData
  /// The orders that a device said were taken.
  private let taken: Set<String>
  private var draftCount = 0
  private var bases: [(account: String, isOverseer: Bool, base: [RecordKey: HeldRecord])] = []
  private var pendingRecords = 0
  private let server = ServerState()
  private var creates: [String: Int] = [:]
  private var refusalCount = 0
  private var problems: [String] = []

  init(plan: DemoPlan, data: FieldSalesData, taken: Set<String>) {
    self.plan = plan
    self.data = data
    self.taken = taken
  }

  /// Remembers what a device holds.
  mutating func take(_ store: Daybook, overseer isOverseer: Bool) {
    draftCount += store.drafts.count
    let (base, pending) = store.withState { state in
      var base: [RecordKey: HeldRecord] = [:]
      for (name, collection) in state.collections {
        for (id, held) in collection.base where held.rowBytes != nil {
          base[RecordKey(name, id)] = held
        }
      }
      return (base, state.collections.values.reduce(0) { $0 + $1.overlays.count })
    }
    bases.append((store.account, isOverseer, base))
    pendingRecords += pending
  }

  /// Reads the server's log.
  mutating func read(server path: String) throws {
    let directory = try LogDirectory(path, fileSystem: SystemFileSystem())
    var replay = try LogReplay(directory, streams: ["changes"])
    var refusals = 0
    var creates: [String: Int] = [:]
    var problem: String?
    let server = server
    try replay.run { found throws(LogError) in
      do {
        guard let entry = try Entry(kind: found.kind, bytes: found.bytes) else { return }
        try server.apply(entry)
        switch entry {
        case .change(let change) where change.record.collection == "orders":
          if change.action == .create { creates[change.record.id, default: 0] += 1 }
        case .verdict(let row) where row.settlement.refusal != nil:
          if row.settlement.refusal?.code != .withdrawn { refusals += 1 }
        default: break
        }
      } catch {
        problem = "An entry of the server's log can't be read: \(error)."
      }
    }
    self.creates = creates
    refusalCount = refusals
    if let problem { problems.append(problem) }
    problems += replay.findings.map(\.message)
  }

  /// Checks everything and sums it up.
  mutating func report(counters: ProxyCounters, tally: DemoTally.Counts) -> DemoReport {
    let onServer = Set(
      server.keys(of: "orders").filter { server.record(RecordKey("orders", $0))?.row != nil })
    let lost = taken.subtracting(onServer).count
    let twice = creates.values.count { $0 > 1 } + onServer.subtracting(taken).count
    checkRows()
    checkFates()
    expect(taken.count == plan.fates.count, "\(taken.count) orders were taken, not all.")
    expect(lost == 0, "\(lost) orders are lost.")
    expect(twice == 0, "\(twice) orders are saved twice.")
    expect(pendingRecords == 0, "\(pendingRecords) records still show unconfirmed edits.")
    expect(refusalCount == plan.refusalCount, "\(refusalCount) edits were refused, not as planned.")
    expect(draftCount == refusalCount, "\(draftCount) drafts for \(refusalCount) refused edits.")
    expect(refusalCount > 0, "No edit was refused.")
    expect(tally.resentOperations > 0, "Nothing was sent again.")
    expect(counters.pushRepliesLostAfterActing > 0, "No reply was lost after the server had acted.")
    expect(
      plan.staleCancelCount * 5 >= plan.cancelCount, "Too few cancels met a stale edit.")
    return DemoReport(
      taken: taken.count, saved: onServer.count, savedTwice: twice, lost: lost,
      cancelled: plan.cancelCount, cancelledUnderEdit: plan.staleCancelCount,
      refusedEdits: refusalCount, drafts: draftCount, sends: tally.pushes,
      resends: tally.resentOperations,
      repliesLostAfterActing: counters.pushRepliesLostAfterActing, bytesUp: counters.bytesUp,
      bytesDown: counters.bytesDown, problems: problems)
  }

  private mutating func expect(_ isTrue: Bool, _ problem: String) {
    if !isTrue { problems.append(problem) }
  }

  /// Each device's base equals the server's rows in the scopes that it pulls, bytes and versions.
  private mutating func checkRows() {
    for (account, isOverseer, base) in bases {
      var expected = 0
      var wrong = 0
      for name in data.schema.collections.keys {
        for id in server.keys(of: name) {
          let key = RecordKey(name, id)
          guard let record = server.record(key), let row = record.row,
            isOverseer || data.schema.isPulled(scope: record.scope, by: account)
          else { continue }
          expected += 1
          let held = base[key]
          if held?.rowBytes != RowBytes.encode(row) || held?.version != record.version {
            wrong += 1
          }
        }
      }
      expect(
        wrong == 0 && base.count == expected,
        "\(account) holds \(base.count) rows for the server's \(expected); \(wrong) differ.")
    }
  }

  /// Cancelled orders are cancelled, an edit before the cancel stands, one after it does not.
  private mutating func checkFates() {
    var wrong = 0
    for (index, fate) in plan.fates.enumerated() {
      let order = data.order(index, rep: "")
      let row = server.record(RecordKey("orders", order.id))?.row
      let status = row?["status"]?.text
      let note = row?["note"]?.text
      let total = row?["totalCents"]?.integer
      switch fate {
      case .kept: if status != "open" || note != nil { wrong += 1 }
      case .cancelled, .cancelledBeforeEdit:
        if status != "cancelled" || note != nil { wrong += 1 }
      case .cancelledAfterEdit: if status != "cancelled" || note == nil { wrong += 1 }
      case .repriced, .repricedBeforeEdit:
        let isCheaper = total.map { $0 <= Int64(order.totalCents) } ?? false
        if status != "open" || note != nil || !isCheaper { wrong += 1 }
      }
    }
    expect(wrong == 0, "\(wrong) orders did not end as the office and the reps left them.")
  }
}

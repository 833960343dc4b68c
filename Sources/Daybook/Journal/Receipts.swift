import DaybookFormat
import DaybookSync
import Synchronization

/// Whoever waits for the outcome of a write, told by what the journal makes durable.
final class Receipts: Sendable {
  private struct Wait {
    var missing: Set<Identifier>
    var acceptances: [Identifier: Settlement.Acceptance] = [:]
    let operationIDs: [Identifier]
    var outcome: Outcome?
    var waiting: [Int: CheckedContinuation<Outcome?, Never>] = [:]
  }

  private struct Waits {
    var waits: [Identifier: Wait] = [:]
    var owners: [Identifier: Identifier] = [:]
    var next = 0
    var isEnded = false
  }

  private let waits = Mutex(Waits())
  private let state: SharedState

  init(state: SharedState) { self.state = state }

  /// Follows the operations of one write from before they are durable.
  func follow(_ operationIDs: [Identifier]) {
    guard let first = operationIDs.first else { return }
    waits.withLock { waits in
      waits.waits[first] = Wait(missing: Set(operationIDs), operationIDs: operationIDs)
      for id in operationIDs { waits.owners[id] = first }
    }
  }

  /// Ends the following of the write whose first operation is `first`.
  func forget(_ first: Identifier) {
    waits.withLock { waits in
      guard let wait = waits.waits.removeValue(forKey: first) else { return }
      for id in wait.operationIDs { waits.owners[id] = nil }
    }
  }

  /// Ends every wait: the store is closed, and no verdict comes any more.
  func end() {
    let waiting = waits.withLock { waits in
      waits.isEnded = true
      defer { for first in waits.waits.keys { waits.waits[first]?.waiting = [:] } }
      return waits.waits.values.flatMap(\.waiting.values)
    }
    for continuation in waiting { continuation.resume(returning: nil) }
  }

  /// Waits for the outcome; `nil` when the task is cancelled or the store is closed first.
  func outcome(of operationIDs: [Identifier]) async -> Outcome? {
    guard let first = operationIDs.first else { return .accepted([]) }
    let number = waits.withLock { waits in
      waits.next += 1
      return waits.next
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known: Outcome?? = waits.withLock { waits in
          guard let wait = waits.waits[first] else { return .some(nil) }
          if let outcome = wait.outcome { return outcome }
          // Asked with the lock held: a cancellation after this finds the continuation.
          if waits.isEnded || Task.isCancelled { return .some(nil) }
          waits.waits[first]?.waiting[number] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      let continuation = waits.withLock { $0.waits[first]?.waiting.removeValue(forKey: number) }
      continuation?.resume(returning: nil)
    }
  }

  /// Learns from a durable batch. Called on the journal's thread.
  func take(_ entries: [Entry]) {
    for entry in entries {
      switch entry {
      case .settlement(let settlement):
        if let acceptance = settlement.acceptance { accept(settlement.operationID, acceptance) }
      case .departure(let departure): depart(departure)
      default: continue
      }
    }
  }

  private func accept(_ id: Identifier, _ acceptance: Settlement.Acceptance) {
    finish(ownerOf: id) { wait in
      wait.missing.remove(id)
      wait.acceptances[id] = acceptance
      guard wait.missing.isEmpty else { return nil }
      return .accepted(wait.operationIDs.compactMap { wait.acceptances[$0] })
    }
  }

  private func depart(_ departure: Departure) {
    guard let outcome = outcome(of: departure) else { return }
    for id in departure.members { finish(ownerOf: id) { _ in outcome } }
  }

  private func outcome(of departure: Departure) -> Outcome? {
    if case .withdrawn = departure.reason { return .withdrawn }
    guard let group = state.read({ $0.setAside(departure) }) else { return nil }
    if let letter = DeadLetter(group) { return .failed(letter) }
    guard let draft = Draft(group) else { return nil }
    switch draft.settlement?.verdict {
    case .conflict: return .conflict(draft)
    case .tooOld: return .tooOld(draft)
    case .refused, .accepted, nil: return .refused(draft)
    }
  }

  private func finish(ownerOf id: Identifier, _ change: (inout Wait) -> Outcome?) {
    let (waiting, outcome): ([CheckedContinuation<Outcome?, Never>], Outcome?) =
      waits.withLock { waits in
        guard let owner = waits.owners[id], var wait = waits.waits[owner], wait.outcome == nil
        else { return ([], nil) }
        guard let outcome = change(&wait) else {
          waits.waits[owner] = wait
          return ([], nil)
        }
        let waiting = Array(wait.waiting.values)
        wait.outcome = outcome
        wait.waiting = [:]
        waits.waits[owner] = wait
        for id in wait.operationIDs { waits.owners[id] = nil }
        return (waiting, outcome)
      }
    for continuation in waiting { continuation.resume(returning: outcome) }
  }
}

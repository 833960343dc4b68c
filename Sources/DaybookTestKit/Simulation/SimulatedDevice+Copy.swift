package import DaybookFormat
import DaybookSync

extension SimulatedDevice {
  /// A device restored from `journal`, a copy of this one's log: a new life of it, in which
  /// `outbox` decides about what the copy held.
  package func restored(
    from journal: SimulatedJournal, outbox: Restoration.Outbox, seed: UInt64
  ) throws -> SimulatedDevice {
    var random = SplitMix64(seed: seed)
    let life = Identifier(high: random.next(), low: random.next())
    var journal = journal
    journal.append(
      [
        .restored(
          Restoration(from: incarnation, time: now, until: nil, outbox: outbox))
      ], to: .outbox)
    return try copy(of: journal, incarnation: life, seed: seed)
  }

  /// A device that goes on from `journal`, a copy of this one's log, without anybody having said
  /// that it is one.
  package func undeclaredCopy(
    of journal: SimulatedJournal, seed: UInt64
  ) throws -> SimulatedDevice {
    try copy(of: journal, incarnation: incarnation, seed: seed)
  }

  private func copy(
    of journal: SimulatedJournal, incarnation: Identifier, seed: UInt64
  ) throws -> SimulatedDevice {
    var configuration = configuration
    configuration.seed = seed
    return try SimulatedDevice(
      configuration, on: network, journal: journal, incarnation: incarnation)
  }

  /// Decides about what a restored copy held: it is sent, or dropped.
  package func decideRestored(_ kind: Decision.Kind) throws(PowerLost) {
    guard let restoration = state.restoration else { return }
    try append(
      [.decision(Decision(kind: kind, root: restoration.from, time: now))], to: .outbox)
  }
}

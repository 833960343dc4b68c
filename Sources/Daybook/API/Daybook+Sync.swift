import DaybookFormat
package import DaybookSync

extension Daybook {
  /// Sends what waits and pulls what is new, at once, whatever the schedule says; returns when
  /// there is no more to do, or when a problem makes it wait.
  @discardableResult
  public func sync() async -> Status {
    await driver?.round()
    return await status
  }

  /// Goes on after a ``Status/Problem`` that stopped sync, once its cause is gone.
  public func resumeSync() async { await driver?.resume() }

  /// How the store stands.
  public var status: Status {
    get async {
      let lastPull = await driver?.lastPull
      let problem = await driver?.problem
      let unreadableCount = unreadableCount
      let upkeepProblem = upkeep.problem.map { DaybookError($0).message }
      return journal.state.read { state in
        let kept = state.keptOperations
        let unsettled = kept.filter(\.isUnsettled)
        let groups = state.setAside
        return Status(
          unsettledCount: unsettled.count,
          heldCount: unsettled.count(where: \.isHeld),
          unconfirmedCount: kept.count { $0.settlement?.acceptance != nil },
          draftCount: groups.count { Draft($0) != nil },
          deadLetterCount: groups.count { DeadLetter($0) != nil },
          oldestUnsettled: unsettled.first?.operation.clock.time, lastPull: lastPull,
          problem: problem, storage: journal.storageProblem,
          upkeepProblem: upkeepProblem,
          isComplete: !state.scopes.isEmpty
            && state.scopes.values.allSatisfy { $0.position != nil },
          unknownCollections: state.unknownCollections,
          unreadableRecordCount: unreadableCount, damage: damage)
      }
    }
  }

  /// The rounds of upkeep that have ended since the store was opened, for tests.
  package var upkeepRoundCount: Int { upkeep.roundCount }

  /// The writes that have waited for upkeep since the store was opened, for tests.
  package var upkeepWaitCount: Int { upkeep.waitCount }

  /// Whether a write waits for upkeep now, for tests.
  package var isUpkeepWaitedFor: Bool { upkeep.isWaitedFor }

  /// What has been sent since the store was opened.
  package var syncCounts: SyncCounts {
    get async { await driver?.counts ?? SyncCounts() }
  }

  /// Runs `body` on the folded state, for tools and tests.
  package func withState<Result>(_ body: (ClientState) -> Result) -> Result {
    journal.state.read(body)
  }
}

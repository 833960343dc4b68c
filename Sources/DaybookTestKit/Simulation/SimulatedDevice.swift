package import DaybookFormat
import DaybookServerCore
package import DaybookSync

/// A device of the real rules and machines without threads, files or sockets.
///
/// Everything it does follows from its seed, the calls made and the network's script. A power cut
/// is thrown out of whatever was under way; ``restart()`` brings the device back with what its
/// journal holds. Not safe to share: a simulation is one task.
package final class SimulatedDevice {
  /// What makes one device differ from another.
  package struct Configuration: Sendable {
    /// The account that is signed in.
    package var account: String
    /// The device's name.
    package var name: String
    /// Where its random numbers come from.
    package var seed: UInt64
    /// How much one push carries.
    package var limits = BatchLimits()
    /// How long it waits after failures.
    package var schedule = RetrySchedule.background
    /// Changes or rows in one page.
    package var pageLimit = ChangesRequest.defaultLimit
    /// How many milliseconds its clock is ahead of the server's.
    package var clockLead: Int64 = 0

    /// A device of `account`.
    package init(account: String, name: String, seed: UInt64) {
      self.account = account
      self.name = name
      self.seed = seed
    }
  }

  /// What makes it differ from another.
  package let configuration: Configuration
  /// The schema of its app.
  package let schema: Schema
  /// The life of its log.
  package let incarnation: Identifier
  /// What its log has made of it.
  package var state: ClientState
  /// Its log.
  package internal(set) var journal = SimulatedJournal()
  /// When its power is to be cut.
  package var powerCut: PowerCut?
  /// When the push machine wants to be woken.
  package internal(set) var pushWait: Timestamp?
  /// When the pull machine wants to be woken.
  package internal(set) var pullWait: Timestamp?
  /// Why a machine has stopped, the last reason first.
  package internal(set) var pauses: [SyncPause] = []
  /// Rounds of pulling that came to their end.
  package internal(set) var pullRounds = 0
  /// An answer to a push that is still under way.
  package internal(set) var heldReply: PushReply?
  let network: SimulatedNetwork
  var push: PushMachine
  var pull: PullMachine
  var random: SplitMix64

  /// A device with an empty log on `network`, whose server's schema it shares.
  package init(_ configuration: Configuration, on network: SimulatedNetwork) {
    self.configuration = configuration
    self.network = network
    schema = network.server.engine.schema
    random = SplitMix64(seed: configuration.seed)
    incarnation = Identifier(high: random.next(), low: random.next())
    state = ClientState(schema: schema, incarnation: incarnation)
    push = PushMachine(limits: configuration.limits, schedule: configuration.schedule)
    pull = PullMachine(schedule: configuration.schedule)
  }

  /// A device that goes on with `journal`, a copy of another one's log, in the life `incarnation`:
  /// the same for a copy that nobody declared, a new one for a restored log.
  package init(
    _ configuration: Configuration, on network: SimulatedNetwork, journal: SimulatedJournal,
    incarnation: Identifier
  ) throws(EntryError) {
    self.configuration = configuration
    self.network = network
    self.journal = journal
    self.incarnation = incarnation
    schema = network.server.engine.schema
    random = SplitMix64(seed: configuration.seed)
    state = try journal.state(schema: schema, incarnation: incarnation)
    push = PushMachine(limits: configuration.limits, schedule: configuration.schedule)
    pull = PullMachine(schedule: configuration.schedule)
  }

  /// What its clock shows.
  package var now: Timestamp {
    Timestamp(
      milliseconds: network.server.clock.now.milliseconds + configuration.clockLead)
  }

  /// Starts it again: the log is all that is left.
  package func restart() throws(EntryError) {
    powerCut = nil
    pushWait = nil
    pullWait = nil
    pauses = []
    heldReply = nil
    state = try journal.state(schema: schema, incarnation: incarnation)
    push = PushMachine(limits: configuration.limits, schedule: configuration.schedule)
    pull = PullMachine(schedule: configuration.schedule)
  }

  /// Appends `entries` together and folds them, unless the power is cut before or after it.
  func append(_ entries: [Entry], to stream: SimulatedJournal.Stream) throws(PowerLost) {
    let number = journal.appendCount + 1
    if powerCut == .beforeAppend(number) { throw PowerLost(append: number) }
    var position = journal.nextPosition(in: stream)
    journal.append(entries, to: stream)
    if powerCut == .afterAppend(number) { throw PowerLost(append: number) }
    for entry in entries {
      state.apply(entry, position: position)
      position += 1
    }
  }
}

/// One kind of step. A new one is a file in this folder and a line in ``TortureActions``.
protocol TortureAction: Sendable {
  /// Its name in reports.
  var name: String { get }
  /// How often it is taken, beside the others that are possible.
  var weight: Int { get }
  /// It opens the log, which takes more calls than anything else.
  var isOpening: Bool { get }
  /// Whether it makes sense now.
  func isPossible(in world: TortureWorld) -> Bool
  /// Does it. With `mayFail` the disk may stop or fail in the middle.
  func run(_ world: TortureWorld, mayFail: Bool)
}

extension TortureAction {
  var isOpening: Bool { false }
}

/// Every action.
enum TortureActions {
  static let all: [any TortureAction] = [
    WriteAction(), SettleAction(), SetAsideAction(), PullAction(), BootstrapAction(),
    SyncAction(), IdleAction(), LookAction(), SecondWriterAction(), SuspendAction(),
    CloseAction(), CrashAction(),
    OpenAction(), OpenTwiceAction(), DamageAction(),
    CopyAction(), BackupAction(), CompactAction(),
  ]
}

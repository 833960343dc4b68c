import DaybookLog

/// Why nothing is written to the log now. Reads go on, and nothing that was acknowledged is lost.
///
/// Writing is tried with every write and goes on by itself once the cause is gone, unless the case
/// says otherwise.
public enum StorageProblem: Sendable, Hashable {
  /// The store is suspended, until ``Daybook/resume()``.
  case suspended
  /// The disk is full.
  case diskFull
  /// No permission, or a read-only disk. A store that was opened so is to be opened anew.
  case notPermitted
  /// Another process has the log open: try ``Daybook/resume()`` again.
  case locked
  /// Another process has written to the log: close the store and open it anew.
  case writtenByOther
  /// A call to the disk failed for another reason.
  case failing

  /// The problem in a sentence with a remedy.
  public var message: String {
    switch self {
    case .suspended: return "The store is suspended: resume it to write and to sync."
    case .diskFull: return "The disk is full. Free some space; what was stored is safe."
    case .notPermitted:
      return "The log can't be written to. Check its permissions and whether the disk is read-only."
    case .locked: return "Another process has the log open. Close it there."
    case .writtenByOther:
      return "Another process has written to the log. Close the store and open it anew."
    case .failing: return "The disk fails. What was acknowledged is stored; check the disk."
    }
  }

  /// The problem behind a write's error; `nil` if it was not the disk's.
  init?(_ error: any Error) {
    guard let error = error as? DaybookError else { return nil }
    switch error.code {
    case .suspended: self = .suspended
    case .diskFull: self = .diskFull
    case .notPermitted: self = .notPermitted
    case .locked: self = .locked
    case .writtenByOther: self = .writtenByOther
    case .notWritten, .outcomeUnknown, .inputOutput:
      switch error.cause as? LogError {
      case .notWritten(let call), .outcomeUnknown(let call), .inputOutput(let call):
        switch call.reason {
        case .diskFull: self = .diskFull
        case .readOnly, .permission: self = .notPermitted
        default: self = .failing
        }
      default: self = .failing
      }
    default: return nil
    }
  }
}

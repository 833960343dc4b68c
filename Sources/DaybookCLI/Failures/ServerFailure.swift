import DaybookServer

extension SyncServerError: Explained {
  var failure: Failure { Failure(status: status, message: problem, remedy: remedy) }

  private var status: ExitStatus {
    switch code {
    case .damaged: return .damaged
    case .newerFormat: return .newerFormat
    case .locked: return .locked
    case .notALog: return .notALog
    case .diskFull: return .diskFull
    case .inputOutput, .notListening: return .inputOutput
    }
  }
}

extension FileError {
  /// The failed call that `error` is about, as far as it tells.
  init?(_ error: LogError) {
    switch error {
    case .notWritten(let cause), .outcomeUnknown(let cause), .inputOutput(let cause): self = cause
    case .diskFull(let path): self.init(.diskFull, .create, path)
    case .notPermitted(let path): self.init(.permission, .create, path)
    default: return nil
    }
  }
}

/// How commands that only read may end, whichever of them it is.
enum ReadingStatus {
  static let all: [ExitStatus] = [.tornTail, .newerFormat, .damaged, .notALog, .inputOutput]
}

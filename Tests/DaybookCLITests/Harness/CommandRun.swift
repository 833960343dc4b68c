import DaybookTestKit
import Dispatch
import Foundation
import Synchronization
import Testing

/// The built `daybook`, run as a user runs it: arguments without a shell, output read through
/// pipes.
///
/// ```swift
/// let run = try await CommandRun("stat", directory.path).outcome()
/// #expect(run.status == 0)
/// ```
/// For a command that stays, wait for ``line(_:)`` and ``send(_:)`` a signal before the outcome.
final class CommandRun: Sendable {
  /// How a run ended.
  struct Outcome: Sendable {
    /// The exit status; 128 plus the signal's number if a signal ended it, as a shell says it.
    let status: Int32
    let output: String
    let errors: String

    /// The lines of standard output.
    var lines: [String] { output.split(separator: "\n").map(String.init) }
    /// The lines of standard error.
    var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
  }

  /// Where standard output goes.
  enum Destination: Sendable {
    case captured
    /// A file that exists, as `/dev/full`.
    case file(String)
    /// A pipe whose reader has gone.
    case closedPipe
  }

  /// A run that is not over by then is ended and reported: a test never hangs.
  static let deadline = Duration.seconds(900)

  private let process: Mutex<Process>
  private let arguments: [String]
  private let output = CapturedText()
  private let errors = CapturedText()
  private let ended = Gate()
  private let wasKilled = Mutex(false)

  /// Starts the command. `environment` is laid over the test's own.
  convenience init(
    _ arguments: String..., output destination: Destination = .captured,
    environment: [String: String] = [:], in directory: String? = nil,
    deadline: Duration = CommandRun.deadline
  ) throws {
    try self.init(
      arguments, output: destination, environment: environment, in: directory, deadline: deadline)
  }

  /// Starts the command. `environment` is laid over the test's own.
  init(
    _ arguments: [String], output destination: Destination = .captured,
    environment: [String: String] = [:], in directory: String? = nil,
    deadline: Duration = CommandRun.deadline
  ) throws {
    self.arguments = arguments
    let process = Process()
    process.executableURL = try Self.executable()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let directory { process.currentDirectoryURL = URL(filePath: directory) }
    process.standardInput = FileHandle.nullDevice
    let errorPipe = Pipe()
    process.standardError = errorPipe
    let outputPipe = Pipe()
    switch destination {
    case .captured: process.standardOutput = outputPipe
    case .file(let path):
      process.standardOutput = try FileHandle(forWritingTo: URL(filePath: path))
      output.finish()
    case .closedPipe:
      process.standardOutput = outputPipe
      try outputPipe.fileHandleForReading.close()
      output.finish()
    }
    process.terminationHandler = { [ended] _ in ended.open() }
    try process.run()
    self.process = Mutex(process)
    errors.read(errorPipe.fileHandleForReading)
    if case .captured = destination { output.read(outputPipe.fileHandleForReading) }
    let killAt = DispatchTime.now() + Double(deadline.components.seconds)
    DispatchQueue.global().asyncAfter(deadline: killAt) { [weak self] in self?.kill() }
  }

  deinit { process.withLock { if $0.isRunning { Foundation.kill($0.processIdentifier, SIGKILL) } } }

  /// The process's number while it runs.
  var processIdentifier: Int32 { process.withLock { $0.processIdentifier } }

  /// Sends `SIGINT`, `SIGTERM`, `SIGKILL`, ...
  func send(_ signal: Int32) {
    process.withLock { if $0.isRunning { Foundation.kill($0.processIdentifier, signal) } }
  }

  /// The first line of standard output that holds `part`, as soon as it is there; `nil` if the
  /// command ends without one.
  func line(_ part: String) async -> String? { await output.line(part) }

  /// The first line of standard error that holds `part`, as soon as it is there.
  func errorLine(_ part: String) async -> String? { await errors.line(part) }

  /// Waits for the end. A run that had to be ended by the deadline is an issue of the test.
  func outcome() async -> Outcome {
    await ended.wait()
    await output.ended.wait()
    await errors.ended.wait()
    if wasKilled.withLock({ $0 }) {
      Issue.record("daybook \(arguments.joined(separator: " ")) had to be killed: \(errors.text)")
    }
    let status = process.withLock { process in
      process.terminationReason == .exit
        ? process.terminationStatus : 128 + process.terminationStatus
    }
    return Outcome(status: status, output: output.text, errors: errors.text)
  }

  private func kill() {
    process.withLock { process in
      guard process.isRunning else { return }
      wasKilled.withLock { $0 = true }
      Foundation.kill(process.processIdentifier, SIGKILL)
    }
  }

  /// `daybook` is built beside the tests.
  static func executable() throws -> URL {
    var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.path != "/" {
      let candidate = directory.appending(path: "daybook")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
      directory.deleteLastPathComponent()
    }
    throw NotBuilt(tests: CommandLine.arguments[0])
  }

  /// There is no `daybook` in any directory above the tests.
  struct NotBuilt: Error {
    let tests: String
  }
}

import DaybookFormat

/// Copies of damaged bytes, kept aside for ever under names that only depend on what they hold, so
/// that an opening that ended in the middle can be done again.
///
/// A file is written under another name, synced, renamed, and its directory synced. Source:
/// `Docs/Format.md`, section "Recovery".
struct Quarantine {
  /// The most bytes that are kept: 64 MiB; what is found beyond stays in its file alone.
  static let byteLimit = 64 << 20
  /// The most files that are kept, for the same reason.
  static let fileLimit = 2_000

  static let folder = "quarantine"

  private let log: String
  private let fileSystem: any FileSystem
  private var names: Set<String> = []
  private var byteCount = 0
  private var isOpen = false
  /// What this one has added, from the log's directory on.
  private(set) var added: [String] = []

  /// The quarantine of the log at `directory`; made when there is something to keep.
  init(_ directory: String, fileSystem: any FileSystem) {
    log = directory
    self.fileSystem = fileSystem
  }

  private var directory: String { "\(log)/\(Quarantine.folder)" }

  /// Looks at what is there; what an earlier opening left half done is removed.
  private mutating func open() throws(FileError) {
    guard !isOpen else { return }
    isOpen = true
    guard try fileSystem.attributes(of: directory) != nil else {
      try fileSystem.makeDirectory(directory)
      return
    }
    for name in try fileSystem.list(directory) {
      if name.hasSuffix(".tmp") {
        try fileSystem.remove("\(directory)/\(name)")
        continue
      }
      names.insert(name)
      let found = try fileSystem.attributes(of: "\(directory)/\(name)")
      byteCount += Int(clamping: found?.byteCount ?? 0)
    }
  }

  /// Keeps `bytes` of the file that `finding` is about, with the finding in words beside them.
  /// Returns the name; `nil` if there is no more room.
  mutating func keep(
    _ bytes: ArraySlice<UInt8>, of finding: LogFinding, digest: SHA256Digest
  ) throws(FileError) -> String? {
    try open()
    let stem = finding.file.split(separator: "/").last?.dropLast(LogLayout.segmentSuffix.count)
    let name =
      "\(finding.stream)-\(stem ?? "")-\(bytes.startIndex)-\(digest.hexadecimal.prefix(8))"
    guard !names.contains("\(name).bytes") else { return "\(name).bytes" }
    guard names.count < Quarantine.fileLimit, byteCount + bytes.count <= Quarantine.byteLimit
    else { return nil }
    // The words first: whoever finds the bytes finds them, too.
    try put(Array(words(bytes, finding, digest).utf8), "\(name).json")
    try put(Array(bytes), "\(name).bytes")
    byteCount += bytes.count
    return "\(name).bytes"
  }

  private func words(
    _ bytes: ArraySlice<UInt8>, _ finding: LogFinding, _ digest: SHA256Digest
  ) -> String {
    var object = JSONObject()
    object.set("file", finding.file)
    object.set("offset", bytes.startIndex)
    object.set("bytes", bytes.count)
    object.set("finding", finding.kind.rawValue)
    if let lost = finding.lost {
      object.set("lost", .array([.unsigned(lost.lowerBound), .unsigned(lost.upperBound)]))
    }
    object.set("sha256", digest.hexadecimal)
    object.set("words", finding.message)
    return object.text + "\n"
  }

  private mutating func put(_ bytes: [UInt8], _ name: String) throws(FileError) {
    guard !names.contains(name) else { return }
    let temporary = "\(directory)/\(name).tmp"
    let file = try fileSystem.create(temporary)
    defer { file.close() }
    try file.write(bytes, at: 0)
    try file.sync()
    try fileSystem.rename(temporary, to: "\(directory)/\(name)")
    names.insert(name)
    added.append("\(Quarantine.folder)/\(name)")
  }

  /// Makes the names of what was kept durable.
  func sync() throws(FileError) {
    // An earlier opening may have ended between making them and this.
    guard isOpen else { return }
    try fileSystem.syncDirectory(directory)
    try fileSystem.syncDirectory(log)
  }
}

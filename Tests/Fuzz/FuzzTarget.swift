import Foundation

/// The decoders that are fed with what a fuzzer makes up. One program holds them all; the
/// environment names the one to run.
enum FuzzTarget: String, CaseIterable {
  case cbor, json, schema, text, record
  case entry, payload, wire
  case header, head, frame, segment, log, open

  static let variable = "DAYBOOK_FUZZ_TARGET"

  /// The target of this process.
  static let current: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment[variable] ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
      let names = allCases.map(\.rawValue).joined(separator: ", ")
      preconditionFailure("set \(variable) to one of: \(names)")
    }
    return target
  }()

  /// Decodes `input`; whatever it holds, nothing may trap, and what is read must hold together.
  func run(_ input: [UInt8]) {
    switch self {
    case .cbor: ValueTargets.cbor(input)
    case .json: ValueTargets.json(input)
    case .schema: ValueTargets.schema(input)
    case .text: ValueTargets.text(input)
    case .record: ValueTargets.record(input)
    case .entry: EntryTargets.entry(input)
    case .payload: EntryTargets.payload(input)
    case .wire: EntryTargets.wire(input)
    case .header: LogTargets.header(input)
    case .head: LogTargets.head(input)
    case .frame: LogTargets.frame(input)
    case .segment: LogTargets.segment(input)
    case .log: LogTargets.log(input)
    case .open: LogTargets.open(input)
    }
  }
}

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  FuzzTarget.current.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

/// Ends the process if what was read does not hold together; libFuzzer then keeps the input.
func hold(_ condition: Bool, _ message: @autoclosure () -> String) {
  guard !condition else { return }
  // An optimised build would drop the message of a precondition.
  FileHandle.standardError.write(Data("fuzz: \(message())\n".utf8))
  preconditionFailure()
}

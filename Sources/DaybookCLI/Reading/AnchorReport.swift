import DaybookFormat
import DaybookLog

/// What holding a log against an anchor came to, in words.
struct AnchorReport {
  let anchor: Anchor
  let logID: Identifier?
  /// By stream; a stream that is not there ends before its place.
  var verdicts: [String: AnchorCheck.Verdict] = [:]

  static let advice =
    "The history that the anchor was taken of is not what this log holds. If the log was restored "
    + "from an older copy, an anchor behind the copy tells so, too."

  init(_ anchor: Anchor, logID: Identifier?) {
    self.anchor = anchor
    self.logID = logID
  }

  private var isOther: Bool { anchor.logID != logID }

  private func verdict(_ place: Anchor.Place) -> AnchorCheck.Verdict {
    verdicts[place.stream] ?? .shorter(last: 0)
  }

  /// History was only added to, as far as can be told.
  var isKept: Bool {
    !isOther
      && anchor.places.allSatisfy { place in
        switch verdict(place) {
        case .extended, .compacted: return true
        case .rewritten, .shorter, .damaged: return false
        }
      }
  }

  /// It is shown that it was not.
  var isRewritten: Bool {
    isOther
      || anchor.places.contains { place in
        switch verdict(place) {
        case .rewritten, .shorter: return true
        case .extended, .compacted, .damaged: return false
        }
      }
  }

  /// A line for each place.
  var lines: [String] {
    if isOther {
      return [
        "the anchor is of the log \(anchor.logID), and this is "
          + (logID.map { "\($0)" } ?? "one without a name")
      ]
    }
    return anchor.places.map { "\(printable($0.stream)): \(words($0, verdict($0)))" }
  }

  private func words(_ place: Anchor.Place, _ verdict: AnchorCheck.Verdict) -> String {
    switch verdict {
    case .extended:
      return "everything up to entry \(place.number) is as it was when the anchor was taken"
    case .compacted(let boundary):
      return "everything up to entry \(boundary) is as it was; the entries behind, up to "
        + "\(place.number), were compacted since, and the anchor is too old to tell them"
    case .rewritten:
      return "the entries up to \(place.number) are not those that were there: history was "
        + "rewritten"
    case .shorter(let last):
      return "it ends with entry \(last), and had \(place.number) when the anchor was taken"
    case .damaged:
      return "what stands up to entry \(place.number) is damaged, so nothing can be told of it"
    }
  }

  /// An object for each place.
  var objects: [JSONObject] {
    if isOther {
      var object = JSONObject()
      object.set("anchor", optional: String?.none)
      object.set("verdict", "otherLog")
      object.set("number", optional: UInt64?.none)
      object.set("proven", 0)
      return [object]
    }
    return anchor.places.map { place in
      var object = JSONObject()
      object.set("anchor", place.stream)
      let (word, proven): (String, UInt64) =
        switch verdict(place) {
        case .extended: ("extended", place.number)
        case .compacted(let boundary): ("compacted", boundary)
        case .rewritten: ("rewritten", 0)
        case .shorter: ("shorter", 0)
        case .damaged: ("damaged", 0)
        }
      object.set("verdict", word)
      object.set("number", place.number)
      object.set("proven", proven)
      return object
    }
  }
}

/// Reads what `daybook anchor` printed.
enum AnchorFile {
  static func read(_ path: String) throws -> Anchor {
    let files = SystemFileSystem()
    let text: String?
    do throws(FileError) {
      let file = try files.open(path, writable: false)
      defer { file.close() }
      let bytes = try file.read(at: 0, count: Anchor.textByteLimit)
      text = String(validating: bytes, as: UTF8.self)
    } catch {
      switch error.reason {
      case .notFound:
        throw Failure(
          status: .usage, message: "there is no file \(path)",
          remedy: "Give the file that the output of `daybook anchor` was kept in.")
      default: throw Failure(disk: error)
      }
    }
    do throws(Anchor.TextError) {
      guard let text else { throw .notAnAnchor }
      return try Anchor(text: text)
    } catch {
      throw Failure(path, error)
    }
  }
}

extension Failure {
  fileprivate init(_ path: String, _ error: Anchor.TextError) {
    let remedy = "Give the file that the output of `daybook anchor` was kept in, as it was printed."
    switch error {
    case .notAnAnchor:
      self.init(status: .usage, message: "\(path) is no anchor", remedy: remedy)
    case .line(let number):
      self.init(
        status: .usage, message: "\(path), line \(number): an anchor does not say this",
        remedy: remedy)
    case .newer(let version):
      self.init(
        status: .newerFormat,
        message: "\(path) is an anchor of version \(version), and this version reads 1",
        remedy: "Use the version of Daybook that printed it, or a newer one.")
    }
  }
}

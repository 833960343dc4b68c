import DaybookFormat

/// What a day came to.
struct DemoReport: Sendable {
  let taken: Int
  let saved: Int
  let savedTwice: Int
  let lost: Int
  let cancelled: Int
  let cancelledUnderEdit: Int
  let refusedEdits: Int
  let drafts: Int
  let sends: Int
  let resends: Int
  let repliesLostAfterActing: Int
  let bytesUp: Int
  let bytesDown: Int
  /// What is not as it must be, in sentences; none in the end of a good day.
  let problems: [String]

  private var counts: [(name: String, key: String, count: Int)] {
    [
      ("orders taken", "taken", taken), ("orders saved", "saved", saved),
      ("saved twice", "savedTwice", savedTwice), ("lost", "lost", lost),
      ("cancelled by the office", "cancelled", cancelled),
      ("  of them under a stale edit", "cancelledUnderEdit", cancelledUnderEdit),
      ("edits refused", "refusedEdits", refusedEdits), ("drafts kept", "drafts", drafts),
      ("sends", "sends", sends), ("operations sent again", "resends", resends),
      ("replies lost after acting", "repliesLostAfterActing", repliesLostAfterActing),
      ("bytes up", "bytesUp", bytesUp), ("bytes down", "bytesDown", bytesDown),
    ]
  }

  /// The counts for people.
  var table: Table {
    var table = Table([("what", .left), ("count", .right)])
    for (name, _, count) in counts { table.add([name, grouped(count)]) }
    return table
  }

  /// The counts for programs, in the order of the table, then whether all is well.
  var object: JSONObject {
    var object = JSONObject()
    for (_, key, count) in counts { object.set(key, count) }
    object.set("ok", problems.isEmpty)
    return object
  }

  /// The end of the story.
  var sentence: String {
    problems.isEmpty
      ? "Every order is on the server exactly once, and every refused edit is a draft."
      : "Something is wrong: \(problems.joined(separator: " "))"
  }
}

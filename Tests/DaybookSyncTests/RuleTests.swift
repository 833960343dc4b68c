import DaybookFormat
import DaybookSync
import DaybookTestKit
import Testing

/// What the rules make of one operation on one record.
@Suite struct `the rules` {
  private let version = Version(number: 4, mark: 44)

  private func operation(
    _ edit: SimulatedEdit, scope: String = "sales", clock: UInt64 = 10
  ) -> Operation {
    Operation(
      id: Identifier(high: 4, low: 4), incarnation: Identifier(high: 3, low: 3), number: 1,
      clock: HybridTime(rawValue: clock), account: "rep", device: "phone", record: edit.record,
      scope: scope, action: edit.action, fields: edit.fields, unset: edit.unset)
  }

  private func current(_ status: String, _ lastWrite: UInt64 = 5) -> CurrentRecord {
    CurrentRecord(
      row: ["status": .text(status), "quantity": .int(1)], version: version, scope: "sales",
      lastWrite: HybridTime(rawValue: lastWrite))
  }

  private var deleted: CurrentRecord {
    CurrentRecord(
      row: nil, version: version, scope: "sales", lastWrite: HybridTime(rawValue: 5))
  }

  /// `effect`, or the code of the refusal.
  private func judge(
    _ edit: SimulatedEdit, on current: CurrentRecord?, base: Version? = nil,
    scope: String = "sales", schema: Schema = World.schema, clock: UInt64 = 10
  ) -> String {
    let judgement = Rules(schema: schema).judge(
      operation(edit, scope: scope, clock: clock), base: base, current: current,
      exists: { $0.id == "there" })
    switch judgement {
    case .effect(let effect): return effect.isSuperfluous ? "superfluous" : "effect"
    case .refused(let refusal): return refusal.code.rawValue
    }
  }

  @Test func `a create needs its fields, its scope, an initial state and a free id`() {
    #expect(judge(.order("1", quantity: 1), on: nil) == "effect")
    #expect(judge(.order("1", quantity: 1), on: deleted) == "effect")
    #expect(judge(.order("1", quantity: 1), on: current("open")) == "record-exists")
    #expect(judge(.order("1", quantity: 1), on: nil, scope: "rep") == "wrong-scope")
    let sent: ValueMap = ["status": .text("sent"), "quantity": .int(1)]
    #expect(judge(SimulatedEdit(.create, .order("1"), sent), on: nil) == "state-rule")
    let lacking = SimulatedEdit(.create, .order("1"), ["status": .text("open")])
    #expect(judge(lacking, on: nil) == "schema-mismatch")
    let unknown = SimulatedEdit(.create, RecordKey("nowhere", "1"))
    #expect(judge(unknown, on: nil) == "schema-mismatch")
  }

  @Test func `a patch never creates, and a deleted record stays deleted`() {
    #expect(judge(.quantity(2, of: "1"), on: nil) == "unknown-record")
    #expect(judge(.quantity(2, of: "1"), on: deleted, base: version) == "deleted-record")
    let replace = SimulatedEdit(
      .replace, .order("1"), ["status": .text("open"), "quantity": .int(2)])
    #expect(judge(replace, on: nil) == "unknown-record")
    #expect(judge(SimulatedEdit(.delete, .order("1")), on: nil) == "unknown-record")
  }

  @Test func `the version check takes the version that was seen and no other`() {
    let open = current("open")
    #expect(judge(.quantity(2, of: "1"), on: open, base: version) == "effect")
    #expect(judge(.quantity(2, of: "1"), on: open, base: nil) == "stale-base")
    for stale in [Version(number: 3, mark: 33), Version(number: 4, mark: 45)] {
      #expect(judge(.quantity(2, of: "1"), on: open, base: stale) == "stale-base")
    }
    #expect(judge(SimulatedEdit(.delete, .order("1")), on: open, base: version) == "effect")
  }

  @Test func `states change as the schema says, and a final one does not change`() {
    let sent = SimulatedEdit(.patch, .order("1"), ["status": .text("sent")])
    let back = SimulatedEdit(.patch, .order("1"), ["status": .text("open")])
    #expect(judge(sent, on: current("open"), base: version) == "effect")
    #expect(judge(back, on: current("sent"), base: version) == "state-rule")
    #expect(judge(back, on: current("open"), base: version) == "effect", "staying is allowed")
    for edit in [.quantity(2, of: "1"), sent, SimulatedEdit(.delete, .order("1"))] {
      #expect(judge(edit, on: current("cancelled"), base: version) == "state-rule")
    }
  }

  @Test func `a named action looks at the state alone and sets what the server's schema says`() {
    #expect(judge(.cancel("1"), on: current("open")) == "effect")
    #expect(judge(.cancel("1"), on: current("sent"), base: Version(number: 1, mark: 1)) == "effect")
    #expect(judge(.cancel("1"), on: current("cancelled"), base: version) == "state-rule")
    let unknown = SimulatedEdit(.named("sell"), .order("1"))
    #expect(judge(unknown, on: current("open")) == "schema-mismatch")
    let bare = SimulatedEdit(.named("cancel"), .order("1"))
    let judgement = Rules(schema: World.schema).judge(
      operation(bare), base: nil, current: current("open"), exists: { _ in true })
    guard case .effect(let effect) = judgement else {
      Issue.record("\(judgement)")
      return
    }
    #expect(effect.applied(to: current("open").row)?.status == "cancelled")
  }

  @Test func `a reference must be there, under every policy`() {
    #expect(judge(.visit("1", order: "there"), on: nil) == "effect")
    #expect(judge(.visit("1", order: "gone"), on: nil) == "missing-reference")
    let move = SimulatedEdit(.patch, .order("1"), ["shop": .text("gone")])
    #expect(judge(move, on: current("open"), base: version) == "missing-reference")
  }

  @Test func `a record stays in its scope, and an account writes only where it pulls`() {
    let diary = SimulatedEdit(.create, RecordKey("diary", "1"), ["text": .text("x")])
    #expect(judge(diary, on: nil, scope: "rep") == "effect")
    #expect(judge(diary, on: nil, scope: "other") == "wrong-scope")
    var elsewhere = current("open")
    elsewhere.scope = "other"
    #expect(judge(.quantity(2, of: "1"), on: elsewhere, base: version) == "wrong-scope")
    #expect(
      judge(.quantity(2, of: "1"), on: elsewhere, base: version, scope: "other") == "wrong-scope")
  }

  @Test func `fields are of their types, and what the schema lacks is let through`() {
    let wrong = SimulatedEdit(.patch, .order("1"), ["quantity": .text("two")])
    #expect(judge(wrong, on: current("open"), base: version) == "schema-mismatch")
    let newer = SimulatedEdit(.patch, .order("1"), ["colour": .text("red")])
    #expect(judge(newer, on: current("open"), base: version) == "effect")
    let needed = SimulatedEdit(.patch, .order("1"), unset: ["quantity"])
    #expect(judge(needed, on: current("open"), base: version) == "schema-mismatch")
  }

  @Test func `the later stamp stands, and what loses is accepted without effect`() {
    let schema = Schema(
      name: "stamps",
      collections: [
        CollectionSchema(
          name: "orders",
          fields: ["status": FieldSchema(.text), "quantity": FieldSchema(.int)],
          policy: .plainTimestamp, scope: .constant("sales"))
      ])
    for (clock, expected) in [(UInt64(6), "effect"), (5, "superfluous"), (4, "superfluous")] {
      #expect(
        judge(.quantity(2, of: "1"), on: current("open"), schema: schema, clock: clock) == expected)
    }
  }
}

import Daybook

extension DemoDay {
  /// The office cancels and reprices; some of it meets an earlier edit of a rep, some a stale one.
  func changeOrders(_ cast: Cast) async throws {
    let office = cast.office
    try await DemoRep.settle(office)
    output.note(
      "The office cancels \(grouped(plan.cancelCount)) orders, "
        + "\(grouped(plan.staleCancelCount)) of them under a rep's edit, and reprices others.")

    // A rep's edit arrives first; the office, which has not seen it, cancels.
    let edited = plan.orders { $0 == .cancelledAfterEdit }
    try await edit(edited, cast, note: "two more crates, please")
    try await together(cast.stores, "devices") { store in try await DemoRep.settle(store) }
    try await cancel(edited, office)

    // The office changes the order; the rep, who has not seen it, edits.
    try await cancel(plan.orders { $0 == .cancelled }, office)
    try await cancel(
      plan.orders { if case .cancelledBeforeEdit = $0 { true } else { false } }, office)
    try await reprice(
      plan.orders { $0 == .repriced || $0 == .repricedBeforeEdit }, office)
    try await DemoRep.settle(office)
    let stale = plan.orders {
      switch $0 {
      case .cancelledBeforeEdit, .repricedBeforeEdit: true
      default: false
      }
    }
    try await edit(stale, cast, note: "ring the bell twice")
    let twice = plan.orders { $0 == .cancelledBeforeEdit(edits: 2) }
    try await edit(twice, cast, note: "and mind the dog")
    try await together(cast.stores, "devices") { store in try await DemoRep.settle(store) }
    try await DemoRep.settle(office)
  }

  /// Each order's rep writes a note on it, on the device.
  private func edit(_ indexes: [Int], _ cast: Cast, note: String) async throws {
    for index in indexes {
      let rep = plan.rep(of: index)
      let id = data.order(index, rep: cast.reps[rep].account).id
      try await cast.stores[rep].write { transaction in
        try transaction.update(FieldSales.SalesOrder.self, id) { $0.note = note }
      }
    }
  }

  private func cancel(_ indexes: [Int], _ office: Daybook) async throws {
    for index in indexes {
      let id = data.order(index, rep: "").id
      try await office.perform("cancel", on: id, of: FieldSales.SalesOrder.self)
    }
    try await DemoRep.settle(office)
  }

  /// The office takes a tenth off every line, and at least a cent.
  private func reprice(_ indexes: [Int], _ office: Daybook) async throws {
    for index in indexes {
      let id = data.order(index, rep: "").id
      try await office.write { transaction in
        try transaction.update(FieldSales.SalesOrder.self, id) { order in
          for line in order.lines.indices {
            let amount = order.lines[line].amountCents
            order.lines[line].amountCents -= min(amount, max(1, amount / 10))
          }
          order.totalCents = order.lines.reduce(0) { $0 + $1.amountCents }
        }
      }
    }
    try await DemoRep.settle(office)
  }
}

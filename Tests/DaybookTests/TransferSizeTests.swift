import Daybook
import DaybookFormat
import DaybookServer
import DaybookTestKit
import Foundation
import Testing

/// Row P3: a catalogue once, then a day's changes, measured on the wire, uncompressed.
@Suite(.timeLimit(.minutes(5))) struct TransferSizeTests {
  struct Product: Record {
    static let collection = "products"
    var id: String
    var text: String
    var note: String
  }

  static let schema = Schema(
    name: "catalogue",
    collections: [
      CollectionSchema(
        name: "products", fields: ["text": FieldSchema(.text), "note": FieldSchema(.text)],
        policy: .serverOrder, scope: .constant("catalogue"))
    ])

  @Test func `a catalogue is 5 MB once, and a day's changes are 75 to 90 times less`() async throws
  {
    let server = try await TestServer(schema: Self.schema)
    let office = try await server.device("office", account: "office")
    // Rows that are 1,000 bytes on the wire, changes that are 300: the fields fill what the
    // change's own header leaves.
    let rowText = String(repeating: "r", count: 840)
    for start in stride(from: 0, to: 5_000, by: 200) {
      try await office.write { tx in
        for index in start..<start + 200 {
          try tx.insert(Product(id: "product-\(10_000 + index)", text: rowText, note: ""))
        }
      }
    }
    var status = await office.sync()
    #expect(status.unsettledCount == 0)
    let proxy = LossyProxy(upstreamPort: server.server.port)
    let network = try proxy.addDevice(named: "rep", generator: SplitMix64(seed: 1))
    let rep = try await server.device("rep", port: network.port)
    status = await rep.sync()
    #expect(status.isComplete)
    #expect(rep.collection(Product.self).count() == 5_000)
    let once = network.counters.bytesDown
    for index in 0..<200 {
      try await office.write { tx in
        try tx.update(Product.self, "product-\(10_000 + index * 25)") {
          $0.note = String(repeating: "n", count: 162)
        }
      }
    }
    await office.sync()
    await rep.sync()
    let day = network.counters.bytesDown - once
    #expect(rep.collection(Product.self).query(where: .not(.equals("note", ""))).count == 200)
    let ratio = Double(once) / Double(day)
    #expect((4_900_000...5_200_000).contains(once), "\(once) bytes for the catalogue")
    #expect((58_000...63_000).contains(day), "\(day) bytes for the day")
    #expect((75...90).contains(ratio), "\(ratio) times less")
    try await rep.close()
    try await office.close()
    proxy.stop()
    try await server.server.stop()
  }
}

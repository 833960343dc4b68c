import DaybookFormat
import DaybookLog
import DaybookTestKit
import Testing

/// What an acknowledgement says, the moment it is given.
@Suite struct AcknowledgementTests {
  // F44, F45: after the sync. F35: a roll syncs the old file before the new one is written to.
  // F31, F32: the new file's directory entry is durable before anything in it is acknowledged.
  @Test func `what is acknowledged survives a power cut in the moment it is acknowledged`()
    throws
  {
    let disk = SimulatedDisk(seed: 1)
    let (log, _) = try SmallLog.open(disk)
    var acknowledged: [String: [String]] = ["outbox": [], "feed": []]
    var waiting: [String] = []
    for index in 0..<60 {
      let text = Workload.noise("\(index)") + " \(index)"
      if index % 3 == 0 {
        _ = try log.appendAndWait("outbox", [[SmallLog.entry(text)]])
        acknowledged["outbox"]?.append(text)
      } else {
        let isSynced = index % 4 == 0
        _ = try log.appendAndWait("feed", [[SmallLog.entry(text)]], isSynced: isSynced)
        waiting.append(text)
        if isSynced {
          acknowledged["feed"]? += waiting
          waiting = []
        }
      }
      if index % 7 == 0 { try log.markIdle() }
      let after = try SmallLog.inspect(disk.crashed(.dropped, seed: UInt64(index)))
      for (stream, texts) in acknowledged {
        #expect(
          after.texts[stream]?.starts(with: texts) == true, "\(stream) after append \(index)")
      }
    }
    let segments = disk.paths.count { $0.hasSuffix(".dbs") }
    #expect(segments > 8, "too few rolls: \(segments)")
    try log.close()
  }
}

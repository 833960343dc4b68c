import DaybookFormat
import DaybookLog

/// Stored bytes change by themselves: one bit, a sector or a part of a page, of any file.
///
/// One fault between two openings, and none in a file that has had one: a copy and its twin stand
/// in one file, and promise 3 is about a single fault.
struct DamageAction: TortureAction {
  let name = "damage"
  let weight = 5
  func isPossible(in world: TortureWorld) -> Bool {
    world.chapter.hasDamage && world.freshDamage.isEmpty
  }

  func run(_ world: TortureWorld, mayFail: Bool) {
    let prefix = TortureWorld.directory + "/"
    let paths = world.disk.paths.filter {
      $0.hasPrefix(prefix) && !world.damagedFiles.contains(String($0.dropFirst(prefix.count)))
    }
    guard let path = world.pick(paths), let content = world.disk.content(of: path),
      !content.isEmpty
    else { return }
    let (offset, bytes) = damage(world, content)
    guard Array(content[offset..<offset + bytes.count]) != bytes else { return }
    world.disk.damage(path, at: offset, bytes)
    let file = String(path.dropFirst(prefix.count))
    world.report.damages += 1
    world.tell("\(bytes.count) bytes at \(offset) of \(file)")
    world.freshDamage[file] = TortureDamage(offset: offset, wasClosed: world.isClosedWhole)
    world.damagedFiles.insert(file)
    world.outbox.noteDamage()
    world.feed.noteDamage()
  }

  private func damage(_ world: TortureWorld, _ content: [UInt8]) -> (Int, [UInt8]) {
    var offset = world.draw(below: content.count)
    // Most of a file is zeros: what is written there counts more.
    if world.isOnce(in: 2), let busy = content[offset...].firstIndex(where: { $0 != 0 }) {
      offset = busy
    }
    switch world.draw(below: 4) {
    case 0: return (offset, [content[offset] ^ 1 << UInt8(world.draw(below: 8))])
    case 1: return fill(world, content, offset / 512 * 512, 512)
    case 2: return fill(world, content, offset / 4096 * 4096, 4096)
    default:
      let count = 1 + world.draw(below: 4096 - offset % 4096)
      return fill(world, content, offset, count)
    }
  }

  private func fill(
    _ world: TortureWorld, _ content: [UInt8], _ offset: Int, _ count: Int
  ) -> (Int, [UInt8]) {
    let count = min(count, content.count - offset)
    guard world.isOnce(in: 3) else { return (offset, [UInt8](repeating: 0, count: count)) }
    return (offset, (0..<count).map { _ in UInt8(truncatingIfNeeded: world.random.next()) })
  }
}

package import DaybookLog
import Synchronization

/// A disk in memory that forgets what was not synced, as badly as a real one may.
///
/// It keeps what programs see apart from what would survive a power cut: data, sizes and directory
/// entries each for themselves. Everything that is left to chance is drawn from the seed.
package final class SimulatedDisk: FileSystem {
  /// What a power cut leaves of what was not synced.
  package enum Crash: Sendable, Hashable, CaseIterable {
    /// Only the process ended: everything is there, and still not durable.
    case killed
    /// All of it.
    case persisted
    /// None of it.
    case dropped
    /// Any sectors of 512 bytes, in any order.
    case tornSectors
    /// Any pages of 4,096 bytes, in any order.
    case tornPages
    /// Any sectors, some of them as noise.
    case garbage
    /// Any pages, some of them as noise.
    case garbagePages
  }

  /// A call that does not do what it says. Calls are counted from 1.
  package enum Fault: Sendable, Hashable {
    /// All calls do what they say.
    case none
    /// The call does nothing and fails.
    case fail(at: Int, FileError.Reason)
    /// The call, and the one `distance` calls later, do nothing and fail.
    case failTwice(at: Int, distance: Int, FileError.Reason)
    /// A write stores a part and fails with a full disk; another call does nothing and fails.
    case shortWrite(at: Int)
    /// A sync fails, and what it was to store is stored in part and taken for clean; another call
    /// does nothing and fails.
    case failedSync(at: Int)
    /// The machine stops: the call does nothing, and it and all after it fail.
    case stop(at: Int)
    /// From now on every call of these kinds does nothing and fails.
    case refuse(Set<FileError.Call>, FileError.Reason)
  }

  /// The root of every path.
  package static let root = "/disk"

  private let state: Mutex<DiskState>
  /// Folders in which a write that is cut short may spoil the whole pages that it covers.
  private let coarseFolders: Set<String>

  /// An empty disk, with one directory at ``root``.
  package convenience init(
    seed: UInt64 = 0, fault: Fault = .none, coarseFolders: Set<String> = ["outbox"]
  ) {
    var state = DiskState()
    state.live[SimulatedDisk.root] = .directory
    state.durable[SimulatedDisk.root] = .directory
    state.random = SplitMix64(seed: seed)
    state.fault = fault
    self.init(state, coarseFolders)
  }

  private init(_ state: DiskState, _ coarseFolders: Set<String>) {
    self.state = Mutex(state)
    self.coarseFolders = coarseFolders
  }

  /// The disk after a crash; this one stays as it is.
  package func crashed(_ mode: Crash, seed: UInt64, fault: Fault = .none) -> SimulatedDisk {
    var copy = state.withLock { $0 }
    copy.random = SplitMix64(seed: seed)
    copy.crash(mode, coarse: coarseFolders)
    copy.fault = fault
    return SimulatedDisk(copy, coarseFolders)
  }

  /// The calls that were made.
  package var callCount: Int { state.withLock { $0.callCount } }

  /// The calls that changed something, or would have.
  package var changeCount: Int { state.withLock { $0.changeCount } }

  /// Sets what goes wrong from now on; calls are counted on.
  package func set(_ fault: Fault) {
    state.withLock { state in
      state.fault = fault
      state.isStopped = false
    }
  }

  /// Lets all files together have `byteCount` bytes and no more, `nil` for any number: a write
  /// beyond that stores what fits and fails, and no file can be made on a full disk.
  package func setCapacity(_ byteCount: Int?) { state.withLock { $0.capacity = byteCount } }

  /// The bytes of all files together.
  package var usedByteCount: Int { state.withLock { $0.usedByteCount } }

  /// From now on every call fails and nothing changes: the machine is off.
  package func abandon() { state.withLock { $0.isStopped = true } }

  /// The paths of all files, in order.
  package var paths: [String] {
    state.withLock { state in
      state.live.filter { $0.value != .directory }.keys.sorted()
    }
  }

  /// The bytes that programs see in the file at `path`; `nil` if there is none. Not a call.
  package func content(of path: String) -> [UInt8]? {
    state.withLock { state in
      guard case .file(let number) = state.live[path] else { return nil }
      return state.files[number]?.live
    }
  }

  /// Makes `bytes`, durable, the content of the file at `path`, with all folders above it. Not a
  /// call.
  package func put(_ bytes: [UInt8], at path: String) {
    state.withLock { state in
      var folder = DiskState.parent(of: path)
      while folder != "" {
        state.live[folder] = .directory
        state.durable[folder] = .directory
        folder = DiskState.parent(of: folder)
      }
      var file = DiskFile()
      file.write(bytes, at: 0)
      file.sync()
      if case .file(let number) = state.live[path] {
        state.files[number] = file
        return
      }
      let number = state.nextFile
      state.nextFile += 1
      state.files[number] = file
      state.live[path] = .file(number)
      state.durable[path] = .file(number)
    }
  }

  /// Changes stored bytes of the file at `path` in place, as an ageing disk may: what was written
  /// there and is not synced yet is on its way still. Not a call.
  package func damage(_ path: String, at offset: Int, _ bytes: [UInt8]) {
    state.withLock { state in
      guard case .file(let number) = state.live[path] else { return }
      state.files[number]?.damage(bytes, at: offset)
    }
  }

  /// Lets no read of the file at `path` have its page of 4,096 bytes `page` any more: each one that
  /// touches it fails with EIO. Not a call.
  package func makeUnreadable(_ path: String, page: Int) {
    state.withLock { state in
      guard case .file(let number) = state.live[path] else { return }
      state.files[number]?.badPages.insert(page)
    }
  }

  /// Takes the file at `path` away for good. Not a call.
  package func drop(_ path: String) {
    state.withLock { state in
      state.live[path] = nil
      state.durable[path] = nil
    }
  }

  /// Takes the directory at `path` and all that is in it away for good. Not a call.
  package func dropTree(_ path: String) {
    state.withLock { state in
      for entry in Set(state.live.keys).union(state.durable.keys)
      where entry == path || entry.hasPrefix(path + "/") {
        state.live[entry] = nil
        state.durable[entry] = nil
      }
    }
  }

  /// Makes one counted call.
  func call<Answer: Sendable>(
    _ call: FileError.Call, _ path: String,
    _ body: (inout DiskState, Bool) throws(FileError) -> Answer
  ) throws(FileError) -> Answer {
    let result = state.withLock { state -> Result<Answer, FileError> in
      do throws(FileError) {
        let isHalf = try state.begin(call, path)
        return .success(try body(&state, isHalf))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Looks at the state, or changes it, without that being a call.
  func withState<Answer: Sendable>(_ body: (inout DiskState) -> Answer) -> Answer {
    state.withLock { body(&$0) }
  }
}

extension SimulatedDisk.Crash {
  func keepsEntry(_ random: inout SplitMix64) -> Bool {
    switch self {
    case .killed, .persisted: true
    case .dropped: false
    case .tornSectors, .tornPages, .garbage, .garbagePages: random.next() % 2 == 0
    }
  }

  func unit(_ random: inout SplitMix64) -> Int {
    switch self {
    case .tornSectors, .garbage: 512
    case .killed, .persisted, .dropped, .tornPages, .garbagePages: 4096
    }
  }

  func fate(_ random: inout SplitMix64) -> DiskFile.Fate {
    switch self {
    case .killed, .persisted: .persisted
    case .dropped: .dropped
    case .tornSectors, .tornPages: random.next() % 2 == 0 ? .persisted : .dropped
    case .garbage, .garbagePages:
      switch random.next() % 3 {
      case 0: .persisted
      case 1: .dropped
      default: .garbage
      }
    }
  }
}

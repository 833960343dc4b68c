import Foundation

/// Threads of their own, waited for together.
struct WaitGroup {
  private let group = DispatchGroup()

  func start(_ body: @escaping @Sendable () -> Void) {
    group.enter()
    let group = self.group
    Thread {
      body()
      group.leave()
    }.start()
  }

  func wait() { group.wait() }
}

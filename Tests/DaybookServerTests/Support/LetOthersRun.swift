/// Lets every task that can run do so for a while.
func letOthersRun() async {
  for _ in 0..<200 { await Task.yield() }
}

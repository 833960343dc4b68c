extension Array {
  /// The place of the first element of which `isBefore` does not hold, where it holds of all those
  /// before: found by halving.
  func halved(_ isBefore: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

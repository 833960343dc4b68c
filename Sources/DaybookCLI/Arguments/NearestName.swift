/// The known name that `name` most likely was meant to be, `nil` if none is near.
///
/// Near is: at most a third of the letters differ (by letters added, left out, replaced or two
/// swapped), or the beginning of exactly one known name.
func nearestName(to name: String, in known: [String]) -> String? {
  let beginnings = known.filter { $0.hasPrefix(name) }
  if beginnings.count == 1 { return beginnings[0] }
  let ranked = known.map { (name: $0, distance: editDistance(name, $0)) }
  guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
  let letterCount = best.name.drop { $0 == "-" }.count
  return best.distance <= max(1, letterCount / 3) ? best.name : nil
}

/// How many letters must be added, left out, replaced or swapped with their neighbour.
///
/// Source: the optimal string alignment distance. Cost: product of the lengths, so the first is cut
/// to 64 letters, more than any name has.
func editDistance(_ first: String, _ second: String) -> Int {
  let left = Array(first.prefix(64))
  let right = Array(second)
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for row in left.indices {
    var current = [row + 1]
    for column in right.indices {
      let replaced = last[column] + (left[row] == right[column] ? 0 : 1)
      var best = min(replaced, last[column + 1] + 1, current[column] + 1)
      if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
        best = min(best, beforeLast[column - 1] + 1)
      }
      current.append(best)
    }
    beforeLast = last
    last = current
  }
  return last[right.count]
}

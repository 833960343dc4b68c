import DaybookFormat

extension ClientState {
  /// All of the state in one canonical form: equal bytes mean that nothing tells two states apart.
  ///
  /// For tests and tools that compare a replay with another. What is left of dropped operations is
  /// no part of it: an emptied collection that the schema lacks, and the highest place known from
  /// settlements where the base is beyond it. A replay under way has to be ended before.
  package var canonicalBytes: [UInt8] {
    var base: [Value] = []
    exportBase { entry in
      base.append(.array([.unsigned(UInt64(entry.kind.rawValue)), .bytes(entry.bytes)]))
    }
    var map: ValueMap = [
      "base": .array(base), "incarnation": .bytes(incarnation.bytes),
      "nextNumber": .unsigned(nextNumber), "clock": .unsigned(clock.rawValue),
      "operations": .array(keptOperations.map(\.value)),
      "given": .map(givenVersions.map { ($0, $1.value) }.asMap),
      "superseded": .map(supersededNumbers.map { ($0, .unsigned($1)) }.asMap),
      "dependents": .map(dependents.map { ($0, .unsigned(UInt64($1))) }.asMap),
      "watermark": .unsigned(watermark),
    ]
    if let binding {
      map["binding"] = .array([
        .bytes(binding.serverID.bytes), .bytes(binding.incarnation.bytes),
      ])
    }
    map["registered"] = .array(registered.sorted().map { .bytes($0.bytes) })
    map["restoration"] = restoration.map { .bytes($0.bytes) }
    var known: ValueMap = [:]
    for (name, scope) in scopes {
      guard let place = scope.known else { continue }
      known[name] = .array([.unsigned(place.sequence), .unsigned(place.mark)])
    }
    map["known"] = .map(known)
    var shown: ValueMap = [:]
    for (name, collection) in collections {
      if !collection.isEmpty { shown[name] = collection.overlayValue }
    }
    map["shown"] = .map(shown)
    return CBOREncoder.encode(.map(map))
  }
}

extension [(Identifier, Value)] {
  fileprivate var asMap: ValueMap {
    var map: ValueMap = [:]
    for (id, value) in self { map[id.description] = value }
    return map
  }
}

extension OutboxOperation {
  fileprivate var value: Value {
    var map: ValueMap = [
      "bytes": .bytes(operation.bytes), "position": .unsigned(position),
      "attempted": .bool(isAttempted), "unrecorded": .bool(isSettlementUnrecorded),
      "decided": .bool(isDecided), "confirmed": .bool(isConfirmed), "held": .bool(isHeld),
    ]
    map["settlement"] = settlement.map { .bytes($0.bytes) }
    map["departure"] = departure.map { .bytes(Entry.departure($0).bytes) }
    return .map(map)
  }
}

extension CollectionState {
  /// Nothing of any record is known, and none is shown.
  var isEmpty: Bool { base.isEmpty && overlays.isEmpty }

  /// What is laid over the base, and the declared indexes.
  fileprivate var overlayValue: Value {
    var laid: ValueMap = [:]
    for (id, operations) in overlays { laid[id] = .array(operations.map { .bytes($0.bytes) }) }
    return .map(["laid": .map(laid), "indexes": .map(indexValue)])
  }
}

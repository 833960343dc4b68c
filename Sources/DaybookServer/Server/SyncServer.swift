public import DaybookFormat
package import DaybookServerCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A Daybook server in this process: an embedded store in a directory, and HTTP in front of it.
///
/// ```swift
/// let schema = try Schema(json: Array(Data(contentsOf: schemaFile)))
/// let server = try await SyncServer.start(dataDirectory: folder, schema: schema, port: 8080)
/// print("http://127.0.0.1:\(server.port)")
/// try await server.run()
/// ```
/// What it answers has survived a power cut. It speaks plain HTTP and believes what devices say of
/// their account: it listens to this machine alone unless another address is named, and belongs
/// behind something that checks credentials and speaks TLS.
public final class SyncServer: Sendable {
  private let store: EmbeddedStore
  private let http: HTTPServer
  /// What was found at the start and is no reason not to serve, in sentences for the operator.
  public let notes: [String]

  private init(store: EmbeddedStore, http: HTTPServer, notes: [String]) {
    self.store = store
    self.http = http
    self.notes = notes
  }

  /// Starts a server of `schema` on the data in `dataDirectory`, which is made if it is not there
  /// (its parent is not). On return it answers.
  ///
  /// - Parameters:
  ///   - dataDirectory: a folder of this machine, for this server alone.
  ///   - schema: decides about operations; data that it does not know is kept.
  ///   - port: 0 takes any free one; see ``port``.
  ///   - address: numeric; the default reaches this machine alone.
  public static func start(
    dataDirectory: URL, schema: Schema, port: UInt16 = 0, address: String = "127.0.0.1"
  ) async throws(SyncServerError) -> SyncServer {
    try await start(
      directory: dataDirectory.path, schema: schema, port: port, address: address,
      options: .system)
  }

  /// Starts a server whose disk, clock and randomness are those of `options`.
  package static func start(
    directory: String, schema: Schema, port: UInt16 = 0, address: String = "127.0.0.1",
    options: EmbeddedStore.Options, limits: HTTPLimits = HTTPLimits()
  ) async throws(SyncServerError) -> SyncServer {
    let store: EmbeddedStore
    do throws(StoreError) {
      store = try await EmbeddedStore.open(directory, options)
    } catch {
      throw SyncServerError(error)
    }
    let endpoints = Endpoints(
      engine: ServerEngine(store: store, schema: schema, now: options.now))
    let http = HTTPServer(
      port: port, address: address, limits: limits, refusalHeaders: endpoints.commonHeaders
    ) { await endpoints.respond(to: $0) }
    do throws(ServerError) {
      try http.start()
    } catch {
      try? await store.close()
      throw SyncServerError(error)
    }
    let unknown = store.collections.subtracting(schema.collections.keys).sorted()
    return SyncServer(
      store: store, http: http,
      notes: store.notes
        + unknown.map {
          "The schema has no collection \($0), of which there are records: they are kept and "
            + "served, and every edit of them is refused."
        })
  }

  /// The port that it listens on.
  public var port: UInt16 { http.port }

  /// Who the server is; devices remember it with their log.
  public var identity: Identifier { store.history.serverID }

  /// Serves until the calling task is cancelled, then stops.
  ///
  /// - Throws: why the data can't be written any more, after stopping: start the server again when
  ///   that is cured.
  public func run() async throws(SyncServerError) {
    for await failure in store.failures {
      try? await stop()
      throw SyncServerError(failure)
    }
    try await stop()
  }

  /// Answers what is under way, then closes port and data. Stopping twice does nothing.
  ///
  /// - Throws: that the data could not be closed in order. What was answered is safe all the same.
  public func stop() async throws(SyncServerError) {
    await http.stop()
    do throws(StoreError) {
      try await store.close()
    } catch {
      throw SyncServerError(error)
    }
  }
}

extension EmbeddedStore.Options {
  /// The machine's disk, clock and randomness.
  package static var system: Self {
    Self(
      random: { UInt64.random(in: .min ... .max) },
      now: { Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1_000).rounded())) })
  }
}

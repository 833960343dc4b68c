public import Foundation
package import DaybookNet

/// Gives the token that a request is sent with.
public protocol Credentials: Sendable {
  /// The bearer token to send; `nil` sends none.
  func token() async -> String?
}

/// Sends no token.
public struct NoCredentials: Credentials {
  /// Credentials without a token.
  public init() {}
  /// No token.
  public func token() async -> String? { nil }
}

/// Where the server is, and how to reach it.
public struct ServerAddress: Sendable {
  /// Makes a way to reach the server.
  let makeTransport: @Sendable () throws(DaybookError) -> (any Transport)?
  let credentials: any Credentials

  /// A server that speaks HTTP at `base`, such as `https://example.org/daybook`.
  public static func http(
    _ base: URL, credentials: any Credentials = NoCredentials()
  ) -> ServerAddress {
    ServerAddress(
      makeTransport: { () throws(DaybookError) in
        do throws(TransportError) {
          return try URLSessionTransport(base: base)
        } catch {
          throw DaybookError(
            .invalidAddress, "The server's address can't be used. Give an http or https URL.",
            cause: error)
        }
      }, credentials: credentials)
  }

  /// No server: what is written waits in the outbox.
  public static let none = ServerAddress(
    makeTransport: { () throws(DaybookError) in nil }, credentials: NoCredentials())

  /// A server that is reached through `transport`.
  package static func transport(_ transport: any Transport) -> ServerAddress {
    ServerAddress(
      makeTransport: { () throws(DaybookError) in transport }, credentials: NoCredentials())
  }
}

// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target: Swift 6 mode, warnings are errors, imports say who may see them.
let settings: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A module of the house; what it may import is held by `Tests/HouseTests`.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
  name: "Daybook",
  products: [
    .library(name: "Daybook", targets: ["Daybook"]),
    .library(name: "DaybookServer", targets: ["DaybookServer"]),
    .library(name: "DaybookTestKit", targets: ["DaybookTestKit"]),
    .executable(name: "daybook", targets: ["DaybookCLI"]),
  ],
  targets: [
    // 0  C
    .systemLibrary(
      name: "CLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    .systemLibrary(
      name: "CMicrohttpd", pkgConfig: "libmicrohttpd",
      providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
    .target(name: "CDaybook"),
    // 1  bytes
    module("DaybookFormat", ["CDaybook", "CCrypto", "CLZ4"]),
    // 2  parts
    module("DaybookLog", ["DaybookFormat", "CDaybook"]),
    module("DaybookSync", ["DaybookFormat"]),
    module("DaybookNet", ["DaybookFormat"]),
    // 3  the two ends of a sync
    module("Daybook", ["DaybookLog", "DaybookSync", "DaybookNet", "DaybookFormat"]),
    module("DaybookServerCore", ["DaybookLog", "DaybookSync", "DaybookFormat"]),
    // 4  server and test kit
    module("DaybookServer", ["DaybookServerCore", "DaybookFormat", "CMicrohttpd"]),
    module(
      "DaybookTestKit",
      [
        "Daybook", "DaybookServerCore", "DaybookLog", "DaybookSync", "DaybookNet", "DaybookFormat",
        "CDaybook",
      ]),
    // 5  programs
    .executableTarget(
      name: "DaybookCLI",
      dependencies: [
        "Daybook", "DaybookServer", "DaybookTestKit", "DaybookServerCore", "DaybookLog",
        "DaybookSync", "DaybookNet", "DaybookFormat", "CDaybook",
      ],
      swiftSettings: settings),

    tests("HouseTests", []),
    tests("DaybookFormatTests", ["DaybookFormat"]),
    tests("DaybookLogTests", ["DaybookLog", "DaybookFormat", "DaybookTestKit"]),
    tests(
      "DaybookSyncTests", ["DaybookSync", "DaybookServerCore", "DaybookFormat", "DaybookTestKit"]),
    tests("DaybookNetTests", ["DaybookNet", "DaybookServer", "DaybookFormat", "DaybookTestKit"]),
    tests(
      "DaybookServerTests",
      [
        "DaybookServer", "DaybookServerCore", "DaybookNet", "DaybookLog", "DaybookSync",
        "DaybookFormat", "DaybookTestKit",
      ]),
    tests(
      "DaybookTests",
      [
        "Daybook", "DaybookServer", "DaybookServerCore", "DaybookNet", "DaybookLog", "DaybookSync",
        "DaybookFormat", "DaybookTestKit",
      ]),
    tests("DaybookCLITests", ["DaybookLog", "DaybookSync", "DaybookFormat", "DaybookTestKit"]),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(Android)
  import Android
#endif

exit(await Program.run(Array(CommandLine.arguments.dropFirst())).rawValue)

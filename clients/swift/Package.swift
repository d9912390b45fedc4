// swift-tools-version:5.9
import PackageDescription

// CryptoKit exists only on Apple's systems. Elsewhere swift-crypto has the same API under the name Crypto.
#if os(Linux)
let packages: [Package.Dependency] = [.package(url: "https://github.com/apple/swift-crypto.git", exact: "3.12.3")]
let crypto: [Target.Dependency] = [.product(name: "Crypto", package: "swift-crypto")]
#else
let packages: [Package.Dependency] = []
let crypto: [Target.Dependency] = []
#endif

let package = Package(
    name: "MusterLicense",
    platforms: [.macOS(.v10_15)],
    products: [.library(name: "MusterLicense", targets: ["MusterLicense"])],
    dependencies: packages,
    targets: [
        .target(name: "MusterLicense", dependencies: crypto),
        .executableTarget(name: "Try", dependencies: ["MusterLicense"]),
        .testTarget(name: "MusterLicenseTests", dependencies: ["MusterLicense"]),
    ]
)

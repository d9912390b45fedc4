// The machine ID, and the files of the stored license. The client for Node uses the same files.

import Foundation
#if os(macOS)
import IOKit
#endif

public enum LicenseError: Error {
    /// The options are invalid. The text names the option.
    case unfit(String)
    /// This machine failed (its disk or its ID), and the program may not run.
    case machine(String)
}

func randomHex(_ count: Int) -> String {
    // UInt8.random uses SystemRandomNumberGenerator, which is cryptographically secure on all platforms of Swift.
    hex((0..<count).map { _ in UInt8.random(in: 0...255) })
}

func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

func clockMillis() -> Double { Date().timeIntervalSince1970 * 1_000 }

/// Computes the machine ID: an HMAC of the program name with the system ID as key, which never leaves the machine.
func machineId(of product: String, _ folder: Folder) throws -> String {
    let own = try idOfSystem() ?? folder.ownId()
    return hex(hmacSha256(key: [UInt8](own.utf8), [UInt8]("license-client:\(product)".utf8)))
}

private func isHex(_ symbol: UInt8) -> Bool {
    (48...57).contains(symbol) || (97...102).contains(symbol)
}

/// Reads the system ID. A missing ID is an error, because a machine with a temporarily different ID would lose its license.
private func idOfSystem() throws -> String? {
    #if os(macOS)
    let service = IOServiceGetMatchingService(0, IOServiceMatching("IOPlatformExpertDevice"))
    defer { if service != 0 { IOObjectRelease(service) } }
    let told: Unmanaged<CFTypeRef>? = service == 0
        ? nil : IORegistryEntryCreateCFProperty(service, "IOPlatformUUID" as CFString, kCFAllocatorDefault, 0)
    guard let id = (told?.takeRetainedValue() as? String)?.lowercased(), id.utf8.count == 36,
        id.utf8.allSatisfy({ isHex($0) || $0 == UInt8(ascii: "-") })
    else { throw LicenseError.machine("the operating system does not report a machine id") }
    return id
    #else
    return id(in: "/etc/machine-id") ?? id(in: "/var/lib/dbus/machine-id")
    #endif
}

private func id(in path: String) -> String? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    let id = text.trimmingCharacters(in: .whitespacesAndNewlines).lowercased()
    let isId = id.utf8.count == 32 && id.utf8.allSatisfy(isHex) && id.utf8.contains { $0 != UInt8(ascii: "0") }
    return isId ? id : nil
}

/// The stored license.
struct Kept {
    /// The license key; nil for a trial.
    var licenseKey: String?
    /// The certificate; nil after a refusal, so that the machine may not run until the service allows it.
    var certificate: String?
    var isLent: Bool
    var publicKeys: [PublicKey]
    var time: TimeSeen

    /// Returns true if the stored license has this key. A trial has no key.
    func isOf(_ key: String) -> Bool { licenseKey.map { isSameKey($0, key) } ?? false }
}

/// The last carried request. Its answer may be accepted again, which changes nothing.
struct KeptRequest {
    let licenseKey: String
    let nonce: String
    var isAnswered: Bool
}

struct Folder {
    let path: String

    private var license: String { path + "/license.json" }
    private var request: String { path + "/request.json" }

    static func usual(_ product: String) -> Folder {
        #if os(macOS)
        return Folder(path: NSHomeDirectory() + "/Library/Application Support/" + product)
        #else
        let state = ProcessInfo.processInfo.environment["XDG_STATE_HOME"] ?? ""
        return Folder(path: (state.isEmpty ? NSHomeDirectory() + "/.local/state" : state) + "/" + product)
        #endif
    }

    private func make() throws {
        let mine: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: mine)
    }

    private func write(_ file: String, _ bytes: [UInt8]) throws {
        let mine: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file, contents: Data(bytes), attributes: mine) else {
            throw LicenseError.machine("\(file) cannot be written")
        }
        guard let handle = FileHandle(forWritingAtPath: file) else {
            throw LicenseError.machine("\(file) cannot be opened")
        }
        handle.synchronizeFile()
        handle.closeFile()
    }

    /// Creates a random ID once and stores it, for systems without an ID.
    func ownId() throws -> String {
        let file = path + "/machine-id"
        if id(in: file) == nil {
            try make()
            let draft = "\(file).\(randomHex(8))"
            defer { unlink(draft) }
            try write(draft, [UInt8]("\(randomHex(16))\n".utf8))
            // Another process may create it at the same time. The first file wins.
            _ = link(draft, file)
        }
        guard let own = id(in: file) else { throw LicenseError.machine("the machine-id that is kept is none") }
        return own
    }

    /// Replaces a file atomically. A process that is killed during the write leaves the old file.
    private func put(_ file: String, _ value: Json) throws {
        try make()
        let draft = "\(file).\(ProcessInfo.processInfo.processIdentifier).\(randomHex(4))"
        // After a successful rename there is no draft to remove.
        defer { unlink(draft) }
        try write(draft, try value.written(pretty: true) + [10])
        guard rename(draft, file) == 0 else { throw LicenseError.machine("\(file) cannot be replaced") }
    }

    /// Reads a file; null if it is missing or damaged. Throws if an existing file cannot be read.
    private func get(_ file: String) throws -> Json {
        guard FileManager.default.fileExists(atPath: file) else { return .null }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw LicenseError.machine("\(file) cannot be read")
        }
        return Json.read([UInt8](data))
    }

    private func remove(_ file: String) throws {
        if unlink(file) != 0 && errno != ENOENT { throw LicenseError.machine("\(file) cannot be removed") }
    }

    /// Reads the stored license; nil if there is none or the file is damaged. The license must then be activated again.
    func read() throws -> Kept? {
        let found = try get(license)
        guard case .object(let members) = found, let key = members["licenseKey"], key == .null || key.asText != nil,
            let ahead = found["time"]["aheadMillis"].asNumber, let latest = found["time"]["latestMillis"].asNumber
        else { return nil }
        return Kept(
            licenseKey: key.asText, certificate: found["certificate"].asText, isLent: found["isLent"].isTrue,
            publicKeys: PublicKey.all(in: found["publicKeys"]),
            time: TimeSeen(aheadMillis: ahead, latestMillis: latest))
    }

    func keep(_ kept: Kept) throws {
        let time = Json.object([
            "aheadMillis": .number(kept.time.aheadMillis), "latestMillis": .number(kept.time.latestMillis),
        ])
        try put(license, .object([
            "licenseKey": kept.licenseKey.map(Json.text) ?? .null,
            "certificate": kept.certificate.map(Json.text) ?? .null,
            "isLent": .flag(kept.isLent), "publicKeys": .list(kept.publicKeys.map(\.written)), "time": time,
        ]))
    }

    func forget() throws {
        try forgetRequest()
        try remove(license)
    }

    func readRequest() throws -> KeptRequest? {
        let found = try get(request)
        guard let key = found["licenseKey"].asText, let nonce = found["nonce"].asText else { return nil }
        return KeptRequest(licenseKey: key, nonce: nonce, isAnswered: found["isAnswered"].isTrue)
    }

    func keep(_ asked: KeptRequest) throws {
        try put(request, .object([
            "licenseKey": .text(asked.licenseKey), "nonce": .text(asked.nonce), "isAnswered": .flag(asked.isAnswered),
        ]))
    }

    /// Deletes the request after a refusal or release, because earlier answers are then invalid.
    func forgetRequest() throws { try remove(request) }

    /// The time of the last write: the latest time of the file, of its folder, and of their inodes, whose time no program can set;
    /// 0 if there is no file.
    var writtenMillis: Double {
        let times = [license, path].map { file -> Double? in
            var found = stat()
            guard stat(file, &found) == 0 else { return nil }
            #if canImport(Darwin)
            let both = [found.st_mtimespec, found.st_ctimespec]
            #else
            let both = [found.st_mtim, found.st_ctim]
            #endif
            return both.map { Double($0.tv_sec) * 1_000 + Double($0.tv_nsec) / 1_000_000 }.max()
        }
        return times.contains { $0 == nil } ? 0 : times.compactMap { $0 }.max() ?? 0
    }
}

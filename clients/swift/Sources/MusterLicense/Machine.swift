// The machine and its folder: which one it is, and what is kept there. The client for Node reads and writes the same files.

import Foundation
#if os(macOS)
import IOKit
#endif

public enum LicenseError: Error {
    /// The options do not fit; says which.
    case unfit(String)
    /// This machine could not do its part (its disk, its id), and the program may not run by it.
    case machine(String)
}

func randomHex(_ count: Int) -> String {
    // The system's own generator, as SystemRandomNumberGenerator is on all systems that Swift is on.
    hex((0..<count).map { _ in UInt8.random(in: 0...255) })
}

func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

func clockMillis() -> Double { Date().timeIntervalSince1970 * 1_000 }

/// An HMAC of the program's name by the system's own id, which never leaves the machine.
func machineId(of product: String, _ folder: Folder) throws -> String {
    let own = try idOfSystem() ?? folder.ownId()
    return hex(hmacSha256(key: [UInt8](own.utf8), [UInt8]("license-client:\(product)".utf8)))
}

private func isHex(_ symbol: UInt8) -> Bool {
    (48...57).contains(symbol) || (97...102).contains(symbol)
}

/// A machine that seems to be another one for a moment would lose its license, so what is not told is an error.
private func idOfSystem() throws -> String? {
    #if os(macOS)
    let service = IOServiceGetMatchingService(0, IOServiceMatching("IOPlatformExpertDevice"))
    defer { if service != 0 { IOObjectRelease(service) } }
    let told: Unmanaged<CFTypeRef>? = service == 0
        ? nil : IORegistryEntryCreateCFProperty(service, "IOPlatformUUID" as CFString, kCFAllocatorDefault, 0)
    guard let id = (told?.takeRetainedValue() as? String)?.lowercased(), id.utf8.count == 36,
        id.utf8.allSatisfy({ isHex($0) || $0 == UInt8(ascii: "-") })
    else { throw LicenseError.machine("the operating system does not tell the id of this machine") }
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

/// What the machine keeps between starts.
struct Kept {
    /// Nil of a trial, which has none.
    var licenseKey: String?
    /// Nil after a refusal: from then on the machine may not run before the service has said so.
    var certificate: String?
    var isLent: Bool
    var publicKeys: [PublicKey]
    var time: TimeSeen

    /// Whether it is of this key; a trial is of none.
    func isOf(_ key: String) -> Bool { licenseKey.map { isSameKey($0, key) } ?? false }
}

/// What was asked last by a file that people carry; its answer may be taken in once more, which changes nothing.
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

    /// A random id, made once, for a system that has none.
    func ownId() throws -> String {
        let file = path + "/machine-id"
        if id(in: file) == nil {
            try make()
            let draft = "\(file).\(randomHex(8))"
            defer { unlink(draft) }
            try write(draft, [UInt8]("\(randomHex(16))\n".utf8))
            // Another process may make it at the same moment; the first one counts.
            _ = link(draft, file)
        }
        guard let own = id(in: file) else { throw LicenseError.machine("the machine-id that is kept is none") }
        return own
    }

    /// Replaces a file as a whole: a process that is killed while it writes leaves it as it was.
    private func put(_ file: String, _ value: Json) throws {
        try make()
        let draft = "\(file).\(ProcessInfo.processInfo.processIdentifier).\(randomHex(4))"
        // Where it was renamed there is none left.
        defer { unlink(draft) }
        try write(draft, try value.written(pretty: true) + [10])
        guard rename(draft, file) == 0 else { throw LicenseError.machine("\(file) cannot be replaced") }
    }

    /// Null where there is none, or it is damaged. A file that is there and cannot be read is an error.
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

    /// Nil where nothing is kept, or what is kept is damaged: then the license is activated anew.
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

    /// After a refusal and a release no answer of before counts.
    func forgetRequest() throws { try remove(request) }

    /// When the license was last written, by the clock of then: the latest time of the file and its folder, and of their own records,
    /// which no program sets. 0 where there is none.
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

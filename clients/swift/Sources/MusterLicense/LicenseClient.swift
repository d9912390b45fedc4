import Foundation

/// A license client for one program on one machine, for macOS 10.15 and newer, and Linux.
///
///     let licenses = try LicenseClient(url: "https://licenses.example.com", product: "my-program")
///     let standing = try licenses.activate(key)  // once, after the purchase
///     let standing = try licenses.check()        // at each start
///     let standing = try licenses.trial()        // or a trial without a key
///     if !standing.mayRun { print(standing.message) }
///
/// It trusts only answers that are signed for its own request. Everything else counts as an outage, and then the stored certificate
/// decides. It uses the same file as the client for Node, so a program may use both. Its calls block until the service answers, so
/// keep them off the main queue. They are thread-safe. An error means that this machine failed (its disk or its ID), and that the
/// program may not run.
public final class LicenseClient: @unchecked Sendable {
    /// The machine ID that the service knows.
    public let machineId: String
    private let asking: Asking
    private let folder: Folder
    private let lock = NSLock()

    /// - Parameters:
    ///   - url: The URL of the license service, such as https://licenses.example.com.
    ///   - product: The name of the program. It is part of the machine ID, so with another name every machine is a new one.
    ///   - serviceProduct: The product at a service with several products.
    ///   - folder: The folder of the stored license, by default in the user's folder for programs.
    ///   - publicKeys: Public keys of the service to pin. By default they are fetched over https and stored.
    ///   - patienceSeconds: The time to retry while the service does not answer, plus one more attempt.
    ///   - machineId: Replaces the machine ID if something else holds the license.
    public init(
        url: String, product: String, serviceProduct: String? = nil, folder: String? = nil,
        publicKeys: [PublicKey]? = nil, patienceSeconds: Double = 10, machineId own: String? = nil
    ) throws {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        guard let parts = URLComponents(string: base), let host = parts.host, !host.isEmpty, parts.path.isEmpty,
            parts.query == nil, parts.fragment == nil, parts.user == nil, parts.scheme == "https" || parts.scheme == "http"
        else { throw LicenseError.unfit("url must name a host by http or https, and no path") }
        let isHere = host == "localhost" || host == "::1" || host == "[::1]" || host.hasPrefix("127.")
        if parts.scheme == "http" && !isHere && publicKeys == nil {
            throw LicenseError.unfit("url must be of https, unless publicKeys are given")
        }
        guard isName(product, mayBeLarge: true) else {
            throw LicenseError.unfit("product must consist of letters, digits and the characters . _ -")
        }
        if let name = serviceProduct, !isName(name, mayBeLarge: false) {
            throw LicenseError.unfit("serviceProduct must be a name of lower-case letters, digits and . _ -")
        }
        if let keys = publicKeys, keys.isEmpty || !keys.allSatisfy(\.isWhole) {
            throw LicenseError.unfit("publicKeys must be Ed25519 keys in the format of /.well-known/license-keys.json")
        }
        let place = folder.map(Folder.init(path:)) ?? Folder.usual(product)
        self.folder = place
        machineId = try own ?? MusterLicense.machineId(of: product, place)
        asking = Asking(
            base: base, serviceProduct: serviceProduct, patienceSeconds: patienceSeconds, pinned: publicKeys)
    }

    /// Activates a license on this machine. Without an answer, the stored license counts if it has this key.
    public func activate(_ licenseKey: String) throws -> Standing {
        try alone {
            let kept = try open()
            let standing = try activate(kept, licenseKey)
            guard standing.isNoAnswer, let own = kept, own.isOf(licenseKey) else { return standing }
            return without(own, standing)
        }
    }

    /// Checks the license with the service or, without an answer, by the certificate.
    public func check() throws -> Standing {
        try alone {
            guard let kept = try open() else { return .no("no_license", isFinal: true) }
            return try check(kept)
        }
    }

    /// Checks the license by the certificate alone, without asking the service.
    public func checkOffline() throws -> Standing {
        try alone { byCertificate(try open()) }
    }

    /// Starts the trial of this machine or continues it. Each machine has only one. If a license was activated here, answers the same
    /// as `check`.
    public func trial() throws -> Standing {
        try alone {
            let kept = try open()
            if let own = kept, own.licenseKey != nil { return try check(own) }
            return try tryOut(kept)
        }
    }

    /// Makes the activation request of an offline machine, a text that people carry to the seller, who answers it. A new request
    /// replaces the previous one. Needs publicKeys to verify the answer.
    public func requestOffline(_ licenseKey: String) throws -> String {
        try alone {
            let asked = CarriedRequest(licenseKey: licenseKey, machineId: machineId, nonce: randomHex(18))
            try folder.keep(KeptRequest(licenseKey: licenseKey, nonce: asked.nonce, isAnswered: false))
            return try asked.text()
        }
    }

    /// Accepts the answer to the request. Accepting it again changes nothing.
    public func acceptOffline(_ text: String) throws -> Standing {
        try alone {
            let kept = try open()
            guard var request = try folder.readRequest() else { return .no("answer_of_another_request") }
            let asked = CarriedRequest(licenseKey: request.licenseKey, machineId: machineId, nonce: request.nonce)
            let own = kept.flatMap { $0.isOf(request.licenseKey) ? $0 : nil }
            switch answer(to: asked, text, asking.keys) {
            case .foreign(let standing):
                return standing
            case .refused(let standing):
                if var refused = own {
                    refused.certificate = nil
                    try folder.keep(refused)
                    try folder.forgetRequest()
                }
                return standing
            case .granted(let licenseKey, let certificateText, let certificate, let seconds):
                // The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
                if !request.isAnswered || own == nil {
                    try folder.keep(Kept(
                        licenseKey: licenseKey, certificate: certificateText, isLent: certificate.isLent,
                        publicKeys: toKeep, time: TimeSeen(carriedSeconds: seconds, clockMillis: clockMillis())))
                    request.isAnswered = true
                    try folder.keep(request)
                }
                return byCertificate(try open())
            }
        }
    }

    /// Releases the license for another machine. The reason is `released` or that of a refusal.
    public func release() throws -> Standing {
        try alone {
            guard let kept = try open(), let key = kept.licenseKey else { return .no("no_license", isFinal: true) }
            let heard: Heard
            switch asking.ask("POST", "/api/activate/release", try body(for: key)) {
            case .failure(let not): return .no(not.reason)
            case .success(let one): heard = one
            }
            if heard.answer.status == 200 {
                guard isMine(heard, key) else { return .no("untrusted") }
                try folder.forget()
                return .no("released", isFinal: true)
            }
            let refused = refusal(in: heard)
            // After exhausted transfers this machine may keep the license. After any other refusal nothing is kept.
            if refused.reason != "transfers_exhausted" { drop(kept, heard) }
            return refused
        }
    }

    private func alone<Result>(_ work: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work()
    }

    private func open() throws -> Kept? {
        let kept = try folder.read()
        if let own = kept, asking.trusted.isEmpty { asking.trusted = own.publicKeys }
        return kept
    }

    private func body(for licenseKey: String) throws -> [UInt8] {
        try Json.object(["licenseKey": .text(licenseKey), "machineId": .text(machineId)]).written()
    }

    /// Returns true if an answer is for this key and this machine.
    private func isMine(_ heard: Heard, _ licenseKey: String) -> Bool {
        let license = heard.said["license"]
        return license["machineId"].asText == machineId && isSameKey(license["key"].asText ?? "", licenseKey)
    }

    private func check(_ kept: Kept) throws -> Standing {
        guard let key = kept.licenseKey else { return try tryOut(kept) }
        let target = "/api/activate/check?licenseKey=\(escaped(key))&machineId=\(escaped(machineId))"
        let heard: Heard
        switch asking.ask("GET", target) {
        case .failure(let not): return without(kept, .no(not.reason))
        case .success(let one): heard = one
        }
        let isOk = heard.answer.status == 200
        if isOk && heard.said["valid"].isTrue { return try renewed(kept, key, heard) }
        drop(kept, heard)
        guard isOk else { return refusal(in: heard) }
        // The slot lease has expired. Activate again to get another slot or the reason of the refusal.
        if kept.isLent { return try activate(kept, key) }
        return .no(reason(ofState: heard.answer.header("license-state")), isFinal: true)
    }

    private func activate(_ kept: Kept?, _ licenseKey: String) throws -> Standing {
        let heard: Heard
        switch asking.ask("POST", "/api/activate", try body(for: licenseKey)) {
        case .failure(let not): return .no(not.reason)
        case .success(let one): heard = one
        }
        guard heard.answer.status == 200 else {
            if let own = kept, own.isOf(licenseKey) { drop(own, heard) }
            return refusal(in: heard)
        }
        let text = heard.answer.header("license-certificate")
        // An approval of this request has all three. Otherwise the answer is for another request.
        guard let certificate = Certificate(text, .license, asking.keys), certificate.isOf(machineId),
            isMine(heard, licenseKey)
        else { return .no("untrusted") }
        let license = heard.said["license"]
        try keep(license["key"].asText, text, isLent: certificate.isLent, heard)
        return .yes("service", license["plan"].asText ?? "", certificate)
    }

    private func tryOut(_ kept: Kept?) throws -> Standing {
        let asked = try Json.object(["machineId": .text(machineId)]).written()
        let heard: Heard
        switch asking.ask("POST", "/api/trials", asked) {
        case .failure(let not): return without(kept, .no(not.reason))
        case .success(let one): heard = one
        }
        guard heard.answer.status == 200 else {
            if let own = kept { drop(own, heard) }
            return refusal(in: heard)
        }
        let text = heard.answer.header("license-certificate")
        guard heard.said["trial"]["machineId"].asText == machineId,
            let certificate = Certificate(text, .trial, asking.keys), certificate.isOf(machineId)
        else { return .no("untrusted") }
        try keep(nil, text, isLent: false, heard)
        return .yes("service", certificate.plan, certificate)
    }

    private func keep(_ licenseKey: String?, _ certificate: String, isLent: Bool, _ heard: Heard) throws {
        try folder.keep(Kept(
            licenseKey: licenseKey, certificate: certificate, isLent: isLent, publicKeys: toKeep, time: time(of: heard)))
    }

    private func time(of heard: Heard) -> TimeSeen { TimeSeen(seconds: heard.seconds, clockMillis: clockMillis()) }

    private var toKeep: [PublicKey] { asking.pinned == nil ? asking.trusted : [] }

    /// Stores the approval of the service and renews the certificate if it is due.
    private func renewed(_ kept: Kept, _ key: String, _ heard: Heard) throws -> Standing {
        let certificate = self.certificate(in: kept).flatMap { $0.isOf(machineId) ? $0 : nil }
        // The certificate is due for renewal after half of its validity.
        let isDue = certificate.map { 2 * ($0.exp - heard.seconds) < $0.exp - $0.iat } ?? true
        if isDue {
            let standing = try activate(kept, key)
            if !standing.isNoAnswer { return standing }
        }
        keepIfPossible(kept, heard)
        return .yes("service", heard.said["plan"].asText ?? "", certificate)
    }

    /// Returns the certificate of the license or trial.
    private func certificate(in kept: Kept) -> Certificate? {
        kept.certificate.flatMap { Certificate($0, kept.licenseKey == nil ? .trial : .license, asking.keys) }
    }

    private func byCertificate(_ found: Kept?) -> Standing {
        guard var kept = found, kept.certificate != nil else { return .no("no_license", isFinal: true) }
        guard let certificate = self.certificate(in: kept) else { return .no("certificate_not_genuine") }
        guard certificate.isOf(machineId) else { return .no("certificate_of_another_machine") }
        let latest = max(kept.time.latestMillis, Double(certificate.iat) * 1_000)
        let seen = TimeSeen(aheadMillis: kept.time.aheadMillis, latestMillis: latest)
        guard let now = seen.now(clockMillis: clockMillis(), writtenMillis: folder.writtenMillis) else {
            return .no("clock_turned_back")
        }
        if now > kept.time.latestMillis {
            kept.time.latestMillis = now
            // A full disk must not stop a program that may run.
            try? folder.keep(kept)
        }
        if now >= Double(certificate.exp) * 1_000 { return .no("certificate_ended") }
        return .yes("certificate", certificate.plan, certificate)
    }

    /// Handles an outage: the stored license counts, and without one the outage is answered.
    private func without(_ kept: Kept?, _ outcome: Standing) -> Standing {
        let standing = byCertificate(kept)
        return standing.reason == "no_license" ? outcome : standing
    }

    /// Drops the license after a refusal, so that only the service can allow it again, even if the write fails.
    private func drop(_ kept: Kept, _ heard: Heard) {
        var refused = kept
        refused.certificate = nil
        keepIfPossible(refused, heard)
        try? folder.forgetRequest()
    }

    private func keepIfPossible(_ kept: Kept, _ heard: Heard) {
        var next = kept
        next.publicKeys = toKeep
        next.time = time(of: heard)
        try? folder.keep(next)
    }

    private func refusal(in heard: Heard) -> Standing {
        let details = heard.said["details"]
        return .refused(details["reason"].asText ?? "refused", why: details, message: heard.said["message"])
    }
}

private func isName(_ text: String, mayBeLarge: Bool) -> Bool {
    let isPlain = { (one: UInt8) -> Bool in
        (48...57).contains(one) || (97...122).contains(one) || (mayBeLarge && (65...90).contains(one))
    }
    guard let first = text.utf8.first, isPlain(first), text.utf8.count <= 64 else { return false }
    return text.utf8.allSatisfy { isPlain($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
}

private func escaped(_ text: String) -> String {
    text.utf8.map { one -> String in
        switch one {
        case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            return String(UnicodeScalar(one))
        default:
            return String(format: "%%%02X", one)
        }
    }.joined()
}

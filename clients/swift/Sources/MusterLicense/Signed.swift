// Signed texts and answers: certificates, carried answers, the part of RFC 9421 that the service uses, and the trusted time.

import Foundation
#if canImport(CryptoKit)
import CryptoKit
#else
import Crypto
#endif

/// A key of the service from /.well-known/license-keys.json.
public struct PublicKey {
    /// The key ID.
    public let kid: String
    /// The public key, in base64url.
    public let x: String

    public init(kid: String, x: String) {
        self.kid = kid
        self.x = x
    }

    /// Parses a key document of the service for pinning. Returns no keys if it is invalid.
    public static func all(in document: Data) -> [PublicKey] {
        all(in: Json.read([UInt8](document))["keys"])
    }

    static func all(in list: Json) -> [PublicKey] {
        list.asList.compactMap { key in
            guard key["kty"].asText == "OKP", key["crv"].asText == "Ed25519", let kid = key["kid"].asText,
                let x = key["x"].asText
            else { return nil }
            let read = PublicKey(kid: kid, x: x)
            return read.isWhole ? read : nil
        }
    }

    var isWhole: Bool { !kid.isEmpty && Base64.fromUrl(x)?.count == 32 }

    var written: Json {
        .object(["kty": .text("OKP"), "crv": .text("Ed25519"), "x": .text(x), "kid": .text(kid)])
    }
}

enum Base64 {
    private static let symbols = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func decode(_ text: String) -> [UInt8]? {
        if text.utf8.count % 4 == 1 { return nil }
        var bytes: [UInt8] = []
        var held = 0
        var bits = 0
        for symbol in text.utf8 {
            guard let value = symbols.firstIndex(of: symbol) else { return nil }
            held = (held << 6) | value
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(held >> bits))
                held &= (1 << bits) - 1
            }
        }
        return bytes
    }

    static func fromUrl(_ text: String) -> [UInt8]? {
        if text.contains("+") || text.contains("/") || text.contains("=") { return nil }
        return decode(text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/"))
    }

    static func toUrl(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

func sha256(_ bytes: [UInt8]) -> [UInt8] { [UInt8](SHA256.hash(data: bytes)) }

func hmacSha256(key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    [UInt8](HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
}

/// Computes the mark of a machine in certificates.
func mark(of machineId: String) -> String { Base64.toUrl(sha256([UInt8](machineId.utf8))) }

func digest(of body: [UInt8]) -> String { "sha-256=:\(Data(sha256(body)).base64EncodedString()):" }

private func verifies(_ keys: [PublicKey], _ kid: String, _ message: String, _ signature: [UInt8]) -> Bool {
    guard let named = keys.first(where: { $0.kid == kid }), let raw = Base64.fromUrl(named.x), signature.count == 64,
        let key = try? Curve25519.Signing.PublicKey(rawRepresentation: raw)
    else { return false }
    return key.isValidSignature(signature, for: [UInt8](message.utf8))
}

/// Splits a text at the first mark; nil if there is none.
func cut(_ text: String, at mark: Character) -> (String, String)? {
    guard let place = text.firstIndex(of: mark) else { return nil }
    return (String(text[..<place]), String(text[text.index(after: place)...]))
}

/// Verifies a text `kind.payload.signature` and answers its payload; nil if it is invalid.
func readSigned(_ text: String, _ kind: String, _ keys: [PublicKey]) -> Json? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, parts[0] == kind, let payload = Base64.fromUrl(parts[1]),
        let signature = Base64.fromUrl(parts[2])
    else { return nil }
    let said = Json.read(payload)
    guard let kid = said["kid"].asText, verifies(keys, kid, "\(parts[0]).\(parts[1])", signature) else { return nil }
    return said
}

enum Kind: String {
    case license = "lic1"
    case trial = "trial1"
}

/// A certificate, which allows one machine to run offline until a time.
struct Certificate {
    let plan: String
    let machine: String
    let iat: Int
    let exp: Int
    let isLent: Bool
    let isOfTrial: Bool
    let features: Json

    /// Verifies a certificate of this kind and answers it, even if it has expired; nil if it is invalid.
    init?(_ text: String, _ kind: Kind, _ keys: [PublicKey]) {
        guard let said = readSigned(text, kind.rawValue, keys), said["lic"].asText != nil,
            let plan = said["plan"].asText, let machine = said["machine"].asText,
            let iat = said["iat"].asWhole, let exp = said["exp"].asWhole
        else { return nil }
        self.plan = plan
        self.machine = machine
        self.iat = iat
        self.exp = exp
        isLent = said["lease"].asWhole != nil
        isOfTrial = kind == .trial
        features = said["features"]
    }

    func isOf(_ machineId: String) -> Bool { machine == mark(of: machineId) }
}

struct Question {
    let method: String
    /// The path and query as sent.
    let target: String
    let body: [UInt8]?
    let nonce: String
}

struct Answer {
    let status: Int
    /// The headers by their lower-case names.
    let headers: [String: String]
    let body: [UInt8]

    func header(_ name: String) -> String { headers[name] ?? "" }

    /// Returns the key ID that the signature names.
    var keyId: String? {
        guard let input = member(header("signature-input"), "license") else { return nil }
        return parameter(input, "keyid").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "\"")) }
    }
}

/// Returns a member of a dictionary (RFC 8941). Commas in strings and parentheses do not separate members.
private func member(_ dictionary: String, _ name: String) -> String? {
    var members: [String] = []
    var one = String.UnicodeScalarView()
    var isText = false
    var isEscaped = false
    var isList = false
    for symbol in dictionary.unicodeScalars {
        if symbol == "," && !isText && !isList {
            members.append(String(one))
            one = String.UnicodeScalarView()
        } else {
            one.append(symbol)
        }
        if isText {
            isText = isEscaped || symbol != "\""
            isEscaped = !isEscaped && symbol == "\\"
        } else {
            isText = symbol == "\""
            isList = (isList || symbol == "(") && symbol != ")"
        }
    }
    members.append(String(one))
    let start = "\(name)="
    let found = members.map { $0.trimmingCharacters(in: .whitespaces) }.first { $0.hasPrefix(start) }
    return found.map { String($0.dropFirst(start.count)) }
}

private func bytes(in member: String?) -> [UInt8]? {
    guard let text = member, text.count > 2, text.hasPrefix(":"), text.hasSuffix(":") else { return nil }
    var symbols = String(text.dropFirst().dropLast())
    while symbols.hasSuffix("=") { symbols.removeLast() }
    return Base64.decode(symbols)
}

/// Returns a parameter of a signature input such as `(…);created=1;keyid="…"`.
private func parameter(_ input: String, _ name: String) -> String? {
    guard let (_, parameters) = cut(input, at: ")") else { return nil }
    let start = "\(name)="
    let found = parameters.split(separator: ";").first { $0.hasPrefix(start) }
    return found.map { String($0.dropFirst(start.count)) }
}

/// Verifies an answer to a request. Returns its time in seconds since 1970; nil if the signature is not valid.
func signedAt(_ question: Question, _ answer: Answer, _ keys: [PublicKey]) -> Int? {
    guard let sent = member(answer.header("signature-input"), "license"), sent.hasPrefix("("),
        let (list, _) = cut(String(sent.dropFirst()), at: ")"),
        let signature = bytes(in: member(answer.header("signature"), "license")), let kid = answer.keyId,
        let created = parameter(sent, "created"), created.utf8.count <= 12,
        created.utf8.allSatisfy({ (48...57).contains($0) }), let at = Int(created), at > 0,
        bytes(in: member(answer.header("content-digest"), "sha-256")) == sha256(answer.body)
    else { return nil }
    let (path, query) = cut(question.target, at: "?") ?? (question.target, "")
    var values = [
        "\"@status\"": String(answer.status),
        "\"content-digest\"": answer.header("content-digest"),
        "\"@method\";req": question.method,
        "\"@path\";req": path,
        "\"@query\";req": "?\(query)",
        "\"license-nonce\";req": question.nonce,
    ]
    if let body = question.body { values["\"content-digest\";req"] = digest(of: body) }
    // The signature must cover exactly the known components.
    let covered = list.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard covered.count == values.count else { return nil }
    var base = ""
    for name in covered {
        guard let value = values.removeValue(forKey: name) else { return nil }
        base += "\(name): \(value)\n"
    }
    base += "\"@signature-params\": \(sent)"
    return verifies(keys, kid, base, signature) ? at : nil
}

/// The lead of the service's clock over this machine's, and the latest time that was seen, in milliseconds.
struct TimeSeen {
    var aheadMillis: Double
    var latestMillis: Double

    /// The tolerance for small clock corrections.
    private static let toleranceMillis = 600_000.0

    init(aheadMillis: Double, latestMillis: Double) {
        self.aheadMillis = aheadMillis
        self.latestMillis = latestMillis
    }

    /// The time of a signed answer, which overrides all earlier times.
    init(seconds: Int, clockMillis: Double) {
        let at = Double(seconds) * 1_000
        self.init(aheadMillis: at - clockMillis, latestMillis: at)
    }

    /// The time of a carried answer, whose age is unknown. A clock that is behind that time is corrected by the difference.
    init(carriedSeconds seconds: Int, clockMillis: Double) {
        self.init(seconds: seconds, clockMillis: clockMillis)
        aheadMillis = max(aheadMillis, 0)
    }

    /// Returns the time in milliseconds since 1970; nil if the clock was turned back.
    func now(clockMillis: Double, writtenMillis: Double) -> Double? {
        let now = clockMillis + aheadMillis
        let isBack = clockMillis < writtenMillis - Self.toleranceMillis || now < latestMillis - Self.toleranceMillis
        return isBack ? nil : max(now, latestMillis)
    }
}

/// The license state of a machine: may the program run, on which basis, and with which features.
public struct Standing {
    public let mayRun: Bool
    /// A message for people.
    public let message: String
    /// `active` or the reason of a refusal: `license_revoked`, `active_on_another_machine`, `certificate_ended`, `unreachable`, …
    public let reason: String
    /// True if the service has refused. Otherwise the program may ask again.
    public let isFinal: Bool
    /// The basis: `service` or `certificate`; empty if the program may not run.
    public let by: String
    public let plan: String
    /// True for a trial without a key.
    public let isTrial: Bool
    /// The end of offline use, in seconds since 1970.
    public let offlineUntil: Int?
    let features: Json

    /// Returns true if a feature is on or its number is positive.
    public func has(_ feature: String) -> Bool { features[feature].isTrue || (limit(feature) ?? 0) > 0 }

    /// Returns the number of a feature; nil if the license has no number for it.
    public func limit(_ feature: String) -> Int? { features[feature].asWhole }

    static func no(_ reason: String, isFinal: Bool = false, message: String? = nil) -> Standing {
        Standing(
            mayRun: false, message: message ?? messages[reason] ?? "The license service refused this license.",
            reason: reason, isFinal: isFinal, by: "", plan: "", isTrial: false, offlineUntil: nil, features: .null)
    }

    static func yes(_ by: String, _ plan: String, _ certificate: Certificate?) -> Standing {
        Standing(
            mayRun: true, message: "Licensed, plan \(plan), by the \(by).", reason: "active", isFinal: false, by: by,
            plan: plan, isTrial: certificate?.isOfTrial ?? false, offlineUntil: certificate?.exp,
            features: certificate?.features ?? .null)
    }

    /// Makes a refusal with the message of the service, which also locates a typo.
    static func refused(_ reason: String, why: Json, message: Json) -> Standing {
        no(reason, isFinal: !why["retryable"].isTrue, message: message.asText)
    }

    var isNoAnswer: Bool { reason == "unreachable" || reason == "untrusted" }
}

private let messages = [
    "no_license": "No license was activated on this machine.",
    "unreachable": "The license service does not answer.",
    "untrusted": "What answered was not the license service.",
    "certificate_not_genuine": "The certificate of this machine is not genuine.",
    "certificate_of_another_machine": "The certificate is of another machine.",
    "certificate_ended": "The certificate has ended, and the license service does not answer.",
    "clock_turned_back": "The clock of this machine was turned back.",
    "answer_of_another_request": "The response does not belong to a request of this machine, or it is outdated.",
    "not_activated": "This license is not active on this machine.",
    "active_on_another_machine": "This license is active on another machine.",
    "license_expired": "This license has expired.",
    "license_suspended": "This license is suspended.",
    "license_revoked": "This license was revoked.",
    "trial_ended": "The trial on this machine has ended.",
    "released": "The license was given back.",
]

/// Returns the reason of a refused check. The refusal itself is signed; its reason comes from an unsigned header.
func reason(ofState state: String) -> String {
    switch state {
    case "unactivated": return "not_activated"
    case "other_machine": return "active_on_another_machine"
    case "expired": return "license_expired"
    case "suspended": return "license_suspended"
    case "revoked": return "license_revoked"
    default: return "refused"
    }
}

/// Compares two keys as leniently as the service parses them.
func isSameKey(_ one: String, _ other: String) -> Bool { bare(one) == bare(other) }

private func bare(_ key: String) -> [UInt8] {
    let symbols = key.utf8.compactMap { symbol -> UInt8? in
        switch symbol {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return symbol
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return like(symbol)
        case UInt8(ascii: "a")...UInt8(ascii: "z"): return like(symbol - 32)
        default: return nil
        }
    }
    // Drop the five-symbol prefix of the product, which people need not type.
    return Array(symbols.suffix(25))
}

private func like(_ symbol: UInt8) -> UInt8 {
    switch symbol {
    case UInt8(ascii: "O"): return UInt8(ascii: "0")
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return UInt8(ascii: "1")
    default: return symbol
    }
}

/// How a machine stands: whether the program may run on it, and else why not.
public struct Standing {
    public let mayRun: Bool
    /// For people.
    public let message: String
    /// `active`, or why not: `license_revoked`, `active_on_another_machine`, `certificate_ended`, `unreachable`, …
    public let reason: String
    /// A refusal that the service has decided; what is not final may be asked again.
    public let isFinal: Bool
    /// By whose word it may run: `service` or `certificate`; empty where it may not.
    public let by: String
    public let plan: String
    /// Without a key, for some days.
    public let isTrial: Bool
    /// Until when it may run without the service, in seconds since 1970.
    public let offlineUntil: Int?
    let features: Json

    /// Whether a feature is on, or there is at least one of it.
    public func has(_ feature: String) -> Bool { features[feature].isTrue || (limit(feature) ?? 0) > 0 }

    /// How many; nil where the license says no number.
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

    /// A refusal in the service's own words: it also says where a typo is.
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
    "answer_of_another_request": "This answer is to no request of this machine, or to an older one.",
    "not_activated": "This license is not active on this machine.",
    "active_on_another_machine": "This license is active on another machine.",
    "license_expired": "This license has expired.",
    "license_suspended": "This license is suspended.",
    "license_revoked": "This license was revoked.",
    "trial_ended": "The trial on this machine has ended.",
    "released": "The license was given back.",
]

/// A check that said no. Why is in a header, which is not signed; that it said no is.
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

/// Whether two texts are one key, read as leniently as the service reads it.
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
    // Without the product's five, which need not be typed.
    return Array(symbols.suffix(25))
}

private func like(_ symbol: UInt8) -> UInt8 {
    switch symbol {
    case UInt8(ascii: "O"): return UInt8(ascii: "0")
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return UInt8(ascii: "1")
    default: return symbol
    }
}

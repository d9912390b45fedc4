// Activation of offline machines: people carry a request to the seller of the license and the answer back. The answer is valid
// only for the nonce, the key and the machine of its request.

import Foundation

struct CarriedRequest {
    let licenseKey: String
    let machineId: String
    let nonce: String

    func text() throws -> String {
        let asked = Json.object([
            "licenseKey": .text(licenseKey), "machineId": .text(machineId), "nonce": .text(nonce),
        ])
        return "licreq1.\(Base64.toUrl(try asked.written()))"
    }
}

enum CarriedAnswer {
    case granted(licenseKey: String, text: String, certificate: Certificate, seconds: Int)
    /// The service itself refused this request.
    case refused(Standing)
    /// The answer is not from the service or is for another request.
    case foreign(Standing)
}

/// Reads and verifies the answer to a request.
func answer(to asked: CarriedRequest, _ text: String, _ keys: [PublicKey]) -> CarriedAnswer {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard let said = readSigned(trimmed, "licans1", keys), let seconds = said["iat"].asWhole else {
        return .foreign(.no("untrusted"))
    }
    guard said["nonce"].asText == asked.nonce, said["machine"].asText == mark(of: asked.machineId),
        let licenseKey = said["licenseKey"].asText, isSameKey(licenseKey, asked.licenseKey)
    else { return .foreign(.no("answer_of_another_request")) }
    if let reason = said["reason"].asText {
        return .refused(.refused(reason, why: said, message: said["message"]))
    }
    let granted = said["certificate"].asText ?? ""
    guard let certificate = Certificate(granted, .license, keys), certificate.isOf(asked.machineId) else {
        return .foreign(.no("untrusted"))
    }
    return .granted(licenseKey: licenseKey, text: granted, certificate: certificate, seconds: seconds)
}

// Requests to the license service, with retries. Only an answer that is signed for its own request counts. Everything else is an
// outage and never a refusal.

import Foundation
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let attemptSeconds = 10.0
private let mostBytes = 256 * 1024
private let firstPause = 0.25
private let longestPause = 5.0

/// The decision of the service.
struct Heard {
    let answer: Answer
    let said: Json
    /// The time of the service, in seconds since 1970.
    let seconds: Int
}

/// The reason why there is no decision, and the time to wait before the next attempt.
struct NotHeard: Error {
    let reason: String
    var waitSeconds = 0.0
}

/// One request. Its answer is read as received, without redirects, decompression or caching, because the body is signed.
private final class Fetch: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let isOver = DispatchSemaphore(value: 0)
    private var response: HTTPURLResponse?
    private var body: [UInt8] = []
    private var isWhole = false

    func answer(to request: URLRequest) -> Answer? {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = attemptSeconds
        configuration.timeoutIntervalForResource = attemptSeconds
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: request).resume()
        isOver.wait()
        guard isWhole, let response = response else { return nil }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            if let name = name as? String, let value = value as? String { headers[name.lowercased()] = value }
        }
        return Answer(status: response.statusCode, headers: headers, body: body)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        body += data
        if body.count > mostBytes { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        response = task.response as? HTTPURLResponse
        isWhole = error == nil && body.count <= mostBytes
        isOver.signal()
    }
}

final class Asking {
    let base: String
    let serviceProduct: String?
    let patienceSeconds: Double
    let pinned: [PublicKey]?
    /// The fetched or stored keys.
    var trusted: [PublicKey] = []

    init(base: String, serviceProduct: String?, patienceSeconds: Double, pinned: [PublicKey]?) {
        self.base = base
        self.serviceProduct = serviceProduct
        self.patienceSeconds = patienceSeconds
        self.pinned = pinned
    }

    var keys: [PublicKey] { pinned ?? trusted }

    private func send(_ method: String, _ target: String, _ body: [UInt8]?, nonce: String?) -> Answer? {
        guard let url = URL(string: base + target) else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpShouldHandleCookies = false
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        request.setValue(nonce, forHTTPHeaderField: "License-Nonce")
        request.setValue(serviceProduct, forHTTPHeaderField: "License-Product")
        if let body = body {
            request.httpBody = Data(body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.setValue(digest(of: body), forHTTPHeaderField: "Content-Digest")
        }
        return Fetch().answer(to: request)
    }

    /// Fetches the keys again, because an unknown key may be new. Pinned keys are never fetched.
    private func learn(_ kid: String) throws {
        if pinned != nil || trusted.contains(where: { $0.kid == kid }) { return }
        let named = serviceProduct.map { "?product=\($0)" } ?? ""
        guard let answer = send("GET", "/.well-known/license-keys.json\(named)", nil, nonce: nil) else {
            throw NotHeard(reason: "unreachable")
        }
        let fetched = PublicKey.all(in: Json.read(answer.body)["keys"])
        if answer.status == 200 && !fetched.isEmpty { trusted = fetched }
    }

    private func attempt(_ method: String, _ target: String, _ body: [UInt8]?) throws -> Heard {
        let nonce = randomHex(18)
        guard let answer = send(method, target, body, nonce: nonce) else { throw NotHeard(reason: "unreachable") }
        let told = answer.header("retry-after")
        let wait = told.utf8.count <= 6 ? Double(UInt32(told) ?? 0) : 0
        // These statuses are never decisions, whatever the unsigned headers say.
        if answer.status == 429 || answer.status >= 500 { throw NotHeard(reason: "unreachable", waitSeconds: wait) }
        guard let kid = answer.keyId else { throw NotHeard(reason: "untrusted", waitSeconds: wait) }
        try learn(kid)
        let question = Question(method: method, target: target, body: body, nonce: nonce)
        guard let at = signedAt(question, answer, keys) else { throw NotHeard(reason: "untrusted", waitSeconds: wait) }
        guard answer.header("license-verdict") == "final" else {
            throw NotHeard(reason: "unreachable", waitSeconds: wait)
        }
        return Heard(answer: answer, said: Json.read(answer.body), seconds: at)
    }

    /// Retries until there is a decision or the patience is over. Respects Retry-After.
    func ask(_ method: String, _ target: String, _ body: [UInt8]? = nil) -> Result<Heard, NotHeard> {
        let deadline = ProcessInfo.processInfo.systemUptime + patienceSeconds
        var pause = firstPause
        while true {
            let not: NotHeard
            do {
                return .success(try attempt(method, target, body))
            } catch {
                not = error as? NotHeard ?? NotHeard(reason: "unreachable")
            }
            // Random jitter keeps machines from retrying at the same time.
            let wait = max(pause * Double.random(in: 0.5..<1.5), not.waitSeconds)
            if ProcessInfo.processInfo.systemUptime + wait > deadline { return .failure(not) }
            Thread.sleep(forTimeInterval: wait)
            pause = min(pause * 2, longestPause)
        }
    }
}

// The shared test vectors of the clients. LICENSE_VECTORS names their folder, which is ../vectors by default.

import XCTest
@testable import MusterLicense

final class VectorsTests: XCTestCase {
    private func vectors(_ name: String) throws -> Json {
        let beside = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../vectors").standardized.path
        let folder = ProcessInfo.processInfo.environment["LICENSE_VECTORS"] ?? beside
        return Json.read([UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).json"))))
    }

    private func cases(_ file: Json, _ list: String = "cases") -> [Json] {
        let found = file[list].asList
        XCTAssertFalse(found.isEmpty)
        print("\(found.count) cases")
        return found
    }

    private func text(_ one: Json, _ name: String) -> String { one[name].asText ?? "" }

    private func certificates(_ name: String, _ kind: Kind) throws {
        let file = try vectors(name)
        let keys = PublicKey.all(in: file["publicKeys"])
        for one in cases(file) {
            let outcome: String
            if let read = Certificate(text(one, "certificate"), kind, keys) {
                let isOver = one["nowSeconds"].asWhole ?? 0 >= read.exp
                outcome = !read.isOf(text(one, "machineId")) ? "other_machine" : isOver ? "ended" : "valid"
            } else {
                outcome = "not_genuine"
            }
            XCTAssertEqual(outcome, text(one, "outcome"), text(one, "name"))
        }
    }

    func testFindsWhatCertificatesSay() throws { try certificates("certificates", .license) }

    func testFindsWhatTrialsSay() throws { try certificates("trials", .trial) }

    private func request(in one: Json) -> CarriedRequest {
        CarriedRequest(
            licenseKey: text(one, "licenseKey"), machineId: text(one, "machineId"), nonce: text(one, "nonce"))
    }

    func testFindsWhatPeopleCarry() throws {
        let file = try vectors("air-gap")
        let keys = PublicKey.all(in: file["publicKeys"])
        let payload = { (text: String) in Json.read(Base64.fromUrl(String(text.dropFirst("licreq1.".count))) ?? []) }
        for one in cases(file, "requests") {
            let written = try request(in: one).text()
            XCTAssertTrue(written.hasPrefix("licreq1."))
            XCTAssertNotEqual(payload(written), .null)
            XCTAssertEqual(payload(written), payload(text(one, "text")), text(one, "name"))
        }
        for one in cases(file, "answers") {
            switch answer(to: request(in: one["request"]), text(one, "answer"), keys) {
            case .granted(_, let granted, _, _):
                XCTAssertEqual(granted, text(one, "certificate"), text(one, "name"))
                XCTAssertEqual("granted", text(one, "outcome"), text(one, "name"))
            case .refused(let said):
                XCTAssertEqual(said.reason, text(one, "outcome"), text(one, "name"))
                XCTAssertEqual(said.message, text(one, "message"), text(one, "name"))
                XCTAssertEqual(Json.flag(said.isFinal), one["isFinal"], text(one, "name"))
            case .foreign(let said):
                XCTAssertEqual(said.reason, text(one, "outcome"), text(one, "name"))
                XCTAssertEqual(one["isFinal"], .null, text(one, "name"))
            }
        }
    }

    func testFindsWhatAnswersSay() throws {
        let file = try vectors("answers")
        let keys = PublicKey.all(in: file["publicKeys"])
        for one in cases(file) {
            let (asked, given) = (one["question"], one["answer"])
            let question = Question(
                method: text(asked, "method"), target: text(asked, "target"),
                body: asked["body"].asText.map { [UInt8]($0.utf8) }, nonce: text(asked, "nonce"))
            var headers: [String: String] = [:]
            if case .object(let all) = given["headers"] { headers = all.compactMapValues(\.asText) }
            let answer = Answer(
                status: given["status"].asWhole ?? 0, headers: headers, body: [UInt8](text(given, "body").utf8))
            XCTAssertEqual(signedAt(question, answer, keys), one["signedAt"].asWhole, text(one, "name"))
        }
    }

    func testFindsWhatClocksSay() throws {
        for one in cases(try vectors("clock")) {
            let number = { (value: Json) in value.asNumber ?? 0 }
            let seen = TimeSeen(
                aheadMillis: number(one["seen"]["aheadMillis"]), latestMillis: number(one["seen"]["latestMillis"]))
            let now = seen.now(
                clockMillis: number(one["clockMillis"]), writtenMillis: number(one["writtenMillis"]))
            XCTAssertEqual(now, one["now"].asNumber, text(one, "name"))
        }
    }
}

import Foundation

/// Exact JSON types. JSONSerialization reads `true` as a number, which must not become a feature.
enum Json: Codable, Equatable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([Json])
    case object([String: Json])

    init(from decoder: Decoder) throws {
        let one = try decoder.singleValueContainer()
        if one.decodeNil() {
            self = .null
        } else if let flag = try? one.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? one.decode(Double.self) {
            self = .number(number)
        } else if let text = try? one.decode(String.self) {
            self = .text(text)
        } else if let list = try? one.decode([Json].self) {
            self = .list(list)
        } else {
            self = .object(try one.decode([String: Json].self))
        }
    }

    func encode(to encoder: Encoder) throws {
        var one = encoder.singleValueContainer()
        switch self {
        case .null: try one.encodeNil()
        case .flag(let flag): try one.encode(flag)
        case .number(let number): try one.encode(number)
        case .text(let text): try one.encode(text)
        case .list(let list): try one.encode(list)
        case .object(let object): try one.encode(object)
        }
    }

    /// Parses JSON; null if it is invalid.
    static func read(_ bytes: [UInt8]) -> Json {
        (try? JSONDecoder().decode(Json.self, from: Data(bytes))) ?? .null
    }

    func written(pretty: Bool = false) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = pretty ? [.prettyPrinted, .sortedKeys] : [.sortedKeys]
        return [UInt8](try encoder.encode(self))
    }

    /// Returns a member; null if it is missing.
    subscript(name: String) -> Json {
        if case .object(let object) = self { return object[name] ?? .null }
        return .null
    }

    var asText: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    var asNumber: Double? {
        if case .number(let number) = self { return number }
        return nil
    }

    /// The value as an integer that JSON represents exactly; nil otherwise.
    var asWhole: Int? {
        guard let number = asNumber, number == number.rounded(), abs(number) <= 9_007_199_254_740_991 else { return nil }
        return Int(number)
    }

    var asList: [Json] {
        if case .list(let list) = self { return list }
        return []
    }

    var isTrue: Bool { self == .flag(true) }
}

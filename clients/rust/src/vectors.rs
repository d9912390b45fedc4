//! Tests with the shared test vectors of the clients.

use crate::air_gap::{answer_to, Request, Said};
use crate::signed::*;
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let folder = std::env::var("LICENSE_VECTORS").unwrap_or_else(|_| format!("{}/../vectors", env!("CARGO_MANIFEST_DIR")));
    serde_json::from_str(&std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()).unwrap()
}

fn cases<'a>(file: &'a Value, list: &str) -> &'a [Value] {
    let found = file[list].as_array().unwrap();
    println!("{} cases", found.len());
    found
}

fn text<'a>(one: &'a Value, name: &str) -> &'a str {
    one[name].as_str().unwrap_or("")
}

fn certificates(name: &str, kind: &str) {
    let file = vectors(name);
    let keys = PublicKey::all_in(&file["publicKeys"]);
    for one in cases(&file, "cases") {
        let outcome = match Certificate::read(text(one, "certificate"), kind, &keys) {
            None => "not_genuine",
            Some(read) if !read.is_of(text(one, "machineId")) => "other_machine",
            Some(read) if one["nowSeconds"].as_i64().unwrap() >= read.exp => "ended",
            Some(_) => "valid",
        };
        assert_eq!(outcome, text(one, "outcome"), "{}", one["name"]);
    }
}

#[test]
fn finds_what_certificates_say() {
    certificates("certificates", OF_LICENSE);
}

#[test]
fn finds_what_trials_say() {
    certificates("trials", OF_TRIAL);
}

fn request_in(one: &Value) -> Request<'_> {
    Request { license_key: text(one, "licenseKey"), machine_id: text(one, "machineId"), nonce: text(one, "nonce") }
}

#[test]
fn finds_what_people_carry() {
    let file = vectors("air-gap");
    let keys = PublicKey::all_in(&file["publicKeys"]);
    let payload = |text: &str| -> Value {
        serde_json::from_slice(&from_url(text.strip_prefix("licreq1.").unwrap()).unwrap()).unwrap()
    };
    for one in cases(&file, "requests") {
        assert_eq!(payload(&request_in(one).text()), payload(text(one, "text")), "{}", one["name"]);
    }
    for one in cases(&file, "answers") {
        match answer_to(&request_in(&one["request"]), text(one, "answer"), &keys) {
            Said::Granted { text: granted, .. } => assert_eq!(granted, text(one, "certificate"), "{}", one["name"]),
            Said::Refused(said) => {
                assert_eq!((said.reason.as_str(), said.message.as_str()), (text(one, "outcome"), text(one, "message")));
                assert_eq!(one["isFinal"], said.is_final, "{}", one["name"]);
            }
            Said::Foreign(said) => {
                assert_eq!(said.reason, text(one, "outcome"), "{}", one["name"]);
                assert!(one["isFinal"].is_null(), "{}", one["name"]);
            }
        }
    }
}

#[test]
fn finds_what_answers_say() {
    let file = vectors("answers");
    let keys = PublicKey::all_in(&file["publicKeys"]);
    for one in cases(&file, "cases") {
        let (asked, given) = (&one["question"], &one["answer"]);
        let question = Question {
            method: text(asked, "method"),
            target: text(asked, "target"),
            body: asked["body"].as_str().map(str::as_bytes),
            nonce: text(asked, "nonce"),
        };
        let headers = given["headers"].as_object().unwrap().iter();
        let answer = Answer {
            status: given["status"].as_u64().unwrap() as u16,
            headers: headers.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_string())).collect(),
            body: text(given, "body").as_bytes().to_vec(),
        };
        assert_eq!(signed_at(&question, &answer, &keys), one["signedAt"].as_i64(), "{}", one["name"]);
    }
}

#[test]
fn finds_what_clocks_say() {
    let file = vectors("clock");
    for one in cases(&file, "cases") {
        let of = |value: &Value| value.as_f64().unwrap();
        let seen = TimeSeen { ahead_millis: of(&one["seen"]["aheadMillis"]), latest_millis: of(&one["seen"]["latestMillis"]) };
        let now = seen.now(of(&one["clockMillis"]), of(&one["writtenMillis"]));
        assert_eq!(now, one["now"].as_f64(), "{}", one["name"]);
    }
}

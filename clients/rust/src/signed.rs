//! Signed texts and answers: certificates, carried answers, the part of RFC 9421 that the service uses, and the trusted time.

use ring::{digest, signature};
use serde_json::{json, Value};
use std::collections::HashMap;

const MOST_WHOLE: f64 = 9_007_199_254_740_991.0;

/// A key of the service from /.well-known/license-keys.json.
#[derive(Clone, Debug)]
pub struct PublicKey {
    /// The public key, in base64url.
    pub x: String,
    /// The key ID.
    pub kid: String,
}

impl PublicKey {
    pub(crate) fn all_in(list: &Value) -> Vec<PublicKey> {
        let of = |key: &Value| {
            let is_ours = key["kty"] == "OKP" && key["crv"] == "Ed25519";
            let (x, kid) = (key["x"].as_str()?, key["kid"].as_str()?);
            (is_ours && from_url(x)?.len() == 32).then(|| PublicKey { x: x.into(), kid: kid.into() })
        };
        list.as_array().map(|keys| keys.iter().filter_map(of).collect()).unwrap_or_default()
    }

    pub(crate) fn written(&self) -> Value {
        json!({ "kty": "OKP", "crv": "Ed25519", "x": self.x, "kid": self.kid })
    }
}

const SYMBOLS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() % 4 == 1 {
        return None;
    }
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0u32, 0);
    for symbol in text.bytes() {
        held = (held << 6) | SYMBOLS.iter().position(|one| *one == symbol)? as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

pub(crate) fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let held = chunk.iter().fold(0u32, |held, byte| (held << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let symbol = SYMBOLS[(held >> (18 - 6 * place)) as usize & 63] as char;
            text.push(if place > chunk.len() { '=' } else { symbol });
        }
    }
    text
}

pub(crate) fn to_url(bytes: &[u8]) -> String {
    to_base64(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

pub(crate) fn from_url(text: &str) -> Option<Vec<u8>> {
    if text.contains(['+', '/', '=']) {
        return None;
    }
    decode(&text.replace('-', "+").replace('_', "/"))
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    decode(text.trim_end_matches('='))
}

pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest::digest(&digest::SHA256, bytes).as_ref().to_vec()
}

fn verifies(keys: &[PublicKey], kid: &str, message: &[u8], sealed: &[u8]) -> bool {
    let key = keys.iter().find(|key| key.kid == kid).and_then(|key| from_url(&key.x));
    key.map_or(false, |raw| signature::UnparsedPublicKey::new(&signature::ED25519, raw).verify(message, sealed).is_ok())
}

pub(crate) fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && number.abs() <= MOST_WHOLE).then(|| number as i64)
}

/// Verifies a text `kind.payload.signature` and answers its payload; None if it is invalid.
pub(crate) fn read_signed(text: &str, kind: &str, keys: &[PublicKey]) -> Option<Value> {
    let parts: Vec<&str> = text.split('.').collect();
    if parts.len() != 3 || parts[0] != kind {
        return None;
    }
    let said: Value = serde_json::from_slice(&from_url(parts[1])?).ok()?;
    let signed = format!("{}.{}", parts[0], parts[1]);
    verifies(keys, said["kid"].as_str()?, signed.as_bytes(), &from_url(parts[2])?).then_some(said)
}

pub(crate) const OF_LICENSE: &str = "lic1";
pub(crate) const OF_TRIAL: &str = "trial1";

/// A certificate, which allows one machine to run offline until a time.
#[derive(Clone, Debug)]
pub(crate) struct Certificate {
    pub plan: String,
    pub machine: String,
    pub iat: i64,
    pub exp: i64,
    pub is_lent: bool,
    pub is_of_trial: bool,
    pub features: Value,
}

impl Certificate {
    /// Verifies a certificate of this kind and answers it, even if it has expired; None if it is invalid.
    pub fn read(text: &str, kind: &str, keys: &[PublicKey]) -> Option<Certificate> {
        let said = read_signed(text, kind, keys)?;
        said["lic"].as_str()?;
        Some(Certificate {
            plan: said["plan"].as_str()?.into(),
            machine: said["machine"].as_str()?.into(),
            iat: whole(&said["iat"])?,
            exp: whole(&said["exp"])?,
            is_lent: whole(&said["lease"]).is_some(),
            is_of_trial: kind == OF_TRIAL,
            features: said["features"].clone(),
        })
    }

    pub fn is_of(&self, machine_id: &str) -> bool {
        self.machine == mark_of(machine_id)
    }
}

pub(crate) fn mark_of(machine_id: &str) -> String {
    to_url(&sha256(machine_id.as_bytes()))
}

pub(crate) struct Question<'a> {
    pub method: &'a str,
    /// The path and query as sent.
    pub target: &'a str,
    pub body: Option<&'a [u8]>,
    pub nonce: &'a str,
}

pub(crate) struct Answer {
    pub status: u16,
    /// The headers by their lower-case names.
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Returns the key ID that the signature names.
    pub fn key_id(&self) -> Option<String> {
        let input = member(self.header("signature-input"), "license")?;
        parameter(&input, "keyid").map(|quoted| quoted.trim_matches('"').to_string())
    }
}

pub(crate) fn digest_of(body: &[u8]) -> String {
    format!("sha-256=:{}:", to_base64(&sha256(body)))
}

/// Returns a member of a dictionary (RFC 8941). Commas in strings and parentheses do not separate members.
fn member(dictionary: &str, name: &str) -> Option<String> {
    let (mut members, mut one) = (Vec::new(), String::new());
    let (mut is_text, mut is_escaped, mut is_list) = (false, false, false);
    for symbol in dictionary.chars() {
        match symbol {
            ',' if !is_text && !is_list => members.push(std::mem::take(&mut one)),
            _ => one.push(symbol),
        }
        if is_text {
            is_text = is_escaped || symbol != '"';
            is_escaped = !is_escaped && symbol == '\\';
        } else {
            is_text = symbol == '"';
            is_list = (is_list || symbol == '(') && symbol != ')';
        }
    }
    members.push(one);
    let start = format!("{name}=");
    members.iter().find_map(|one| one.trim().strip_prefix(&start).map(str::to_string))
}

fn bytes_in(member: Option<String>) -> Option<Vec<u8>> {
    from_base64(member?.strip_prefix(':')?.strip_suffix(':')?)
}

/// Returns a parameter of a signature input such as `(…);created=1;keyid="…"`.
fn parameter(input: &str, name: &str) -> Option<String> {
    let (_, parameters) = input.split_once(')')?;
    let start = format!("{name}=");
    parameters.split(';').find_map(|one| one.strip_prefix(&start).map(str::to_string))
}

/// Verifies an answer to a request. Returns its time in seconds since 1970; None if the signature is not valid.
pub(crate) fn signed_at(question: &Question, answer: &Answer, keys: &[PublicKey]) -> Option<i64> {
    let sent = member(answer.header("signature-input"), "license")?;
    let sealed = bytes_in(member(answer.header("signature"), "license"))?;
    let list = sent.strip_prefix('(')?.split_once(')')?.0;
    let created = parameter(&sent, "created")?;
    if created.is_empty() || created.len() > 12 || !created.bytes().all(|one| one.is_ascii_digit()) {
        return None;
    }
    let digest = bytes_in(member(answer.header("content-digest"), "sha-256"))?;
    if digest != sha256(&answer.body) {
        return None;
    }
    let (path, query) = question.target.split_once('?').unwrap_or((question.target, ""));
    let mut values = HashMap::from([
        ("\"@status\"", answer.status.to_string()),
        ("\"content-digest\"", answer.header("content-digest").to_string()),
        ("\"@method\";req", question.method.to_string()),
        ("\"@path\";req", path.to_string()),
        ("\"@query\";req", format!("?{query}")),
        ("\"license-nonce\";req", question.nonce.to_string()),
    ]);
    if let Some(body) = question.body {
        values.insert("\"content-digest\";req", digest_of(body));
    }
    // The signature must cover exactly the known components.
    let covered: Vec<&str> = list.split(' ').collect();
    if covered.len() != values.len() {
        return None;
    }
    let mut base = String::new();
    for name in covered {
        base += &format!("{name}: {}\n", values.remove(name)?);
    }
    base += &format!("\"@signature-params\": {sent}");
    let at = created.parse().ok().filter(|at| *at > 0)?;
    verifies(keys, &answer.key_id()?, base.as_bytes(), &sealed).then_some(at)
}

/// The tolerance for small clock corrections.
const TOLERANCE_MILLIS: f64 = 600_000.0;

/// The lead of the service's clock over this machine's, and the latest time that was seen, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeSeen {
    pub ahead_millis: f64,
    pub latest_millis: f64,
}

impl TimeSeen {
    /// The time of a signed answer, which overrides all earlier times.
    pub fn of(seconds: i64, clock_millis: f64) -> TimeSeen {
        let at = seconds as f64 * 1_000.0;
        TimeSeen { ahead_millis: at - clock_millis, latest_millis: at }
    }

    /// The time of a carried answer, whose age is unknown. A clock that is behind that time is corrected by the difference.
    pub fn of_carried(seconds: i64, clock_millis: f64) -> TimeSeen {
        let heard = TimeSeen::of(seconds, clock_millis);
        TimeSeen { ahead_millis: heard.ahead_millis.max(0.0), ..heard }
    }

    /// Returns the time in milliseconds since 1970; None if the clock was turned back.
    pub fn now(&self, clock_millis: f64, written_millis: f64) -> Option<f64> {
        let now = clock_millis + self.ahead_millis;
        let is_back = clock_millis < written_millis - TOLERANCE_MILLIS || now < self.latest_millis - TOLERANCE_MILLIS;
        (!is_back).then(|| now.max(self.latest_millis))
    }
}

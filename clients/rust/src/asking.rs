//! Requests to the license service, with retries. Only an answer that is signed for its own request counts. Everything else is an
//! outage and never a refusal.

use crate::machine::random_hex;
use crate::signed::{digest_of, signed_at, Answer, PublicKey, Question};
use serde_json::Value;
use std::io::{self, Read};
use std::thread::sleep;
use std::time::{Duration, Instant};

const ATTEMPT: Duration = Duration::from_secs(10);
const MOST_BYTES: u64 = 256 * 1024;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The decision of the service.
pub(crate) struct Heard {
    pub answer: Answer,
    pub said: Value,
    /// The time of the service, in seconds since 1970.
    pub seconds: i64,
}

/// The reason why there is no decision, and the time to wait before the next attempt.
struct NotHeard(&'static str, Duration);

pub(crate) struct Asking {
    pub base: String,
    pub service_product: Option<String>,
    pub patience: Duration,
    pub pinned: Option<Vec<PublicKey>>,
    /// The fetched or stored keys.
    pub trusted: Vec<PublicKey>,
}

impl Asking {
    pub fn keys(&self) -> &[PublicKey] {
        self.pinned.as_deref().unwrap_or(&self.trusted)
    }

    /// Sends a request. Redirects are not followed, because the answer is signed.
    fn send(&self, method: &str, target: &str, body: Option<&[u8]>, nonce: Option<&str>) -> io::Result<Answer> {
        let agent = ureq::AgentBuilder::new().timeout(ATTEMPT).redirects(0).build();
        let mut request = agent.request(method, &format!("{}{target}", self.base));
        if let Some(nonce) = nonce {
            request = request.set("license-nonce", nonce);
        }
        if let Some(product) = &self.service_product {
            request = request.set("license-product", product);
        }
        let sent = match body {
            Some(body) => request.set("content-type", "application/json").set("content-digest", &digest_of(body)).send_bytes(body),
            None => request.call(),
        };
        let response = match sent {
            Ok(response) | Err(ureq::Error::Status(_, response)) => response,
            Err(error) => return Err(io::Error::new(io::ErrorKind::Other, error)),
        };
        let status = response.status();
        let named = response.headers_names().into_iter();
        let headers = named.map(|name| (name.to_lowercase(), response.all(&name).join(", "))).collect();
        let mut bytes = Vec::new();
        response.into_reader().take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the response is too large"));
        }
        Ok(Answer { status, headers, body: bytes })
    }

    /// Fetches the keys again, because an unknown key may be new. Pinned keys are never fetched.
    fn learn(&mut self, kid: &str) -> io::Result<()> {
        if self.pinned.is_some() || self.trusted.iter().any(|key| key.kid == kid) {
            return Ok(());
        }
        let named = self.service_product.as_ref().map_or(String::new(), |product| format!("?product={product}"));
        let answer = self.send("GET", &format!("/.well-known/license-keys.json{named}"), None, None)?;
        let document: Value = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        let fetched = PublicKey::all_in(&document["keys"]);
        if answer.status == 200 && !fetched.is_empty() {
            self.trusted = fetched;
        }
        Ok(())
    }

    fn attempt(&mut self, method: &str, target: &str, body: Option<&[u8]>) -> Result<Heard, NotHeard> {
        let unreachable = |_: io::Error| NotHeard("unreachable", Duration::ZERO);
        let nonce = random_hex(18).map_err(unreachable)?;
        let answer = self.send(method, target, body, Some(&nonce)).map_err(unreachable)?;
        let told = answer.header("retry-after");
        let seconds = if told.len() <= 6 { told.parse().unwrap_or(0) } else { 0 };
        let not = |reason| NotHeard(reason, Duration::from_secs(seconds));
        // These statuses are never decisions, whatever the unsigned headers say.
        if answer.status == 429 || answer.status >= 500 {
            return Err(not("unreachable"));
        }
        let kid = answer.key_id().ok_or_else(|| not("untrusted"))?;
        self.learn(&kid).map_err(unreachable)?;
        let question = Question { method, target, body, nonce: &nonce };
        let at = signed_at(&question, &answer, self.keys()).ok_or_else(|| not("untrusted"))?;
        if answer.header("license-verdict") != "final" {
            return Err(not("unreachable"));
        }
        let said = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        Ok(Heard { answer, said, seconds: at })
    }

    /// Retries until there is a decision or the patience is over. Respects Retry-After.
    pub fn ask(&mut self, method: &str, target: &str, body: Option<&[u8]>) -> Result<Heard, &'static str> {
        let deadline = Instant::now() + self.patience;
        let mut pause = FIRST_PAUSE;
        loop {
            let NotHeard(reason, asked_for) = match self.attempt(method, target, body) {
                Ok(heard) => return Ok(heard),
                Err(not) => not,
            };
            // Random jitter keeps machines from retrying at the same time.
            let chance = random_hex(1).ok().and_then(|byte| u8::from_str_radix(&byte, 16).ok()).unwrap_or(128);
            let spread = 0.5 + f64::from(chance) / 256.0;
            let wait = pause.mul_f64(spread).max(asked_for);
            if Instant::now() + wait > deadline {
                return Err(reason);
            }
            sleep(wait);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

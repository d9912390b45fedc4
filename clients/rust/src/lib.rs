//! A license client for one program on one machine, for Rust 1.65 and newer.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! # let key = "";
//! let options = muster_license::Options::new("https://licenses.example.com", "my-program");
//! let mut licenses = muster_license::Client::new(options)?;
//! let standing = licenses.activate(key)?; // once, after the purchase
//! let standing = licenses.check()?;       // at each start
//! let standing = licenses.trial()?;       // or a trial without a key
//! if !standing.may_run {
//!     eprintln!("{}", standing.message);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It trusts only answers that are signed for its own request. Everything else counts as an outage, and then the stored certificate
//! decides. It uses the same file as the client for Node, so a program may use both. The standard library has no Ed25519, HTTPS or
//! JSON, so the client needs ring, ureq and serde_json.

mod air_gap;
mod asking;
mod machine;
mod signed;
mod standing;
#[cfg(test)]
mod vectors;

use crate::air_gap::{answer_to, Request, Said};
use crate::asking::{Asking, Heard};
use crate::machine::{clock_millis, machine_id_for, random_hex, usual_folder, Kept, KeptRequest};
use crate::signed::{from_url, Certificate, TimeSeen, OF_LICENSE, OF_TRIAL};
use crate::standing::{reason_of_state, same_key};
use serde_json::{json, Value};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

pub use crate::signed::PublicKey;
pub use crate::standing::Standing;

/// The settings of a client.
pub struct Options {
    /// The URL of the license service, such as https://licenses.example.com.
    pub url: String,
    /// The name of the program. It is part of the machine ID, so with another name every machine is a new one.
    pub product: String,
    /// The product at a service with several products.
    pub service_product: Option<String>,
    /// The folder of the stored license, by default in the user's folder for programs.
    pub folder: Option<PathBuf>,
    /// Public keys of the service to pin. By default they are fetched over https and stored.
    pub public_keys: Option<Vec<PublicKey>>,
    /// The time to retry while the service does not answer, plus one more attempt.
    pub patience: Duration,
    /// Replaces the machine ID if something else holds the license.
    pub machine_id: Option<String>,
}

impl Options {
    pub fn new(url: &str, product: &str) -> Options {
        Options {
            url: url.into(),
            product: product.into(),
            service_product: None,
            folder: None,
            public_keys: None,
            patience: Duration::from_secs(10),
            machine_id: None,
        }
    }
}

fn unfit(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn is_name(text: &str, may: impl Fn(char) -> bool) -> bool {
    let begins = text.chars().next().map_or(false, |first| may(first) && first.is_ascii_alphanumeric());
    begins && text.len() <= 64 && text.chars().all(|one| may(one))
}

/// The license client of one program on one machine. Its calls block until the service answers. An error means that this machine
/// failed (its disk or its ID), and that the program may not run.
pub struct Client {
    asking: Asking,
    folder: PathBuf,
    machine_id: String,
}

impl Client {
    pub fn new(options: Options) -> io::Result<Client> {
        let base = options.url.trim_end_matches('/').to_string();
        let (scheme, host) = base.split_once("://").unwrap_or(("", ""));
        if (scheme != "https" && scheme != "http") || host.is_empty() || host.contains(['/', '?', '#', '@']) {
            return Err(unfit("url must name a host by http or https, and no path"));
        }
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_here = name == "localhost" || name == "[::1]" || name.starts_with("127.");
        if scheme == "http" && !is_here && options.public_keys.is_none() {
            return Err(unfit("url must be of https, unless public_keys are given"));
        }
        if !is_name(&options.product, |one| one.is_ascii_alphanumeric() || "._-".contains(one)) {
            return Err(unfit("product must consist of letters, digits and the characters . _ -"));
        }
        let is_small = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "._-".contains(one);
        if options.service_product.as_ref().map_or(false, |product| !is_name(product, is_small)) {
            return Err(unfit("service_product must be a name of lower-case letters, digits and . _ -"));
        }
        let is_key = |key: &PublicKey| from_url(&key.x).map_or(false, |raw| raw.len() == 32) && !key.kid.is_empty();
        if options.public_keys.as_ref().map_or(false, |keys| keys.is_empty() || !keys.iter().all(is_key)) {
            return Err(unfit("public_keys must be Ed25519 keys as /.well-known/license-keys.json has them"));
        }
        let folder = options.folder.unwrap_or_else(|| usual_folder(&options.product));
        let machine_id = match options.machine_id {
            Some(id) => id,
            None => machine_id_for(&options.product, &folder)?,
        };
        let asking = Asking {
            base,
            service_product: options.service_product,
            patience: options.patience,
            pinned: options.public_keys,
            trusted: Vec::new(),
        };
        Ok(Client { asking, folder, machine_id })
    }

    /// The machine ID that the service knows.
    pub fn machine_id(&self) -> &str {
        &self.machine_id
    }

    fn open(&mut self) -> io::Result<Option<Kept>> {
        let kept = Kept::read(&self.folder)?;
        if let (Some(kept), true) = (&kept, self.asking.trusted.is_empty()) {
            self.asking.trusted = kept.public_keys.clone();
        }
        Ok(kept)
    }

    /// Activates a license on this machine. Without an answer, the stored license counts if it has this key.
    pub fn activate(&mut self, license_key: &str) -> io::Result<Standing> {
        let kept = self.open()?;
        let standing = self.activate_by(kept.as_ref(), license_key)?;
        let same = kept.filter(|kept| standing.is_no_answer() && is_of(kept, license_key));
        Ok(same.map_or(standing.clone(), |kept| self.without(Some(kept), standing)))
    }

    /// Checks the license with the service or, without an answer, by the certificate.
    pub fn check(&mut self) -> io::Result<Standing> {
        let kept = match self.open()? {
            Some(kept) => kept,
            None => return Ok(Standing::no("no_license", true)),
        };
        let key = match kept.license_key.clone() {
            Some(key) => key,
            None => return self.try_by(Some(kept)),
        };
        let target = format!("/api/activate/check?licenseKey={}&machineId={}", escaped(&key), escaped(&self.machine_id));
        let heard = match self.asking.ask("GET", &target, None) {
            Ok(heard) => heard,
            Err(reason) => return Ok(self.without(Some(kept), Standing::no(reason, false))),
        };
        let is_ok = heard.answer.status == 200;
        if is_ok && heard.said["valid"] == true {
            return self.renewed(kept, &key, &heard);
        }
        self.drop_by(&kept, &heard);
        if is_ok && kept.is_lent {
            // The slot lease has expired. Activate again to get another slot or the reason of the refusal.
            return self.activate_by(Some(&kept), &key);
        }
        let state = heard.answer.header("license-state");
        Ok(if is_ok { Standing::no(reason_of_state(state), true) } else { refusal_in(&heard) })
    }

    /// Checks the license by the certificate alone, without asking the service.
    pub fn check_offline(&mut self) -> io::Result<Standing> {
        let kept = self.open()?;
        Ok(self.by_certificate(kept))
    }

    /// Starts the trial of this machine or continues it. Each machine has only one. If a license was activated here, answers the same
    /// as `check`.
    pub fn trial(&mut self) -> io::Result<Standing> {
        match self.open()? {
            Some(kept) if kept.license_key.is_some() => self.check(),
            kept => self.try_by(kept),
        }
    }

    /// Makes the activation request of an offline machine, a text that people carry to the seller, who answers it. A new request
    /// replaces the previous one. Needs public_keys to verify the answer.
    pub fn request_offline(&mut self, license_key: &str) -> io::Result<String> {
        let nonce = random_hex(18)?;
        let text = Request { license_key, machine_id: &self.machine_id, nonce: &nonce }.text();
        KeptRequest { license_key: license_key.into(), nonce, is_answered: false }.write(&self.folder)?;
        Ok(text)
    }

    /// Accepts the answer to the request. Accepting it again changes nothing.
    pub fn accept_offline(&mut self, answer: &str) -> io::Result<Standing> {
        let kept = self.open()?;
        let request = match KeptRequest::read(&self.folder)? {
            Some(request) => request,
            None => return Ok(Standing::no("answer_of_another_request", false)),
        };
        let asked = Request { license_key: &request.license_key, machine_id: &self.machine_id, nonce: &request.nonce };
        let own = kept.filter(|kept| is_of(kept, &request.license_key));
        match answer_to(&asked, answer, self.asking.keys()) {
            Said::Foreign(standing) => return Ok(standing),
            Said::Refused(standing) => {
                if let Some(kept) = own {
                    Kept { certificate: None, ..kept }.write(&self.folder)?;
                    KeptRequest::forget(&self.folder)?;
                }
                return Ok(standing);
            }
            // The time of the answer counts from its first acceptance, so accepting it again must not reset the clock.
            Said::Granted { .. } if request.is_answered && own.is_some() => {}
            Said::Granted { license_key, text, certificate, seconds } => {
                let time = TimeSeen::of_carried(seconds, clock_millis());
                let (license_key, is_lent) = (Some(license_key), certificate.is_lent);
                let next = Kept { license_key, certificate: Some(text), is_lent, public_keys: self.to_keep(), time };
                next.write(&self.folder)?;
                KeptRequest { is_answered: true, ..request }.write(&self.folder)?;
            }
        }
        self.check_offline()
    }

    /// Releases the license for another machine. The reason is `released` or that of a refusal.
    pub fn release(&mut self) -> io::Result<Standing> {
        let kept = self.open()?;
        let (kept, key) = match kept.and_then(|kept| kept.license_key.clone().map(|key| (kept, key))) {
            Some(both) => both,
            None => return Ok(Standing::no("no_license", true)),
        };
        let body = self.body_for(&key);
        let heard = match self.asking.ask("POST", "/api/activate/release", Some(&body)) {
            Ok(heard) => heard,
            Err(reason) => return Ok(Standing::no(reason, false)),
        };
        if heard.answer.status == 200 {
            if !self.is_mine(&heard, &key) {
                return Ok(Standing::no("untrusted", false));
            }
            Kept::forget(&self.folder)?;
            return Ok(Standing::no("released", true));
        }
        let refusal = refusal_in(&heard);
        // After exhausted transfers this machine may keep the license. After any other refusal nothing is kept.
        if refusal.reason != "transfers_exhausted" {
            self.drop_by(&kept, &heard);
        }
        Ok(refusal)
    }

    fn body_for(&self, license_key: &str) -> Vec<u8> {
        json!({ "licenseKey": license_key, "machineId": self.machine_id }).to_string().into_bytes()
    }

    /// Returns true if an answer is for this key and this machine.
    fn is_mine(&self, heard: &Heard, license_key: &str) -> bool {
        let license = &heard.said["license"];
        let is_key = license["key"].as_str().map_or(false, |key| same_key(key, license_key));
        is_key && license["machineId"] == self.machine_id.as_str()
    }

    fn activate_by(&mut self, kept: Option<&Kept>, license_key: &str) -> io::Result<Standing> {
        let body = self.body_for(license_key);
        let heard = match self.asking.ask("POST", "/api/activate", Some(&body)) {
            Ok(heard) => heard,
            Err(reason) => return Ok(Standing::no(reason, false)),
        };
        if heard.answer.status != 200 {
            if let Some(kept) = kept.filter(|kept| is_of(kept, license_key)) {
                self.drop_by(kept, &heard);
            }
            return Ok(refusal_in(&heard));
        }
        let text = heard.answer.header("license-certificate");
        let certificate = Certificate::read(text, OF_LICENSE, self.asking.keys());
        // An approval of this request has all three. Otherwise the answer is for another request.
        let own = certificate.filter(|one| one.is_of(&self.machine_id) && self.is_mine(&heard, license_key));
        let certificate = match own {
            Some(own) => own,
            None => return Ok(Standing::no("untrusted", false)),
        };
        let license = &heard.said["license"];
        let license_key = license["key"].as_str().map(str::to_string);
        self.keep(license_key, text, certificate.is_lent, &heard)?;
        Ok(Standing::yes("service", license["plan"].as_str().unwrap_or(""), Some(&certificate)))
    }

    fn try_by(&mut self, kept: Option<Kept>) -> io::Result<Standing> {
        let body = json!({ "machineId": self.machine_id }).to_string().into_bytes();
        let heard = match self.asking.ask("POST", "/api/trials", Some(&body)) {
            Ok(heard) => heard,
            Err(reason) => return Ok(self.without(kept, Standing::no(reason, false))),
        };
        if heard.answer.status != 200 {
            if let Some(kept) = kept {
                self.drop_by(&kept, &heard);
            }
            return Ok(refusal_in(&heard));
        }
        let text = heard.answer.header("license-certificate");
        let is_mine = heard.said["trial"]["machineId"] == self.machine_id.as_str();
        let certificate = Certificate::read(text, OF_TRIAL, self.asking.keys());
        match certificate.filter(|one| is_mine && one.is_of(&self.machine_id)) {
            None => Ok(Standing::no("untrusted", false)),
            Some(certificate) => {
                self.keep(None, text, false, &heard)?;
                Ok(Standing::yes("service", &certificate.plan, Some(&certificate)))
            }
        }
    }

    fn keep(&self, license_key: Option<String>, certificate: &str, is_lent: bool, heard: &Heard) -> io::Result<()> {
        let time = TimeSeen::of(heard.seconds, clock_millis());
        Kept { license_key, certificate: Some(certificate.into()), is_lent, public_keys: self.to_keep(), time }.write(&self.folder)
    }

    /// Stores the approval of the service and renews the certificate if it is due.
    fn renewed(&mut self, kept: Kept, key: &str, heard: &Heard) -> io::Result<Standing> {
        let certificate = self.certificate_in(&kept).filter(|one| one.is_of(&self.machine_id));
        // The certificate is due for renewal after half of its validity.
        let is_due = certificate.as_ref().map_or(true, |one| 2 * (one.exp - heard.seconds) < one.exp - one.iat);
        if is_due {
            let standing = self.activate_by(Some(&kept), key)?;
            if !standing.is_no_answer() {
                return Ok(standing);
            }
        }
        self.keep_if_possible(kept, heard);
        Ok(Standing::yes("service", heard.said["plan"].as_str().unwrap_or(""), certificate.as_ref()))
    }

    /// Returns the certificate of the license or trial.
    fn certificate_in(&self, kept: &Kept) -> Option<Certificate> {
        let kind = if kept.license_key.is_some() { OF_LICENSE } else { OF_TRIAL };
        Certificate::read(kept.certificate.as_deref()?, kind, self.asking.keys())
    }

    fn by_certificate(&self, kept: Option<Kept>) -> Standing {
        let mut kept = match kept.filter(|kept| kept.certificate.is_some()) {
            Some(kept) => kept,
            None => return Standing::no("no_license", true),
        };
        let certificate = match self.certificate_in(&kept) {
            Some(certificate) => certificate,
            None => return Standing::no("certificate_not_genuine", false),
        };
        if !certificate.is_of(&self.machine_id) {
            return Standing::no("certificate_of_another_machine", false);
        }
        let begun = certificate.iat as f64 * 1_000.0;
        let seen = TimeSeen { latest_millis: kept.time.latest_millis.max(begun), ..kept.time };
        let now = match seen.now(clock_millis(), Kept::written_millis(&self.folder)) {
            Some(now) => now,
            None => return Standing::no("clock_turned_back", false),
        };
        if now > kept.time.latest_millis {
            kept.time.latest_millis = now;
            // A full disk must not stop a program that may run.
            let _ = kept.write(&self.folder);
        }
        if now >= certificate.exp as f64 * 1_000.0 {
            return Standing::no("certificate_ended", false);
        }
        Standing::yes("certificate", &certificate.plan, Some(&certificate))
    }

    /// Handles an outage: the stored license counts, and without one the outage is answered.
    fn without(&self, kept: Option<Kept>, outcome: Standing) -> Standing {
        let standing = self.by_certificate(kept);
        if standing.reason == "no_license" { outcome } else { standing }
    }

    /// Drops the license after a refusal, so that only the service can allow it again, even if the write fails.
    fn drop_by(&self, kept: &Kept, heard: &Heard) {
        self.keep_if_possible(Kept { certificate: None, ..kept.clone() }, heard);
        let _ = KeptRequest::forget(&self.folder);
    }

    fn keep_if_possible(&self, kept: Kept, heard: &Heard) {
        let time = TimeSeen::of(heard.seconds, clock_millis());
        let _ = Kept { public_keys: self.to_keep(), time, ..kept }.write(&self.folder);
    }

    fn to_keep(&self) -> Vec<PublicKey> {
        if self.asking.pinned.is_some() { Vec::new() } else { self.asking.trusted.clone() }
    }
}

/// Returns true if the stored license has this key. A trial has no key.
fn is_of(kept: &Kept, license_key: &str) -> bool {
    kept.license_key.as_ref().map_or(false, |key| same_key(key, license_key))
}

fn refusal_in(heard: &Heard) -> Standing {
    let details: &Value = &heard.said["details"];
    Standing::refused(details["reason"].as_str().unwrap_or("refused"), details, heard.said["message"].as_str())
}

fn escaped(text: &str) -> String {
    let of = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(of).collect()
}

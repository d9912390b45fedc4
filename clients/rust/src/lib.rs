//! The license of a program on one machine, for Rust 1.65 and newer.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! # let key = "";
//! let options = muster_license::Options::new("https://licenses.example.com", "my-program");
//! let mut licenses = muster_license::Client::new(options)?;
//! let standing = licenses.activate(key)?; // once, after the purchase
//! let standing = licenses.check()?;       // at each start
//! let standing = licenses.trial()?;       // or without a key, for as long as the product may be tried
//! if !standing.may_run {
//!     eprintln!("{}", standing.message);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! It believes what is signed for its own question alone; all else is an outage, and then the certificate that it keeps decides. What
//! it keeps is the file of the client for Node, so both may be used beside each other. The standard library has neither Ed25519 nor
//! HTTPS nor JSON: ring, ureq and serde_json do that.

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

/// What an installer knows of itself.
pub struct Options {
    /// Where the license service is: https://licenses.example.com.
    pub url: String,
    /// The program's name. It is part of the machine's id, so keep it: with another one every machine is a new one.
    pub product: String,
    /// Which of the service's products this is, where it sells several.
    pub service_product: Option<String>,
    /// Where the license is kept; the user's own place for programs unless told.
    pub folder: Option<PathBuf>,
    /// The service's keys, built into the program; fetched over https and kept unless told.
    pub public_keys: Option<Vec<PublicKey>>,
    /// How long to try while the service does not answer, and a try more.
    pub patience: Duration,
    /// What else is to hold the license than this machine.
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

/// The license of one program on one machine. Its calls wait for the service. An error means that this machine could not do its part
/// (its disk, its id), and the program may not run by it.
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
            return Err(unfit("product must be a name of letters, digits and . _ -"));
        }
        let is_small = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "._-".contains(one);
        if options.service_product.as_ref().map_or(false, |product| !is_name(product, is_small)) {
            return Err(unfit("service_product must be a name of small letters, digits and . _ -"));
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

    /// This machine, as the service knows it.
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

    /// Makes this machine the license's. Where nothing answers, the same license that was kept before counts.
    pub fn activate(&mut self, license_key: &str) -> io::Result<Standing> {
        let kept = self.open()?;
        let standing = self.activate_by(kept.as_ref(), license_key)?;
        let same = kept.filter(|kept| standing.is_no_answer() && is_of(kept, license_key));
        Ok(same.map_or(standing.clone(), |kept| self.without(Some(kept), standing)))
    }

    /// Whether the program may run: by the service's word, and where it does not answer by the certificate.
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
            // The time of its slot was over; activating says whether there is another, or why not.
            return self.activate_by(Some(&kept), &key);
        }
        let state = heard.answer.header("license-state");
        Ok(if is_ok { Standing::no(reason_of_state(state), true) } else { refusal_in(&heard) })
    }

    /// The same without asking the service: at once, and as of the last time.
    pub fn check_offline(&mut self) -> io::Result<Standing> {
        let kept = self.open()?;
        Ok(self.by_certificate(kept))
    }

    /// Lets the program run without a key for as long as the product's trials last, once on each machine. Asking again goes on with
    /// the one that began. Where a license was activated here it is what check says.
    pub fn trial(&mut self) -> io::Result<Standing> {
        match self.open()? {
            Some(kept) if kept.license_key.is_some() => self.check(),
            kept => self.try_by(kept),
        }
    }

    /// For a machine that never comes online: a text to carry to the seller of the license, who answers it. Another request takes the
    /// place of this one. It needs public_keys, by which the answer is believed.
    pub fn request_offline(&mut self, license_key: &str) -> io::Result<String> {
        let nonce = random_hex(18)?;
        let text = Request { license_key, machine_id: &self.machine_id, nonce: &nonce }.text();
        KeptRequest { license_key: license_key.into(), nonce, is_answered: false }.write(&self.folder)?;
        Ok(text)
    }

    /// Takes in the answer to the request. The same answer once more changes nothing.
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
            // Its time was counted from the first time on: taking it in again makes it no younger.
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

    /// Gives the license back, for another machine: its reason is `released`, or why not.
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
        // Its own machine may go on with it; any other has nothing to keep.
        if refusal.reason != "transfers_exhausted" {
            self.drop_by(&kept, &heard);
        }
        Ok(refusal)
    }

    fn body_for(&self, license_key: &str) -> Vec<u8> {
        json!({ "licenseKey": license_key, "machineId": self.machine_id }).to_string().into_bytes()
    }

    /// Whether an answer is about this key and this machine.
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
        // A yes to this very question has all three; one that has not is another's.
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

    /// The service has said yes: what is kept is brought up to date, and the certificate where it is due.
    fn renewed(&mut self, kept: Kept, key: &str, heard: &Heard) -> io::Result<Standing> {
        let certificate = self.certificate_in(&kept).filter(|one| one.is_of(&self.machine_id));
        // Due when more than half of its life is over.
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

    /// The license's, or the trial's.
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
            // A disk that is full is no reason to stop a program that may run.
            let _ = kept.write(&self.folder);
        }
        if now >= certificate.exp as f64 * 1_000.0 {
            return Standing::no("certificate_ended", false);
        }
        Standing::yes("certificate", &certificate.plan, Some(&certificate))
    }

    /// Where there was no answer: what was kept counts, and else why there was none.
    fn without(&self, kept: Option<Kept>, outcome: Standing) -> Standing {
        let standing = self.by_certificate(kept);
        if standing.reason == "no_license" { outcome } else { standing }
    }

    /// From here on it takes a yes of the service. What cannot be kept is a refusal all the same.
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

/// Whether what is kept is of this key; a trial is of none.
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

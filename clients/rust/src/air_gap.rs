//! Activation of offline machines: people carry a request to the seller of the license and the answer back. The answer is valid
//! only for the nonce, the key and the machine of its request.

use crate::signed::{mark_of, read_signed, to_url, whole, Certificate, PublicKey, OF_LICENSE};
use crate::standing::{same_key, Standing};
use serde_json::json;

pub(crate) struct Request<'a> {
    pub license_key: &'a str,
    pub machine_id: &'a str,
    pub nonce: &'a str,
}

impl Request<'_> {
    pub fn text(&self) -> String {
        let asked = json!({ "licenseKey": self.license_key, "machineId": self.machine_id, "nonce": self.nonce });
        format!("licreq1.{}", to_url(asked.to_string().as_bytes()))
    }
}

pub(crate) enum Said {
    Granted { license_key: String, text: String, certificate: Certificate, seconds: i64 },
    /// The service itself refused this request.
    Refused(Standing),
    /// The answer is not from the service or is for another request.
    Foreign(Standing),
}

/// Reads and verifies the answer to a request.
pub(crate) fn answer_to(asked: &Request, text: &str, keys: &[PublicKey]) -> Said {
    let untrusted = || Said::Foreign(Standing::no("untrusted", false));
    let said = match read_signed(text.trim(), "licans1", keys) {
        Some(said) => said,
        None => return untrusted(),
    };
    let seconds = match whole(&said["iat"]) {
        Some(seconds) => seconds,
        None => return untrusted(),
    };
    let key = said["licenseKey"].as_str().filter(|key| same_key(key, asked.license_key));
    let is_own = said["nonce"] == asked.nonce && said["machine"] == mark_of(asked.machine_id).as_str();
    let license_key = match key.filter(|_| is_own) {
        Some(key) => key.to_string(),
        None => return Said::Foreign(Standing::no("answer_of_another_request", false)),
    };
    if let Some(reason) = said["reason"].as_str() {
        return Said::Refused(Standing::refused(reason, &said, said["message"].as_str()));
    }
    let text = said["certificate"].as_str().unwrap_or("").to_string();
    match Certificate::read(&text, OF_LICENSE, keys).filter(|one| one.is_of(asked.machine_id)) {
        Some(certificate) => Said::Granted { license_key, text, certificate, seconds },
        None => untrusted(),
    }
}

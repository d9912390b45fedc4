//! The license state of a machine.

use crate::signed::{whole, Certificate};
use serde_json::Value;

/// The license state: may the program run, on which basis, and with which features.
#[derive(Clone, Debug)]
pub struct Standing {
    pub may_run: bool,
    /// A message for people.
    pub message: String,
    /// `active` or the reason of a refusal: `license_revoked`, `active_on_another_machine`, `certificate_ended`, `unreachable`, …
    pub reason: String,
    /// True if the service has refused. Otherwise the program may ask again.
    pub is_final: bool,
    /// The basis: `service` or `certificate`; empty if the program may not run.
    pub by: &'static str,
    pub plan: String,
    /// True for a trial without a key.
    pub is_trial: bool,
    /// The end of offline use, in seconds since 1970.
    pub offline_until: Option<i64>,
    features: Value,
}

fn message_of(reason: &str) -> &'static str {
    match reason {
        "no_license" => "No license was activated on this machine.",
        "unreachable" => "The license service does not answer.",
        "untrusted" => "What answered was not the license service.",
        "certificate_not_genuine" => "The certificate of this machine is not genuine.",
        "certificate_of_another_machine" => "The certificate is of another machine.",
        "certificate_ended" => "The certificate has ended, and the license service does not answer.",
        "clock_turned_back" => "The clock of this machine was turned back.",
        "answer_of_another_request" => "The response does not belong to a request of this machine, or it is outdated.",
        "not_activated" => "This license is not active on this machine.",
        "active_on_another_machine" => "This license is active on another machine.",
        "license_expired" => "This license has expired.",
        "license_suspended" => "This license is suspended.",
        "license_revoked" => "This license was revoked.",
        "trial_ended" => "The trial on this machine has ended.",
        "released" => "The license was given back.",
        _ => "The license service refused this license.",
    }
}

impl Standing {
    /// Returns true if a feature is on or its number is positive.
    pub fn has(&self, feature: &str) -> bool {
        self.features[feature] == true || self.limit(feature).map_or(false, |number| number > 0)
    }

    /// Returns the number of a feature; None if the license has no number for it.
    pub fn limit(&self, feature: &str) -> Option<i64> {
        whole(&self.features[feature])
    }

    pub(crate) fn no(reason: &str, is_final: bool) -> Standing {
        Standing {
            may_run: false,
            message: message_of(reason).into(),
            reason: reason.into(),
            is_final,
            by: "",
            plan: String::new(),
            is_trial: false,
            offline_until: None,
            features: Value::Null,
        }
    }

    pub(crate) fn yes(by: &'static str, plan: &str, certificate: Option<&Certificate>) -> Standing {
        Standing {
            may_run: true,
            message: format!("Licensed, plan {plan}, by the {by}."),
            reason: "active".into(),
            is_final: false,
            by,
            plan: plan.into(),
            is_trial: certificate.map_or(false, |one| one.is_of_trial),
            offline_until: certificate.map(|one| one.exp),
            features: certificate.map_or(Value::Null, |one| one.features.clone()),
        }
    }

    /// Makes a refusal with the message of the service, which also locates a typo.
    pub(crate) fn refused(reason: &str, why: &Value, message: Option<&str>) -> Standing {
        let standing = Standing::no(reason, why["retryable"] != true);
        Standing { message: message.map_or(standing.message, str::to_string), ..standing }
    }

    pub(crate) fn is_no_answer(&self) -> bool {
        self.reason == "unreachable" || self.reason == "untrusted"
    }
}

/// Returns the reason of a refused check. The refusal itself is signed; its reason comes from an unsigned header.
pub(crate) fn reason_of_state(state: &str) -> &'static str {
    match state {
        "unactivated" => "not_activated",
        "other_machine" => "active_on_another_machine",
        "expired" => "license_expired",
        "suspended" => "license_suspended",
        "revoked" => "license_revoked",
        _ => "refused",
    }
}

/// Compares two keys as leniently as the service parses them.
pub(crate) fn same_key(one: &str, other: &str) -> bool {
    bare(one) == bare(other)
}

fn bare(key: &str) -> String {
    let like = |symbol: char| match symbol.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let symbols: Vec<char> = key.chars().filter(char::is_ascii_alphanumeric).map(like).collect();
    // Drop the five-symbol prefix of the product, which people need not type.
    symbols[symbols.len().saturating_sub(25)..].iter().collect()
}

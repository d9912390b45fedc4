//! A small licensed program: try URL FOLDER and activate KEY, check, offline, release, trial, request KEY or answer FILE.
//! LICENSE_KEYS names a file with public keys of the service to pin.

use muster_license::{Client, Options, PublicKey};
use std::{env, fs, io, process, time::Duration};

fn pinned() -> io::Result<Option<Vec<PublicKey>>> {
    let name = match env::var("LICENSE_KEYS") {
        Ok(name) => name,
        Err(_) => return Ok(None),
    };
    let document: serde_json::Value = serde_json::from_str(&fs::read_to_string(name)?)?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_string();
    let keys = document["keys"].as_array().cloned().unwrap_or_default();
    Ok(Some(keys.iter().map(|key| PublicKey { x: text(&key["x"]), kid: text(&key["kid"]) }).collect()))
}

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let mut options = Options::new(&args[1], "license-demo");
    options.folder = Some(args[2].clone().into());
    options.patience = Duration::ZERO;
    options.public_keys = pinned()?;
    let mut licenses = Client::new(options)?;
    let standing = match args[3].as_str() {
        "activate" => licenses.activate(&args[4])?,
        "check" => licenses.check()?,
        "offline" => licenses.check_offline()?,
        "trial" => licenses.trial()?,
        "answer" => licenses.accept_offline(&fs::read_to_string(&args[4])?)?,
        "request" => {
            println!("{}", licenses.request_offline(&args[4])?);
            return Ok(());
        }
        _ => licenses.release()?,
    };
    println!("{}: {}", standing.reason, standing.message);
    process::exit(if standing.may_run { 0 } else { 1 });
}

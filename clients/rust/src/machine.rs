//! The machine ID, and the files of the stored license. The client for Node uses the same files.

use crate::signed::{PublicKey, TimeSeen};
use ring::{hmac, rand::SecureRandom, rand::SystemRandom};
use serde_json::{json, Value};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn random_hex(bytes: usize) -> io::Result<String> {
    let mut made = vec![0; bytes];
    SystemRandom::new().fill(&mut made).map_err(|_| io::Error::new(io::ErrorKind::Other, "the system gives no random bytes"))?;
    Ok(hex(&made))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn clock_millis() -> f64 {
    millis_of(SystemTime::now())
}

fn millis_of(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1_000.0)
}

/// Computes the machine ID: an HMAC of the program name with the system ID as key, which never leaves the machine.
pub(crate) fn machine_id_for(product: &str, folder: &Path) -> io::Result<String> {
    let own = match of_system()? {
        Some(id) => id,
        None => of_folder(folder)?,
    };
    let key = hmac::Key::new(hmac::HMAC_SHA256, own.as_bytes());
    Ok(hex(hmac::sign(&key, format!("license-client:{product}").as_bytes()).as_ref()))
}

fn of_system() -> io::Result<Option<String>> {
    if cfg!(target_os = "macos") {
        said("/usr/sbin/ioreg", &["-rd1", "-c", "IOPlatformExpertDevice"], "\"IOPlatformUUID\"").map(Some)
    } else if cfg!(windows) {
        // A 32-bit program sees a different registry view unless it requests the 64-bit one.
        let asked = ["query", r"HKLM\SOFTWARE\Microsoft\Cryptography", "/v", "MachineGuid", "/reg:64"];
        let root = std::env::var("SystemRoot").unwrap_or_else(|_| r"C:\Windows".into());
        said(&format!(r"{root}\System32\reg.exe"), &asked, "MachineGuid").map(Some)
    } else {
        Ok(id_in("/etc/machine-id".as_ref()).or_else(|| id_in("/var/lib/dbus/machine-id".as_ref())))
    }
}

/// Reads the ID on the line of that name. A missing ID is an error, because a machine with a temporarily different ID would lose
/// its license.
fn said(program: &str, args: &[&str], name: &str) -> io::Result<String> {
    let told = Command::new(program).args(args).output()?;
    let text = String::from_utf8_lossy(&told.stdout).to_lowercase();
    let line = text.lines().find(|line| line.contains(&name.to_lowercase())).unwrap_or("");
    let is_id = |word: &&str| word.len() == 36 && word.chars().all(|one| one.is_ascii_hexdigit() || one == '-');
    let unknown = || io::Error::new(io::ErrorKind::NotFound, "the operating system does not report a machine id");
    line.split(|one: char| !one.is_ascii_hexdigit() && one != '-').find(is_id).map(str::to_string).ok_or_else(unknown)
}

fn id_in(file: &Path) -> Option<String> {
    let id = fs::read_to_string(file).ok()?.trim().to_lowercase();
    let is_id = id.len() == 32 && id.bytes().all(|one| one.is_ascii_hexdigit()) && id.bytes().any(|one| one != b'0');
    is_id.then_some(id)
}

/// Creates a random ID once and stores it, for systems without an ID.
fn of_folder(folder: &Path) -> io::Result<String> {
    let file = folder.join("machine-id");
    if id_in(&file).is_none() {
        make_folder(folder)?;
        let draft = folder.join(format!("machine-id.{}", random_hex(8)?));
        write_new(&draft, &format!("{}\n", random_hex(16)?))?;
        // Another process may create it at the same time. The first file wins.
        let _ = fs::hard_link(&draft, &file);
        fs::remove_file(&draft)?;
    }
    id_in(&file).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the machine-id that is kept is none"))
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open: File = options.open(file)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()
}

/// Replaces a file atomically. A process that is killed during the write leaves the old file.
fn put(folder: &Path, name: &str, value: &Value) -> io::Result<()> {
    make_folder(folder)?;
    let draft = folder.join(format!("{name}.{}.{}", std::process::id(), random_hex(4)?));
    let done = write_new(&draft, &format!("{value:#}\n")).and_then(|()| fs::rename(&draft, folder.join(name)));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

/// Reads a file; null if it is missing or damaged.
fn get(folder: &Path, name: &str) -> io::Result<Value> {
    match fs::read(folder.join(name)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

fn remove(folder: &Path, name: &str) -> io::Result<()> {
    match fs::remove_file(folder.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

const LICENSE: &str = "license.json";
const REQUEST: &str = "request.json";

/// The stored license.
#[derive(Clone)]
pub(crate) struct Kept {
    /// The license key; None for a trial.
    pub license_key: Option<String>,
    /// The certificate; None after a refusal, so that the machine may not run until the service allows it.
    pub certificate: Option<String>,
    pub is_lent: bool,
    pub public_keys: Vec<PublicKey>,
    pub time: TimeSeen,
}

impl Kept {
    /// Reads the stored license; None if there is none or the file is damaged. The license must then be activated again.
    pub fn read(folder: &Path) -> io::Result<Option<Kept>> {
        let found = get(folder, LICENSE)?;
        let key = found.get("licenseKey");
        let is_key = key.map_or(false, |key| key.is_string() || key.is_null());
        let (ahead, latest) = (found["time"]["aheadMillis"].as_f64(), found["time"]["latestMillis"].as_f64());
        Ok(ahead.zip(latest).filter(|_| is_key).map(|(ahead_millis, latest_millis)| Kept {
            license_key: found["licenseKey"].as_str().map(str::to_string),
            certificate: found["certificate"].as_str().map(str::to_string),
            is_lent: found["isLent"] == true,
            public_keys: PublicKey::all_in(&found["publicKeys"]),
            time: TimeSeen { ahead_millis, latest_millis },
        }))
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let keys: Vec<Value> = self.public_keys.iter().map(PublicKey::written).collect();
        let time = json!({ "aheadMillis": self.time.ahead_millis, "latestMillis": self.time.latest_millis });
        let all = json!({
            "licenseKey": self.license_key, "certificate": self.certificate, "isLent": self.is_lent,
            "publicKeys": keys, "time": time,
        });
        put(folder, LICENSE, &all)
    }

    pub fn forget(folder: &Path) -> io::Result<()> {
        KeptRequest::forget(folder)?;
        remove(folder, LICENSE)
    }

    /// Returns the time of the last write: the latest time of the file and its folder; 0 if there is no file.
    pub fn written_millis(folder: &Path) -> f64 {
        let times = [folder.join(LICENSE), PathBuf::from(folder)].map(|path| fs::metadata(path).ok().map(|it| latest_of(&it)));
        match times {
            [Some(file), Some(of_folder)] => file.max(of_folder),
            _ => 0.0,
        }
    }
}

#[cfg(unix)]
fn latest_of(it: &fs::Metadata) -> f64 {
    use std::os::unix::fs::MetadataExt;
    // The change time of the inode counts, too, because no program can set it.
    let changed = it.ctime() as f64 * 1_000.0 + it.ctime_nsec() as f64 / 1_000_000.0;
    it.modified().map_or(0.0, millis_of).max(changed)
}

#[cfg(not(unix))]
fn latest_of(it: &fs::Metadata) -> f64 {
    it.modified().map_or(0.0, millis_of).max(it.created().map_or(0.0, millis_of))
}

/// The last carried request. Its answer may be accepted again, which changes nothing.
pub(crate) struct KeptRequest {
    pub license_key: String,
    pub nonce: String,
    pub is_answered: bool,
}

impl KeptRequest {
    pub fn read(folder: &Path) -> io::Result<Option<KeptRequest>> {
        let found = get(folder, REQUEST)?;
        let of = |name: &str| found[name].as_str().map(str::to_string);
        let is_answered = found["isAnswered"] == true;
        Ok(of("licenseKey").zip(of("nonce")).map(|(license_key, nonce)| KeptRequest { license_key, nonce, is_answered }))
    }

    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let all = json!({ "licenseKey": self.license_key, "nonce": self.nonce, "isAnswered": self.is_answered });
        put(folder, REQUEST, &all)
    }

    /// Deletes the request after a refusal or release, because earlier answers are then invalid.
    pub fn forget(folder: &Path) -> io::Result<()> {
        remove(folder, REQUEST)
    }
}

pub(crate) fn usual_folder(product: &str) -> PathBuf {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = of(if cfg!(windows) { "USERPROFILE" } else { "HOME" }).unwrap_or_default();
    let place = if cfg!(windows) {
        of("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local"))
    } else if cfg!(target_os = "macos") {
        home.join("Library").join("Application Support")
    } else {
        of("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local").join("state"))
    };
    place.join(product)
}

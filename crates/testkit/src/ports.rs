//! The real clock, ids, credentials and vault, for tests of crates that reach them as ports only.

use std::path::Path;
use std::sync::Arc;

use workforce_domain::cost::PriceTable;
use workforce_domain::port::{Clock, Ids, InstructionFiles, ObjectStore, Tokens, Vault};
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::instruction_files::DiskInstructionFiles;
use workforce_infra::objects::{Location, Objects};
use workforce_infra::tokens::RandomTokens;
use workforce_infra::vault::FileVault;

/// The clock of the operating system.
#[must_use]
pub fn clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// Ids that ascend.
#[must_use]
pub fn ids() -> Arc<dyn Ids> {
    Arc::new(UuidV7Ids::new(SystemClock))
}

/// Credentials made of randomness.
#[must_use]
pub fn tokens() -> Arc<dyn Tokens> {
    Arc::new(RandomTokens)
}

/// External instructions beneath `home`, of which `data` is the server's own.
#[must_use]
pub fn instruction_files(home: &Path) -> Arc<dyn InstructionFiles> {
    let allowed = [home.to_owned()];
    Arc::new(DiskInstructionFiles::new(home.join("data"), allowed))
}

/// Makes a named pipe, which no reader should wait on.
///
/// # Panics
/// When the system refuses.
#[track_caller]
pub fn make_fifo(path: &Path) {
    if let Err(error) = nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU) {
        panic!("{}: {error}", path.display());
    }
}

/// The prices that come with workforce.
///
/// # Panics
/// When they cannot be used.
#[must_use]
pub fn prices() -> Arc<PriceTable> {
    match workforce_infra::prices::shipped() {
        Ok(prices) => Arc::new(prices),
        Err(error) => panic!("the shipped prices: {error}"),
    }
}

/// A vault with a key of its own.
///
/// # Panics
/// When a key of the right length is refused.
#[must_use]
pub fn vault() -> Arc<dyn Vault> {
    match FileVault::from_text(&"5a".repeat(32)) {
        Ok(vault) => Arc::new(vault),
        Err(error) => panic!("a vault from a key of 32 bytes: {error}"),
    }
}

/// A place for the bytes of attachments, in a folder.
///
/// # Panics
/// When the folder cannot be used.
#[must_use]
pub fn objects(folder: &Path) -> Arc<dyn ObjectStore> {
    match Objects::open(&Location::Folder(folder.to_owned())) {
        Ok(objects) => Arc::new(objects),
        Err(error) => panic!("a place in {}: {error}", folder.display()),
    }
}

/// A vault with the master keys of the file at `path`, which is made when there is none.
///
/// # Panics
/// When the file cannot be used.
#[must_use]
pub fn vault_in(path: &Path) -> Arc<dyn Vault> {
    match FileVault::open(path) {
        Ok(vault) => Arc::new(vault),
        Err(error) => panic!("a vault in {}: {error}", path.display()),
    }
}

/// A vault with given master keys in hexadecimal.
///
/// # Panics
/// When one of them is no key.
#[must_use]
pub fn vault_of(current: &str, former: Option<&str>) -> Arc<dyn Vault> {
    match FileVault::from_texts(current, former) {
        Ok(vault) => Arc::new(vault),
        Err(error) => panic!("a vault from keys: {error}"),
    }
}

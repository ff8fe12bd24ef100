//! The master key of a server: where it comes from, whether it is the one of
//! the database, and what goes on in the background when it changes.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use workforce_app::secrets::master_key::{self, ResealError, ResealOptions, Resealed};
use workforce_domain::port::{Failure, KeySource, Store, Vault};
use workforce_infra::data_folder::MASTER_KEY;
use workforce_infra::vault::{FileVault, key_of};
use zeroize::Zeroizing;

/// The variable with the key that seals.
pub(crate) const CURRENT: &str = "WORKFORCE_MASTER_KEY";
/// The variable with a key that only opens.
const FORMER: &str = "WORKFORCE_MASTER_KEY_PREVIOUS";

/// How often it is looked for a change that has begun.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// After a failure it is tried again after so long.
const PAUSE: Duration = Duration::from_secs(10);
/// For how long the former key is kept where other servers, or transactions
/// that began before the change, might still seal with it.
const SETTLING: Duration = Duration::from_secs(60);

/// The vault with the keys from the environment, else from the data folder. A key is made for a
/// database in which nothing was ever sealed.
///
/// # Errors
/// When the key is missing that the database was sealed with; none is made then.
pub(crate) fn open_vault(data_dir: &Path, store: &dyn Store) -> anyhow::Result<Arc<dyn Vault>> {
    let file = data_dir.join(MASTER_KEY);
    if let Some(vault) = existing_vault(&file)? {
        return Ok(Arc::new(vault));
    }
    let canary = store
        .read(|reads| Ok::<_, Failure<Infallible>>(reads.sealed().canary()?))
        .context("the store failed")?;
    if let Some(canary) = canary {
        let key = key_of(&canary).map_or_else(|_| "unknown".to_owned(), |id| id.to_string());
        bail!(
            "the master key is missing (id {key}): the database was sealed with it. Put it into \
             {}, with mode 0600, or give it in {CURRENT}. No new key was made, since it would \
             open nothing",
            file.display()
        );
    }
    Ok(Arc::new(FileVault::open(&file)?))
}

/// The vault with the keys from the environment, else from the file, without making one:
/// `None` when there is neither.
///
/// # Errors
/// When what is there is no key, or may be read by others.
pub(crate) fn existing_vault(file: &Path) -> anyhow::Result<Option<FileVault>> {
    if let Some(current) = given(CURRENT) {
        return given_vault(&current).map(Some);
    }
    Ok(FileVault::open_existing(file)?)
}

/// The lines of a key file with the keys from the environment; `None` when there are none.
pub(crate) fn given_lines() -> Option<Zeroizing<String>> {
    let current = given(CURRENT)?;
    let former = given(FORMER).map(|former| format!("former {former}\n"));
    let lines = [current, "\n".to_owned(), former.unwrap_or_default()].concat();
    Some(Zeroizing::new(lines))
}

/// The fingerprints of all keys of a vault.
pub(crate) fn ids(vault: &dyn Vault) -> Vec<String> {
    let keys = [vec![vault.current_key()], vault.former_keys()].concat();
    keys.iter().map(ToString::to_string).collect()
}

// Not flags: arguments are seen by every process of the machine.
fn given(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn given_vault(current: &str) -> anyhow::Result<FileVault> {
    FileVault::from_texts(current, given(FORMER).as_deref())
        .with_context(|| format!("{CURRENT} or {FORMER}"))
}

/// Refuses a vault that is not the one of the database.
pub(crate) fn check(store: &dyn Store, vault: &dyn Vault) -> anyhow::Result<()> {
    store
        .write(|tx| master_key::check(tx, vault))
        .map_err(|failure| match failure {
            Failure::Refused(foreign) => anyhow::Error::new(foreign),
            Failure::Store(error) => anyhow::Error::new(error).context("the store failed"),
        })
}

/// Seals anew what is sealed under former keys, whenever there are any, also
/// those that a killed server left. Never ends.
pub(crate) async fn keep_resealed(store: Arc<dyn Store>, vault: Arc<dyn Vault>, is_alone: bool) {
    let mut is_logged = false;
    loop {
        if vault.former_keys().is_empty() {
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let resealed = in_background(&store, &vault, |store, vault| {
            master_key::reseal(store, vault, ResealOptions::default())
        });
        let resealed = match resealed.await {
            Ok(resealed) => resealed,
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "values are not sealed anew yet"
                );
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if resealed.damaged > 0 {
            tracing::error!(damaged = resealed.damaged, "sealed values open with no key");
        }
        if vault.key_source() == KeySource::Given {
            // The operator takes the former key away.
            if !is_logged || resealed.rewrapped > 0 {
                is_logged = true;
                tracing::info!(
                    rewrapped = resealed.rewrapped,
                    "everything is sealed under {CURRENT}; {FORMER} is not needed any more once \
                     every server has it so"
                );
            }
            tokio::time::sleep(SETTLING).await;
            continue;
        }
        if !is_alone {
            tokio::time::sleep(SETTLING).await;
        }
        forget(&store, &vault, resealed).await;
    }
}

async fn forget(store: &Arc<dyn Store>, vault: &Arc<dyn Vault>, resealed: Resealed) {
    let forgotten = in_background(store, vault, move |store, vault| {
        master_key::forget(store, vault, resealed)
    });
    match forgotten.await {
        Ok(true) => tracing::info!(
            rewrapped = resealed.rewrapped,
            current = %vault.current_key(),
            "the master key was changed; the former one is gone"
        ),
        Ok(false) => {}
        Err(error) => {
            tracing::error!(
                error = format!("{error:#}"),
                "the former master key stays for now"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }
}

async fn in_background<T: Send + 'static>(
    store: &Arc<dyn Store>,
    vault: &Arc<dyn Vault>,
    work: impl FnOnce(&dyn Store, &dyn Vault) -> Result<T, ResealError> + Send + 'static,
) -> anyhow::Result<T> {
    let (store, vault) = (Arc::clone(store), Arc::clone(vault));
    Ok(tokio::task::spawn_blocking(move || work(&*store, &*vault)).await??)
}

//! Whether an agent that is called by HTTP may be called. It is not.

use std::time::Duration;

use tokio::time::timeout;
use workforce_app::agents::HttpConfig;
use workforce_domain::Document;
use workforce_domain::adapter_check::{AdapterCheck, CheckName, CheckStatus};
use workforce_http_caller::{AddressRules, look_up};

use super::check_configuration;
use crate::adapter::http::{misconfiguration, no_url};
use crate::adapter::local::offload;
use crate::adapter::settings::env;
use crate::secret_resolution::Preview;
use crate::state::EngineState;

/// The longest look for a name.
const LIMIT: Duration = Duration::from_secs(20);
/// Settings of local programs, which a call has no use for.
const UNUSED: [&str; 9] = [
    "command",
    "args",
    "cwd",
    "stdin",
    "shell",
    "graceSec",
    "maxMemoryMb",
    "maxProcesses",
    "maxFileSizeMb",
];

pub(super) async fn check(state: &EngineState, preview: &Preview, check: &mut AdapterCheck) {
    let url = match url(preview) {
        Ok(url) => url,
        Err(fault) => return check_configuration(Some(fault), check),
    };
    check_use(&preview.config, check);
    let rules = AddressRules::allowing(state.config.http_allow.clone());
    let looked = offload(move || Ok(look_up(&url, rules)));
    let (status, message) = match timeout(LIMIT, looked).await {
        Ok(Ok(Ok(addresses))) => {
            let addresses: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            let message = format!("it leads to {}, which may be called", addresses.join(", "));
            (CheckStatus::Ok, message)
        }
        Ok(Ok(Err(refusal))) => (CheckStatus::Failed, refusal.to_string()),
        Ok(Err(error)) => (CheckStatus::Failed, error.to_string()),
        Err(_elapsed) => {
            let message = format!("its name is not looked up within {} s", LIMIT.as_secs());
            (CheckStatus::Failed, message)
        }
    };
    check.add(CheckName::Address, status, message);
}

/// Tells that the configuration can be used, but warns of settings that somebody may
/// rely on in vain.
fn check_use(config: &Document, check: &mut AdapterCheck) {
    let said: Vec<&str> = UNUSED
        .into_iter()
        .filter(|key| config.contains_key(*key))
        .collect();
    if said.is_empty() {
        return check_configuration(None, check);
    }
    let message = format!("the http adapter does not use {}", said.join(", "));
    check.add(CheckName::Configuration, CheckStatus::Warning, message);
}

/// The address of a configuration that can be used.
fn url(preview: &Preview) -> Result<String, String> {
    let settings = HttpConfig::read(&preview.config).map_err(|fault| misconfiguration(&fault))?;
    let variables = env(&preview.config).map_err(|fault| fault.to_string())?;
    // A variable without a value is told with the secrets.
    if preview.unresolved.is_empty() {
        let filled = settings.filled_headers(&variables);
        filled.map_err(|fault| misconfiguration(&fault))?;
    }
    let missing = || misconfiguration(&no_url());
    settings.url.ok_or_else(missing)
}

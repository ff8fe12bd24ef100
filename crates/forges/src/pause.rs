//! When a forge wants no more requests, and for how long.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ureq::http::{HeaderMap, StatusCode};

use crate::exchange::Answer;

/// What GitHub advises when a refusal names no time.
const UNNAMED: Duration = Duration::from_secs(60);
/// No forge means a longer one.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Pauses that are remembered; more are not looked after.
const REMEMBERED: usize = 1000;

/// Whose requests are counted: a forge, and the token of its requests.
pub(crate) type Account = (String, Option<[u8; 32]>);

/// The pauses that forges want. Who goes on asking meanwhile may be locked out.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Mutex<HashMap<Account, Instant>>);

impl Pauses {
    /// How long not to ask.
    pub(crate) fn left(&self, account: &Account) -> Option<Duration> {
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = pauses.get(account)?.checked_duration_since(Instant::now());
        if left.is_none() {
            pauses.remove(account);
        }
        left
    }

    /// Begins a pause.
    pub(crate) fn begin(&self, account: &Account, length: Duration) {
        let mut pauses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        pauses.retain(|_, end| *end > now);
        if let Some(end) = now.checked_add(length)
            && pauses.len() < REMEMBERED
        {
            pauses.insert(account.clone(), end);
        }
    }
}

/// The pause that an answer asks for because too much was asked.
pub(crate) fn wanted(answer: &Answer) -> Option<Duration> {
    let headers = &answer.headers;
    let told = retry_after(headers);
    match answer.status {
        StatusCode::TOO_MANY_REQUESTS => {}
        // GitHub refuses so as well.
        StatusCode::FORBIDDEN => {
            let tells = told.is_some() || is_used_up(headers) || tells_of_limit(&answer.body);
            if !tells {
                return None;
            }
        }
        _ => return None,
    }
    let reset = || is_used_up(headers).then(|| until_reset(headers)).flatten();
    Some(told.or_else(reset).unwrap_or(UNNAMED).min(LONGEST))
}

/// The pause that follows an answer that was the last one for now.
pub(crate) fn after_last(answer: &Answer) -> Option<Duration> {
    let headers = &answer.headers;
    let left = is_used_up(headers).then(|| until_reset(headers))??;
    Some(left.min(LONGEST))
}

/// The `Retry-After` of an answer: seconds, or a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = text(headers, "retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now(headers)?).unwrap_or_default())
}

/// GitHub writes `X-RateLimit-Remaining`, GitLab `RateLimit-Remaining`.
fn is_used_up(headers: &HeaderMap) -> bool {
    let names = ["x-ratelimit-remaining", "ratelimit-remaining"];
    let mut told = names.iter().filter_map(|name| text(headers, name));
    told.any(|left| left.trim() == "0")
}

fn until_reset(headers: &HeaderMap) -> Option<Duration> {
    let names = ["x-ratelimit-reset", "ratelimit-reset"];
    let mut told = names.iter().filter_map(|name| text(headers, name));
    let reset: u64 = told.find_map(|reset| reset.trim().parse().ok())?;
    let reset = UNIX_EPOCH.checked_add(Duration::from_secs(reset))?;
    // The count begins anew with the second after.
    let left = reset.duration_since(now(headers)?).unwrap_or_default();
    Some(left + Duration::from_secs(1))
}

/// The forge's clock: its instants are meant by that one, not by ours.
fn now(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(text(headers, "date")?).ok()
}

/// GitHub's secondary limits are told in words alone now and then.
fn tells_of_limit(body: &[u8]) -> bool {
    let start = &body[..body.len().min(2000)];
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    text.contains("rate limit")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

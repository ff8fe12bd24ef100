//! What the answer of an agent means (docs/heartbeats.md#http-adapter).

use std::time::{SystemTime, UNIX_EPOCH};

use ureq::http::StatusCode;
use workforce_agent_programs::{Conclusion, FailureClass, Outcome, ProgramFailure, RetryHint};

/// Of a body that comes with a failure so much is told.
const SHOWN_OF_BODY: usize = 300;

/// What an answer says of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The agent works on; it calls back when it is done.
    Accepted,
    /// The run has ended.
    Ended(Box<Conclusion>),
}

/// Judges an answer by its status. `body` is the beginning of what came with it.
pub(crate) fn judge(status: StatusCode, retry_after: Option<&str>, body: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(body);
    let outcome = match status.as_u16() {
        202 => return Verdict::Accepted,
        200..=299 => Outcome::Succeeded,
        300..=399 => failure(
            FailureClass::Other,
            &format!("the agent answered {status}: redirects are not followed"),
            None,
        ),
        code => {
            let class = class_of(code);
            let waits = matches!(
                class,
                FailureClass::ProviderLimit | FailureClass::Overloaded
            );
            let hint = retry_after.filter(|_| waits).and_then(retry_hint);
            failure(class, &with_body(status, &text), hint)
        }
    };
    let is_good = outcome == Outcome::Succeeded;
    let result = (is_good && !text.trim().is_empty()).then(|| text.into_owned());
    Verdict::Ended(Box::new(Conclusion::of(outcome, result)))
}

/// The end of a run whose agent could not be called.
pub(crate) fn not_called(reason: &str) -> Conclusion {
    Conclusion::of(failure(FailureClass::Unreachable, reason, None), None)
}

const fn class_of(code: u16) -> FailureClass {
    match code {
        401 | 403 => FailureClass::AuthRequired,
        429 => FailureClass::ProviderLimit,
        503 | 529 => FailureClass::Overloaded,
        500..=599 => FailureClass::ServerError,
        _ => FailureClass::Other,
    }
}

fn failure(class: FailureClass, message: &str, retry_after: Option<RetryHint>) -> Outcome {
    Outcome::Failed(ProgramFailure::told(class, message, retry_after))
}

fn with_body(status: StatusCode, body: &str) -> String {
    let body = body.trim();
    let shown = &body[..body.floor_char_boundary(SHOWN_OF_BODY)];
    match shown {
        "" => format!("the agent answered {status}"),
        shown => format!("the agent answered {status}: {shown}"),
    }
}

/// Reads a `Retry-After`: seconds, or a date.
fn retry_hint(value: &str) -> Option<RetryHint> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(RetryHint::After { seconds });
    }
    let date: SystemTime = httpdate::parse_http_date(value).ok()?;
    let since = date.duration_since(UNIX_EPOCH).ok()?;
    let unix_seconds = i64::try_from(since.as_secs()).ok()?;
    Some(RetryHint::At { unix_seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: u16, retry_after: Option<&str>, body: &str) -> Conclusion {
        let status = StatusCode::from_u16(status).unwrap();
        match judge(status, retry_after, body.as_bytes()) {
            Verdict::Ended(conclusion) => *conclusion,
            Verdict::Accepted => panic!("accepted"),
        }
    }

    fn failed(status: u16, retry_after: Option<&str>) -> (FailureClass, Option<RetryHint>) {
        match ended(status, retry_after, "why").outcome {
            Outcome::Failed(failure) => (failure.class, failure.retry_after),
            Outcome::Succeeded => panic!("{status} is a success"),
        }
    }

    #[test]
    fn success_keeps_its_text() {
        let done = ended(200, None, "all done");
        assert_eq!(done.outcome, Outcome::Succeeded);
        assert_eq!(done.result_text.as_deref(), Some("all done"));
        assert_eq!(ended(204, None, "").result_text, None);
        assert_eq!(
            judge(StatusCode::ACCEPTED, None, b"soon"),
            Verdict::Accepted
        );
    }

    #[test]
    fn failures_have_the_class_of_their_status() {
        for (status, class) in [
            (302, FailureClass::Other),
            (400, FailureClass::Other),
            (401, FailureClass::AuthRequired),
            (403, FailureClass::AuthRequired),
            (429, FailureClass::ProviderLimit),
            (500, FailureClass::ServerError),
            (503, FailureClass::Overloaded),
            (529, FailureClass::Overloaded),
        ] {
            assert_eq!(failed(status, None), (class, None), "{status}");
        }
        assert_eq!(ended(500, None, "secret plans").result_text, None);
    }

    #[test]
    fn limits_say_how_long_to_wait() {
        let after = RetryHint::After { seconds: 90 };
        assert_eq!(failed(429, Some(" 90 ")).1, Some(after.clone()));
        assert_eq!(failed(503, Some("90")).1, Some(after));
        let date = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let at = RetryHint::At {
            unix_seconds: 784_111_777,
        };
        assert_eq!(failed(429, date).1, Some(at));
        assert_eq!(failed(429, Some("soon")).1, None);
        assert_eq!(failed(500, Some("90")).1, None);
    }
}

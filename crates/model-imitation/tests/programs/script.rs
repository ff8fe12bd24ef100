//! What the tests of all programs play.

use workforce_model_imitation::{ErrorKind, Failure, ModelImitation, Reply, Rule, Script, Usage};

/// The usage of the two steps of [`reporting`], together.
pub(crate) const USAGE: Usage = Usage {
    input: 1500,
    cached: 2800,
    cache_write: 0,
    output: 65,
    reasoning: 17,
};

/// The program reports to the sink, and tells what it was answered and asked.
pub(crate) fn reporting(imitation: &ModelImitation) -> Script {
    let command = format!(
        "curl -sS -X POST --data done {}",
        imitation.sink_url("report")
    );
    let reports = Reply::shell(command).say("I will report.").usage(Usage {
        input: 1200,
        cached: 800,
        output: 40,
        reasoning: 12,
        ..Usage::default()
    });
    let tells = Reply::text("Turn {turn} of {prompts}: {result}").usage(Usage {
        input: 300,
        cached: 2000,
        output: 25,
        reasoning: 5,
        ..Usage::default()
    });
    Rule::new().then(reports).then(tells).into()
}

/// The program is refused.
pub(crate) fn refusing(kind: ErrorKind) -> Script {
    Rule::new().then(Failure::of(kind)).into()
}

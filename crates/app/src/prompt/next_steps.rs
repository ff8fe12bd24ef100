use workforce_domain::id::IssueId;
use workforce_domain::issue::IssueStatus;
use workforce_domain::run::RunKind;

use super::PromptInput;
use super::draft::Draft;
use super::reasons::advice;

/// What the agent is to do now.
pub(super) fn write(draft: &mut Draft, input: &PromptInput<'_>) {
    let claimed = input.claimed;
    let mut steps: Vec<String> = Vec::new();
    for advice in claimed.wake.reasons.iter().copied().filter_map(advice) {
        if !steps.iter().any(|step| step == advice) {
            steps.push(advice.to_owned());
        }
    }
    let status = input.facts.issue.as_ref().map(|facts| facts.issue.status());
    let reviews = input.facts.issue.as_ref().is_some_and(|it| it.reviews);
    match (claimed.run.kind, claimed.run.issue) {
        (RunKind::Execution, Some(issue)) if reviews => steps.extend(review(issue)),
        (RunKind::Execution, Some(issue)) if status == Some(IssueStatus::InReview) => {
            steps.extend(in_review(issue));
        }
        (RunKind::Execution, Some(issue)) => steps.extend(work_on(issue)),
        (RunKind::Consult, Some(issue)) => steps.extend(advise_on(issue)),
        (RunKind::General, _) | (_, None) => steps.extend(look_around(input)),
    }
    draft.section("what to do next");
    for (number, step) in (1..).zip(steps) {
        draft.line(&format!("{number}. {step}"));
    }
}

fn work_on(issue: IssueId) -> [String; 3] {
    [
        format!(
            "Check the issue out: `workforce api POST /api/issues/{issue}/checkout '{{}}'`. After \
a 409 do not try again: end the run."
        ),
        format!(
            "Do the work. Tell progress with `workforce api POST /api/issues/{issue}/comments \
'{{\"body\": \"...\"}}'`."
        ),
        format!(
            "Finish: `workforce api PATCH /api/issues/{issue} '{{\"status\": \"done\", \
\"comment\": \"...\"}}'`, or `in_review`, which hands it to its reviewer, or `blocked` with what you wait for."
        ),
    ]
}

fn review(issue: IssueId) -> [String; 2] {
    [
        "Look at what was done; do not check the issue out for that.".to_owned(),
        format!(
            "Then say in one call all that there is to say: `workforce api POST \
/api/issues/{issue}/reviews '{{\"verdict\": \"approved\", \"body\": \"...\"}}'`, or \
`changes_requested` with what is missing, on lines of files in `\"comments\": [{{\"path\": \
\"src/a.rs\", \"line\": 12, \"body\": \"...\"}}]`: the issue goes back to whoever did the work."
        ),
    ]
}

/// Whose review it is cannot be told: a reviewer may be the assignee, or not.
fn in_review(issue: IssueId) -> [String; 2] {
    [
        "The issue is in review; do not check it out to read it. If the work is yours, answer what \
was asked, and set `in_progress` only if there is more to do."
            .to_owned(),
        format!(
            "If you are to review it, look at what was done. Then `workforce api PATCH \
/api/issues/{issue} '{{\"status\": \"done\", \"comment\": \"...\"}}'`, or `in_progress` with a comment \
that says what is missing, and whoever did the work as `assigneeAgentId`. Remarks on lines of \
files go to `POST /api/issues/{issue}/reviews` before, all at once."
        ),
    ]
}

fn advise_on(issue: IssueId) -> [String; 2] {
    [
        format!(
            "You are asked for advice. Answer with `workforce api POST \
/api/issues/{issue}/comments '{{\"body\": \"...\"}}'`."
        ),
        "Then end the run. It may read and comment; it cannot check anything out (403 \
`consult_run`), and the work is not yours."
            .to_owned(),
    ]
}

fn look_around(input: &PromptInput<'_>) -> Vec<String> {
    let company = input.claimed.company.id;
    let mut steps = Vec::new();
    if input.facts.waiting.lines.is_empty() {
        steps.push(
            "No open issue is assigned to you. Do what the wake or your instructions ask for, and \
make up no work."
                .to_owned(),
        );
    } else {
        steps.push(
            "Take the most urgent issue that you can go on with, check it out, and work on that \
one alone."
                .to_owned(),
        );
    }
    steps.push(format!(
        "If agents report to you, look at their issues in review: `workforce api GET \
'/api/companies/{company}/issues?status=in_review'`. Yours are found with \
`assigneeAgentId=me`."
    ));
    steps.push("If there is nothing to do, end the run.".to_owned());
    steps
}

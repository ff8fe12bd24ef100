//! Which step is played.

use std::collections::HashMap;

use crate::conversation::Conversation;
use crate::script::{Script, carried};
use crate::step::{ErrorKind, Failure, Reply, Step};

/// What a request is chosen by.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) model: &'a str,
    pub(crate) key: &'a str,
    pub(crate) has_shell: bool,
}

/// What is played.
#[derive(Debug)]
pub(crate) enum Choice {
    /// The step of a rule, with its place in it.
    Turn(usize, Step),
    /// The answer to a side request.
    Side(Step),
    /// The key is not valid.
    BadKey,
}

/// Where a failure stands: in a rule, in the steps of the prompt, or as the side answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Rule(usize, usize),
    Carried(usize),
    Side,
}

/// How often failures were played that are to end at some time, each for one prompt.
#[derive(Debug, Default)]
pub(crate) struct Failures(HashMap<(Place, String), u32>);

impl Failures {
    /// Whether the failure is played once more; counts it.
    fn is_played(&mut self, failure: Failure, place: Place, prompt: &str) -> bool {
        let Some(times) = failure.times else {
            return true;
        };
        let played = self.0.entry((place, prompt.to_owned())).or_default();
        *played += 1;
        *played <= times
    }
}

/// # Errors
///
/// When the prompt carries steps that cannot be read.
pub(crate) fn choose(
    script: &Script,
    failures: &mut Failures,
    seen: &Seen<'_>,
) -> serde_json::Result<Choice> {
    if seen.key.is_empty() || script.bad_keys.is_in(seen.key) {
        return Ok(Choice::BadKey);
    }
    let prompt = seen.conversation.prompt();
    let carried = carried(prompt)?;
    let turn = seen.conversation.prompts.len();
    let rule = match &carried {
        Some(rule) => Some((None, rule)),
        None => (script.rules.iter().enumerate())
            .find(|(_, rule)| rule.fits(prompt, turn, seen.model, seen.key))
            .map(|(number, rule)| (Some(number), rule)),
    };
    let Some((number, rule)) = rule.filter(|(_, it)| seen.has_shell || it.without_tools) else {
        return Ok(Choice::Side(side(script, failures, prompt)));
    };
    let mut done = seen.conversation.rounds.len();
    for (index, step) in rule.steps.iter().enumerate() {
        let place = number.map_or(Place::Carried(index), |it| Place::Rule(it, index));
        let is_played = match step {
            Step::Failure(failure) => done == 0 && failures.is_played(*failure, place, prompt),
            Step::Reply(_) if done == 0 => true,
            Step::Reply(_) => {
                done -= 1;
                false
            }
        };
        if is_played {
            return Ok(Choice::Turn(index, step.clone()));
        }
    }
    let end = Reply::text("All steps are done.").into();
    Ok(Choice::Turn(rule.steps.len(), end))
}

fn side(script: &Script, failures: &mut Failures, prompt: &str) -> Step {
    match &script.side {
        Step::Failure(failure) if !failures.is_played(*failure, Place::Side, prompt) => {
            Script::default().side
        }
        step => step.clone(),
    }
}

impl Choice {
    pub(crate) fn into_parts(self) -> (Option<usize>, Step) {
        match self {
            Self::Turn(index, step) => (Some(index), step),
            Self::Side(step) => (None, step),
            Self::BadKey => (None, Failure::of(ErrorKind::Auth).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Entry;
    use crate::script::Rule;

    /// What is played after `rounds` rounds of tool results, by its place and text or error.
    fn play(script: &Script, failures: &mut Failures, prompt: &str, rounds: usize) -> String {
        let mut entries = vec![Entry::User(vec![prompt.to_owned()])];
        for _ in 0..rounds {
            entries.extend([Entry::Assistant, Entry::ToolResult("r".to_owned())]);
        }
        let seen = Seen {
            conversation: &Conversation::of(entries),
            model: "m",
            key: "k",
            has_shell: true,
        };
        let (place, step) = choose(script, failures, &seen).unwrap().into_parts();
        match step {
            Step::Reply(reply) => format!("{place:?} {}{}", reply.text, reply.commands.concat()),
            Step::Failure(failure) => format!("{place:?} {:?}", failure.kind),
        }
    }

    #[test]
    fn steps_follow_the_rounds_of_tool_results() {
        let script = Script::from(
            Rule::new()
                .then(Failure::of(ErrorKind::Overloaded).times(1))
                .then(Reply::shell("a"))
                .then(Failure::of(ErrorKind::Server).times(1))
                .then(Reply::shell("b"))
                .then(Reply::text("c")),
        );
        let mut failures = Failures::default();
        let mut at = |rounds| play(&script, &mut failures, "p", rounds);
        let played = [at(0), at(0), at(1), at(1), at(2), at(3)];
        let expected = [
            "Some(0) Overloaded",
            "Some(1) a",
            "Some(2) Server",
            "Some(3) b",
            "Some(4) c",
            "Some(5) All steps are done.",
        ];
        assert_eq!(played, expected);
        assert_eq!(
            play(&script, &mut failures, "another", 0),
            "Some(0) Overloaded"
        );
    }

    #[test]
    fn a_failure_without_an_end_is_played_again_and_again() {
        let script = Script::from(Rule::new().then(Failure::of(ErrorKind::Quota)));
        let mut failures = Failures::default();
        for _ in 0..3 {
            assert_eq!(play(&script, &mut failures, "p", 0), "Some(0) Quota");
        }
    }

    #[test]
    fn the_steps_of_a_prompt_go_before_the_rules_and_the_first_rule_before_the_others() {
        let rule = |text: &str| Rule::new().then(Reply::text(text));
        let script = Script::new()
            .rule(rule("a").for_prompt("^A"))
            .rule(rule("b").for_turn(2))
            .rule(rule("c").for_model("x").for_key("y"))
            .rule(rule("d"));
        let mut failures = Failures::default();
        let mut of = |prompt: &str| play(&script, &mut failures, prompt, 0);
        assert_eq!(of("A"), "Some(0) a");
        assert_eq!(of("B"), "Some(0) d");
        let carrying = format!("A {}", rule("own").as_line());
        assert_eq!(of(&carrying), "Some(0) own");
    }

    #[test]
    fn what_no_rule_fits_is_a_side_request() {
        let script = Script::from(Rule::new().for_prompt("x").then(Reply::text("a")));
        let mut failures = Failures::default();
        assert_eq!(play(&script, &mut failures, "y", 0), "None ok");
        let script = script.side(Failure::of(ErrorKind::Server).times(1));
        assert_eq!(play(&script, &mut failures, "y", 0), "None Server");
        assert_eq!(play(&script, &mut failures, "y", 0), "None ok");
    }
}

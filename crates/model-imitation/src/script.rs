//! What the imitation plays.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::pattern::{Pattern, allows};
use crate::step::{Reply, Step, Usage};

/// What stands before the list of steps that a prompt carries.
const MARK: &str = "#imitate ";

/// What the imitation plays, and for whom.
///
/// The default has no rules: a prompt may carry its own steps ([`Rule::as_line`]), and every other
/// request gets the side answer.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Script {
    pub(crate) rules: Vec<Rule>,
    pub(crate) side: Step,
    pub(crate) bad_keys: Pattern,
    pub(crate) models: Vec<String>,
}

impl Default for Script {
    fn default() -> Self {
        let usage = Usage {
            input: 10,
            output: 2,
            ..Usage::default()
        };
        Self {
            rules: Vec::new(),
            side: Reply::text("ok").usage(usage).into(),
            bad_keys: Pattern::new("invalid"),
            models: vec!["imitation".to_owned()],
        }
    }
}

impl Script {
    /// The default script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule. The first that fits a request is played.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Answers side requests with `step`: those that offer no shell tool (titles, summaries,
    /// routing), and those that no rule fits. A JSON schema that such a request asks for is obeyed
    /// whatever the text of the step is.
    #[must_use]
    pub fn side(mut self, step: impl Into<Step>) -> Self {
        self.side = step.into();
        self
    }

    /// Refuses the keys in which `expression` is found; "invalid" unless told otherwise. A request
    /// without a key is always refused.
    ///
    /// # Panics
    ///
    /// When it is no regular expression.
    #[must_use]
    #[track_caller]
    pub fn bad_keys(mut self, expression: &str) -> Self {
        self.bad_keys = Pattern::new(expression);
        self
    }

    /// Lists `names` as the models there are. A request may name any other too.
    #[must_use]
    pub fn models<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.models = names.into_iter().map(str::to_owned).collect();
        self
    }
}

impl From<Rule> for Script {
    fn from(rule: Rule) -> Self {
        Self::default().rule(rule)
    }
}

/// The steps of one turn, one for each call of the model, and the requests that they are for.
///
/// A step is found from the request alone, by how many rounds of tool results follow the last
/// prompt, so that restarts, retries and resumed sessions need no memory here. After the last step
/// the answer is the text "All steps are done.".
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    prompt: Option<Pattern>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Pattern>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Pattern>,
    pub(crate) without_tools: bool,
    pub(crate) steps: Vec<Step>,
}

impl Rule {
    /// A rule for every request, without steps.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: impl Into<Step>) -> Self {
        self.steps.push(step.into());
        self
    }

    /// Only for turns whose prompt has a match of `expression`.
    ///
    /// # Panics
    ///
    /// When it is no regular expression.
    #[must_use]
    #[track_caller]
    pub fn for_prompt(mut self, expression: &str) -> Self {
        self.prompt = Some(Pattern::new(expression));
        self
    }

    /// Only for one turn of a session: its first prompt is turn 1.
    #[must_use]
    pub fn for_turn(mut self, turn: usize) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Only for models whose name has a match of `expression`.
    ///
    /// # Panics
    ///
    /// When it is no regular expression.
    #[must_use]
    #[track_caller]
    pub fn for_model(mut self, expression: &str) -> Self {
        self.model = Some(Pattern::new(expression));
        self
    }

    /// Only for keys with a match of `expression`.
    ///
    /// # Panics
    ///
    /// When it is no regular expression.
    #[must_use]
    #[track_caller]
    pub fn for_key(mut self, expression: &str) -> Self {
        self.key = Some(Pattern::new(expression));
        self
    }

    /// Also for requests that offer no shell tool.
    #[must_use]
    pub fn without_tools(mut self) -> Self {
        self.without_tools = true;
        self
    }

    /// The line that lets a prompt carry these steps, whatever the script of the imitation is. The
    /// first such line of a prompt counts. To whom the rule applies is not part of it: it applies
    /// to that prompt.
    #[must_use]
    pub fn as_line(&self) -> String {
        format!("{MARK}{}", json!(self.steps))
    }

    pub(crate) fn of_steps(steps: Vec<Step>) -> Self {
        Self {
            steps,
            ..Self::default()
        }
    }

    pub(crate) fn fits(&self, prompt: &str, turn: usize, model: &str, key: &str) -> bool {
        allows(self.prompt.as_ref(), prompt)
            && self.turn.is_none_or(|it| it == turn)
            && allows(self.model.as_ref(), model)
            && allows(self.key.as_ref(), key)
    }
}

/// The steps that `prompt` carries; none when it carries none.
///
/// # Errors
///
/// When what follows the mark are no steps.
pub(crate) fn carried(prompt: &str) -> serde_json::Result<Option<Rule>> {
    let mut marked = prompt.match_indices(MARK);
    let list = marked.find_map(|(at, mark)| {
        let rest = &prompt[at + mark.len()..];
        rest.starts_with('[').then_some(rest)
    });
    let Some(list) = list else {
        return Ok(None);
    };
    // What follows the list is more of the prompt.
    let mut values = serde_json::Deserializer::from_str(list).into_iter::<Vec<Step>>();
    let steps = values.next().transpose()?;
    Ok(steps.map(Rule::of_steps))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::step::{ErrorKind, Failure};

    #[test]
    fn what_a_prompt_carries_is_what_was_written() {
        let rule = Rule::new()
            .then(
                Failure::of(ErrorKind::Overloaded)
                    .times(2)
                    .retry_after(Duration::from_secs(3)),
            )
            .then(Failure::of(ErrorKind::Status(418)))
            .then(
                Reply::shell("echo \"]\"")
                    .say("I look.")
                    .thinking("Hm.")
                    .arguments([("timeout", json!(5))]),
            )
            .then(Reply::shells(["a", "b"]).delay(Duration::from_millis(1500)))
            .then(Reply::text("done ]").drops());
        let line = rule.as_line();

        let read = carried(&format!("Do it.\n{line}\nThank you [1].")).unwrap();

        assert_eq!(json!(read.unwrap().steps), json!(rule.steps));
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn steps_may_be_written_by_hand() {
        let prompt = r#"#imitate [{"error":"rate_limit"},{"shell":"ls","delay":0.5},{"text":"{result}","usage":{"input":7}}]"#;
        let rule = carried(prompt).unwrap().unwrap();
        assert_eq!(rule.steps.len(), 3);
        assert!(carried("no steps").unwrap().is_none());
        assert!(carried("a line with #imitate in it").unwrap().is_none());
    }

    #[test]
    fn what_are_no_steps_is_refused_with_a_reason() {
        for (steps, reason) in [
            (r#"[{"sell":"ls"}]"#, "unknown field"),
            (r#"[{"say":"hello"}]"#, "one of `shell`, `text` and `error`"),
            (
                r#"[{"shell":"a","text":"b"}]"#,
                "one of `shell`, `text` and `error`",
            ),
            (r#"[{"error":"tired"}]"#, "ErrorKind"),
            (r#"[{"text":"a","delay":-1}]"#, "negative"),
            ("[1]", "invalid type"),
            ("[", "EOF"),
        ] {
            let refused = carried(&format!("#imitate {steps}")).unwrap_err();
            assert!(refused.to_string().contains(reason), "{steps}: {refused}");
        }
    }

    #[test]
    fn a_script_may_be_written_as_json() {
        let script: Script = serde_json::from_str(
            r#"{"rules":[{"match":"^Do","turn":2,"steps":[{"text":"a"}]}],"bad_keys":"bad"}"#,
        )
        .unwrap();
        assert!(script.rules[0].fits("Do it", 2, "m", "k"));
        assert!(!script.rules[0].fits("Do it", 1, "m", "k"));
        assert!(!script.rules[0].fits("Then do it", 2, "m", "k"));
        let refused = serde_json::from_str::<Script>(r#"{"rules":[{"match":"("}]}"#);
        assert!(refused.unwrap_err().to_string().contains("regex"));
    }
}

//! Forms: what was sent becomes the command that the interface takes, under the same names, and
//! comes back with what is wrong with it.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use workforce_app::Code;
use workforce_http::door::{self, Visit};
use workforce_http::problem::Problem;

use crate::pages::label;

/// The hidden field under which the same form is taken once.
const KEY: &str = "key";

/// How a field of a form becomes one of a command.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A text; left out when it is empty.
    Text,
    /// A text; `null` when it is empty.
    OrNull,
    /// An amount in dollars, as cents; left out when it is empty.
    Dollars,
    /// The same; 0, which is no limit, when it is empty.
    Limit,
    /// Ticked or not.
    Switch,
    /// Ticked; left out when it is not.
    Ticked,
    /// All values that were chosen, as a list.
    Several,
    /// A size in MiB, as bytes; `null` when it is empty.
    Mebibytes,
    /// A text with all of its blanks; left out when it was not sent.
    Exact,
}

/// What was sent with a form.
#[derive(Clone, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
}

impl Form {
    /// What was sent; nothing of what is no form.
    pub(crate) fn of(visit: &Visit) -> Self {
        let fields = serde_html_form::from_bytes(visit.form());
        Self {
            fields: fields.unwrap_or_default(),
        }
    }

    /// A field without the blanks around it; empty when it was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        let mut found = self.fields.iter().filter(|(its, _)| its == name);
        found.next().map_or("", |(_, value)| value.trim())
    }

    /// All values of a field.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.fields.iter().filter(move |(its, _)| its == name);
        found.map(|(_, value)| value.trim())
    }

    /// A field with all of its blanks, with lines that end as those of files do; `None` when it
    /// was not sent.
    pub(crate) fn exact(&self, name: &str) -> Option<String> {
        let found = self.fields.iter().find(|(its, _)| its == name);
        // Browsers end lines as the network does.
        found.map(|(_, value)| value.replace("\r\n", "\n"))
    }

    /// The same form with another value in a field.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.retain(|(its, _)| its != name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same form without the fields of these names, which no page may show again.
    pub(crate) fn without(mut self, is_hidden: impl Fn(&str) -> bool) -> Self {
        self.fields.retain(|(name, _)| !is_hidden(name));
        self
    }

    /// Under which the same form is taken once.
    pub(crate) fn key(&self) -> Option<&str> {
        Some(self.text(KEY)).filter(|key| !key.is_empty())
    }

    /// The command that these fields make.
    ///
    /// # Errors
    /// The first field that is not what it must be.
    pub(crate) fn command<T: DeserializeOwned>(
        &self,
        fields: &[(&str, Kind)],
    ) -> Result<T, Problem> {
        door::command(&self.body(fields)?)
    }

    /// What these fields would be as the body of a call. A name with a slash is one within another.
    ///
    /// # Errors
    /// An amount that is none.
    pub(crate) fn body(&self, fields: &[(&str, Kind)]) -> Result<Value, Problem> {
        let mut command = Map::new();
        for (name, kind) in fields {
            let text = self.text(name);
            let value = match kind {
                Kind::Text | Kind::Dollars | Kind::Ticked if text.is_empty() => continue,
                Kind::OrNull | Kind::Mebibytes if text.is_empty() => Value::Null,
                Kind::Several => self.all(name).filter(|it| !it.is_empty()).collect(),
                Kind::Mebibytes => match text.parse::<u32>() {
                    Ok(size) => json!(i64::from(size) << 20),
                    Err(_) => return Err(fault(name, "must be a whole number of MiB")),
                },
                Kind::Exact => match self.exact(name) {
                    Some(text) => json!(text),
                    None => continue,
                },
                // Browsers end lines as the network does.
                Kind::Text | Kind::OrNull => json!(text.replace("\r\n", "\n")),
                Kind::Limit if text.is_empty() => json!(0),
                Kind::Dollars | Kind::Limit => match cents(text) {
                    Some(cents) => json!(cents),
                    None => {
                        let message = "must be an amount in dollars, such as 90 or 90.50";
                        return Err(fault(name, message));
                    }
                },
                Kind::Switch | Kind::Ticked => json!(!text.is_empty()),
            };
            put(&mut command, name, value);
        }
        Ok(Value::Object(command))
    }
}

/// Puts a value where a name with slashes leads to.
pub(crate) fn put(object: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('/') {
        None => {
            object.insert(name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let within = object.entry(outer).or_insert_with(|| json!({}));
            if let Value::Object(within) = within {
                put(within, inner, value);
            }
        }
    }
}

/// A fault at a field of a form.
pub(crate) fn fault(field: &str, message: &str) -> Problem {
    let pointer = format!("/{field}");
    door::fault(Code::InvalidField, &pointer, message)
}

/// An amount of dollars in cents.
pub(crate) fn cents(text: &str) -> Option<i64> {
    let text = text.trim_start_matches('$').replace(',', "");
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || part.len() > 2 || !is_number(whole) || !is_number(part) {
        return None;
    }
    // Two digits after the point, whatever was written.
    format!("{whole}{part:0<2}").parse().ok()
}

/// A form as a page shows it: empty, or with what was typed and what is wrong with it.
#[derive(Clone, Default)]
pub(crate) struct Filled {
    form: Form,
    /// Under which it is taken once.
    pub(crate) key: String,
    /// Why it was refused.
    pub(crate) refusal: Option<Refusal>,
}

/// Why a form was refused.
#[derive(Clone)]
pub(crate) struct Refusal {
    /// The sentence.
    pub(crate) detail: String,
    /// The code, for whoever looks it up.
    pub(crate) code: String,
    /// The fields that are wrong, and how.
    pub(crate) faults: Vec<(String, String)>,
}

/// What pages call fields whose name does not say it.
const CALLED: [(&str, &str); 9] = [
    ("budgetMonthlyCents", "Limit of a month"),
    ("assigneeAgentId", "Assignee"),
    ("parentId", "Part of"),
    ("body", "Comment"),
    ("typed", "Confirmation"),
    ("confirm", "Confirmation"),
    ("reportsTo", "Manager"),
    ("cwd", "Folder"),
    ("repoUrl", "Repository"),
];

impl Refusal {
    /// The fields that are wrong: each with what pages call it, and how it is wrong.
    pub(crate) fn told(&self) -> impl Iterator<Item = (&str, String, &str)> {
        let faults = self.faults.iter();
        faults.map(|(field, message)| (field.as_str(), called(field), message.as_str()))
    }
}

/// What the form of an agent or a page calls a field, or else its own name in words.
fn called(field: &str) -> String {
    if let Some(word) = label(field) {
        return word.to_owned();
    }
    let name = field.rsplit('/').next().unwrap_or(field);
    if let Some((_, word)) = CALLED.iter().find(|(known, _)| *known == name) {
        return (*word).to_owned();
    }
    let mut words = String::new();
    for letter in name.chars() {
        match letter {
            letter if words.is_empty() => words.extend(letter.to_uppercase()),
            letter if letter.is_uppercase() => {
                words.push(' ');
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
    }
    words
}

impl Filled {
    /// A form that nobody filled in yet.
    pub(crate) fn blank(visit: &Visit) -> Self {
        Self {
            key: visit.new_key(),
            ..Self::default()
        }
    }

    /// The same under a key that another form of the page has as well.
    pub(crate) fn with_key(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            ..Self::default()
        }
    }

    /// A form with these values.
    pub(crate) fn of(form: Form, visit: &Visit) -> Self {
        Self {
            form,
            key: visit.new_key(),
            refusal: None,
        }
    }

    /// The form itself.
    pub(crate) const fn form(&self) -> &Form {
        &self.form
    }

    /// The same with other values.
    pub(crate) fn with_form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// A form that was refused.
    pub(crate) fn refused(form: Form, problem: &Problem, visit: &Visit) -> Self {
        Self {
            // What is sent next is another form.
            key: visit.new_key(),
            refusal: Some(Refusal::of(problem)),
            form,
        }
    }

    /// What stands in a field.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.form.text(name)
    }

    /// The same form with what is so now in these fields, unless one of them was sent.
    pub(crate) fn showing(mut self, present: &[(&str, String)]) -> Self {
        let is_sent = |(name, _): &(&str, String)| self.has_any(name);
        if !present.iter().any(is_sent) {
            let fields = present.iter();
            let fields = fields.map(|(name, value)| ((*name).to_owned(), value.clone()));
            self.form.fields.extend(fields);
        }
        self
    }

    /// Whether anything was chosen.
    pub(crate) fn has_any(&self, name: &str) -> bool {
        self.form.all(name).next().is_some()
    }

    /// Whether this is one of what was chosen.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.form.all(name).any(|it| it == value)
    }

    /// Whether this is what was chosen or ticked.
    pub(crate) fn is(&self, name: &str, value: &str) -> bool {
        self.form.text(name) == value
    }

    /// What is wrong with a field.
    pub(crate) fn fault(&self, name: &str) -> Option<&str> {
        let faults = &self.refusal.as_ref()?.faults;
        let found = faults.iter().find(|(field, _)| field == name);
        found.map(|(_, message)| message.as_str())
    }
}

impl Refusal {
    fn of(problem: &Problem) -> Self {
        let faults = match problem.details() {
            Some(Value::Array(faults)) => faults.iter().filter_map(of_field).collect(),
            Some(fault) => of_field(fault).into_iter().collect(),
            None => Vec::new(),
        };
        Self {
            detail: sentence(problem.detail()),
            code: problem.code().to_string(),
            faults,
        }
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let sentence: String = first.chain(letters).collect();
    match sentence.ends_with(['.', '?', '!']) {
        true => sentence,
        false => sentence + ".",
    }
}

fn of_field(fault: &Value) -> Option<(String, String)> {
    let field = fault.get("pointer")?.as_str()?.strip_prefix('/')?;
    let message = fault.get("message").and_then(Value::as_str);
    Some((
        field.to_owned(),
        message.unwrap_or("cannot be taken").to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_are_cents() {
        for (text, expected) in [
            ("90", Some(9000)),
            ("$1,234.5", Some(123_450)),
            ("0.07", Some(7)),
            ("1.005", None),
            ("-1", None),
            ("a", None),
            (".5", None),
            ("1.-5", None),
        ] {
            assert_eq!(cents(text), expected, "{text}");
        }
    }
}

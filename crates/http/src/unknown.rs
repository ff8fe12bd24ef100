//! What a request says that nobody reads (docs/access.md#unknown-fields).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::value::Error as ProbeError;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::json;
use workforce_app::Code;

use crate::problem::Problem;

/// So many are named.
const NAMED: usize = 10;
/// And so many characters of each.
const LENGTH: usize = 80;
/// Of a body so many are looked at.
pub(crate) const MAX_UNKNOWN: usize = 100;
/// Every body may have it.
const IDEMPOTENCY_KEY: &str = "/idempotencyKey";
/// Every query may have it.
pub(crate) const STRICT: &str = "strict";

/// A field or parameter that nobody reads.
#[derive(Clone, Debug)]
struct UnknownName {
    /// As a fault points at it: `/field` or `?parameter`.
    pointer: String,
    did_you_mean: Option<String>,
}

impl UnknownName {
    fn new<'a>(pointer: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let did_you_mean = meant(name, known).map(str::to_owned);
        Self {
            pointer: clipped(pointer),
            did_you_mean,
        }
    }

    /// Whether a limit or a move was meant, which nobody may drop.
    fn is_grave(&self) -> bool {
        self.did_you_mean.as_deref().is_some_and(|meant| {
            let meant = meant.to_ascii_lowercase();
            ["budget", "cents", "status"]
                .iter()
                .any(|word| meant.contains(word))
        })
    }
}

/// What is noted while a request is read.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    fields: Mutex<Vec<UnknownName>>,
    asked: Arc<Asked>,
}

/// The parameters that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<BTreeSet<String>>);

impl Asked {
    pub(crate) fn note(&self, name: &str) {
        let mut asked = lock(&self.0);
        if !asked.contains(name) {
            asked.insert(name.to_owned());
        }
    }
}

impl Unknown {
    pub(crate) fn asked(&self) -> Arc<Asked> {
        Arc::clone(&self.asked)
    }

    /// Notes fields of a body that was read as `T`, each as its pointer.
    pub(crate) fn note_fields<T: DeserializeOwned>(&self, pointers: Vec<String>) {
        if pointers.is_empty() {
            return;
        }
        let known = fields_of::<T>();
        let unknown = pointers.into_iter().filter(|it| it != IDEMPOTENCY_KEY);
        lock(&self.fields).extend(unknown.map(|pointer| {
            let name = pointer.trim_start_matches('/').to_owned();
            // Of what lies deeper it is not known what there could be.
            let known = known.iter().copied().filter(|_| !name.contains('/'));
            UnknownName::new(&pointer, &name, known)
        }));
    }

    /// Looks at the parameters `sent` of which none was asked for.
    ///
    /// # Errors
    /// `unknown_field` for what is like a budget, an amount or a status, and for everything where
    /// the caller wants that.
    pub(crate) fn check<'a>(
        &self,
        sent: impl Iterator<Item = &'a str>,
        is_strict: bool,
    ) -> Result<(), Problem> {
        let mut found = lock(&self.fields);
        {
            let asked = lock(&self.asked.0);
            let is_unknown = |name: &&str| *name != STRICT && !asked.contains(*name);
            for name in sent.filter(is_unknown).collect::<BTreeSet<_>>() {
                let known = asked.iter().map(String::as_str);
                found.push(UnknownName::new(&format!("?{name}"), name, known));
            }
        }
        let refused: Vec<&UnknownName> = found
            .iter()
            .filter(|unknown| is_strict || unknown.is_grave())
            .take(NAMED)
            .collect();
        if refused.is_empty() {
            return Ok(());
        }
        let mut details = Vec::new();
        for unknown in &refused {
            let mut fault = json!({ "pointer": unknown.pointer, "message": "is not known" });
            if let Some(meant) = &unknown.did_you_mean {
                fault["didYouMean"] = json!(meant);
            }
            details.push(fault);
        }
        let detail = told(refused.into_iter());
        Err(Problem::new(Code::UnknownField, detail).with(details.into()))
    }

    /// What the answer says of them, for a header; `None` when there is nothing to say.
    pub(crate) fn warning(&self) -> Option<String> {
        let found = lock(&self.fields);
        (!found.is_empty()).then(|| format!("ignored: {}", told(found.iter().take(NAMED))))
    }
}

fn told<'a>(names: impl Iterator<Item = &'a UnknownName>) -> String {
    let mut told = String::new();
    for name in names {
        if !told.is_empty() {
            told.push_str(", ");
        }
        told.push_str(&name.pointer);
        if let Some(meant) = &name.did_you_mean {
            let _infallible = write!(told, " (did you mean {meant}?)");
        }
    }
    told
}

/// A name as a header can have it.
fn clipped(name: &str) -> String {
    name.chars()
        .take(LENGTH)
        .flat_map(char::escape_default)
        .collect()
}

/// Which of the known names was probably meant: one that differs in a letter or two, or that the
/// name is the beginning of.
fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    if name.len() > LENGTH {
        return None;
    }
    let letters = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    let name = letters(name);
    let distance = |known: &str| {
        let known = letters(known);
        let longer = name.len().max(known.len());
        let typos = strsim::damerau_levenshtein(&name, &known);
        if typos <= (longer / SHORTEST).clamp(1, 2) {
            return Some(typos);
        }
        let begins = known.starts_with(&name) || name.starts_with(&known);
        (begins && name.len().min(known.len()) >= SHORTEST).then_some(typos)
    };
    let near = known.filter_map(|known| Some((distance(known)?, known)));
    near.min().map(|(_, known)| known)
}

/// The names of the fields of a struct; none for anything else.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // It never reads anything.
    let _probed = T::deserialize(Probe(&mut fields));
    fields
}

struct Probe<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = ProbeError;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, ProbeError> {
        Err(ProbeError::custom("a probe"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProbeError> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 6] = [
        "budgetMonthlyCents",
        "assigneeAgentId",
        "status",
        "title",
        "model",
        "id",
    ];

    #[test]
    fn what_was_probably_meant_is_found() {
        for (name, expected) in [
            ("budgetMonthlyCent", Some("budgetMonthlyCents")),
            ("budget", Some("budgetMonthlyCents")),
            ("budget_monthly_cents", Some("budgetMonthlyCents")),
            ("assignee", Some("assigneeAgentId")),
            ("statuss", Some("status")),
            ("staus", Some("status")),
            ("modle", Some("model")),
            ("Title", Some("title")),
            ("ie", Some("id")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(meant(name, KNOWN.into_iter()), expected, "{name}");
        }
    }

    #[test]
    fn the_fields_of_a_struct_are_known() {
        #[derive(serde::Deserialize)]
        #[expect(dead_code, reason = "nothing reads them")]
        struct Body {
            name: String,
            other: Option<u8>,
        }
        assert_eq!(fields_of::<Body>(), ["name", "other"]);
        assert_eq!(fields_of::<String>(), [""; 0]);
    }
}

//! Reading query parameters: what is sent twice or malformed is refused.

use std::str::FromStr;
use std::sync::Arc;

use actix_web::web;
use workforce_app::Code;
use workforce_domain::issue::IssueRef;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::time::Timestamp;

use crate::problem::Problem;
use crate::unknown::Asked;

/// The decoded parameters of a query string.
#[derive(Debug)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    asked: Arc<Asked>,
}

impl Query {
    /// Decodes a query string. Whatever is asked for is noted in `asked`.
    ///
    /// # Errors
    /// `invalid_request` when a parameter holds a NUL character.
    pub(crate) fn parse(text: &str, asked: Arc<Asked>) -> Result<Self, Problem> {
        let pairs = web::Query::<Vec<(String, String)>>::from_query(text)
            .map_err(|error| Problem::new(Code::InvalidRequest, error.to_string()))?
            .into_inner();
        match pairs.iter().find(|(_, value)| value.contains('\0')) {
            Some((name, _)) => Err(fault(name, "must not contain a NUL character")),
            None => Ok(Self { pairs, asked }),
        }
    }

    /// True when a parameter is sent, even an empty one.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.asked.note(name);
        self.pairs.iter().any(|(key, _)| key == name)
    }

    /// The names that were sent.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a parameter without the blanks around it; an empty one
    /// counts as absent.
    ///
    /// # Errors
    /// `invalid_request` when it is sent twice.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let text = self.exact(name)?.map(str::trim);
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// The text of a parameter as it was sent, for what means something else
    /// without its blanks; an empty one counts as absent.
    ///
    /// # Errors
    /// `invalid_request` when it is sent twice.
    pub(crate) fn exact(&self, name: &str) -> Result<Option<&str>, Problem> {
        self.asked.note(name);
        let mut values = self.pairs.iter().filter(|(key, _)| key == name);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(fault(name, "must be sent once only")),
            (value, None) => Ok(value
                .map(|(_, value)| value.as_str())
                .filter(|value| !value.is_empty())),
        }
    }

    /// A parameter in the form that `T` reads.
    ///
    /// # Errors
    /// `invalid_request` when it is malformed.
    pub(crate) fn value<T: FromStr>(&self, name: &str, form: &str) -> Result<Option<T>, Problem> {
        self.text(name)?
            .map(|text| {
                text.parse()
                    .map_err(|_malformed| fault(name, &format!("must be {form}")))
            })
            .transpose()
    }

    /// An id.
    ///
    /// # Errors
    /// `invalid_request` when it is malformed.
    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem> {
        self.value(name, "an id")
    }

    /// An issue, named by id or identifier.
    ///
    /// # Errors
    /// `invalid_request` when it can be neither.
    pub(crate) fn issue(&self, name: &str) -> Result<Option<IssueRef>, Problem> {
        self.text(name)?
            .map(|text| {
                IssueRef::parse(text)
                    .ok_or_else(|| fault(name, "must be an issue's id or identifier"))
            })
            .transpose()
    }

    /// Ids, separated by commas, each once; none when absent.
    ///
    /// # Errors
    /// `invalid_request` when one is malformed.
    pub(crate) fn ids<T: FromStr + PartialEq>(&self, name: &str) -> Result<Vec<T>, Problem> {
        let mut ids = Vec::new();
        for text in self
            .text(name)?
            .into_iter()
            .flat_map(|text| text.split(','))
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let id = text
                .parse()
                .map_err(|_malformed| fault(name, "must be ids, separated by commas"))?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        Ok(ids)
    }

    /// A switch; absent means `default`.
    ///
    /// # Errors
    /// `invalid_request` when it is neither true nor false.
    pub(crate) fn flag(&self, name: &str, default: bool) -> Result<bool, Problem> {
        match self.text(name)? {
            None => Ok(default),
            Some("true" | "1") => Ok(true),
            Some("false" | "0") => Ok(false),
            Some(_) => Err(fault(name, "must be true or false")),
        }
    }

    /// An instant.
    ///
    /// # Errors
    /// `invalid_request` when it is malformed.
    pub(crate) fn instant(&self, name: &str) -> Result<Option<Timestamp>, Problem> {
        self.text(name)?
            .map(|text| Timestamp::parse(text).map_err(|error| fault(name, &error.to_string())))
            .transpose()
    }

    /// One word of a vocabulary.
    ///
    /// # Errors
    /// `invalid_request` when it is not one of its words.
    pub(crate) fn word<W: StringEnum>(&self, name: &str) -> Result<Option<W>, Problem> {
        self.text(name)?.map(|text| known(name, text)).transpose()
    }

    /// Words of a vocabulary, separated by commas; none when absent.
    ///
    /// # Errors
    /// `invalid_request` when one is not of its words.
    pub(crate) fn words<W: StringEnum + PartialEq>(&self, name: &str) -> Result<Vec<W>, Problem> {
        let mut words = Vec::new();
        for text in self
            .text(name)?
            .into_iter()
            .flat_map(|text| text.split(','))
        {
            let text = text.trim();
            if !text.is_empty() {
                let word = known(name, text)?;
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        Ok(words)
    }
}

fn known<W: StringEnum>(name: &str, text: &str) -> Result<W, Problem> {
    W::parse(text).ok_or_else(|| {
        let words: Vec<_> = W::ALL.iter().map(|word| word.as_str()).collect();
        fault(name, &format!("must be one of {}", words.join(", ")))
    })
}

/// A fault of the parameter `name`.
pub(crate) fn fault(name: &str, message: &str) -> Problem {
    Problem::at(Code::InvalidRequest, &format!("?{name}"), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workforce_domain::id::AgentId;
    use workforce_domain::issue::IssueStatus;

    fn query(text: &str) -> Query {
        Query::parse(text, Arc::default()).unwrap()
    }

    #[test]
    fn words_are_separated_by_commas_and_trimmed() {
        let statuses: Vec<IssueStatus> = query("status=todo,%20blocked%20,todo,")
            .words("status")
            .unwrap();
        assert_eq!(statuses, [IssueStatus::Todo, IssueStatus::Blocked]);
        assert!(
            query("status=")
                .words::<IssueStatus>("status")
                .unwrap()
                .is_empty()
        );
        assert!(query("").words::<IssueStatus>("status").unwrap().is_empty());
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_name() {
        let refusals = [
            query("status=nope")
                .words::<IssueStatus>("status")
                .unwrap_err(),
            query("a=x").id::<AgentId>("a").unwrap_err(),
            query("a=maybe").flag("a", true).unwrap_err(),
            query("a=yesterday").instant("a").unwrap_err(),
            query("a=1&a=2").text("a").unwrap_err(),
            Query::parse("a=%00", Arc::default()).unwrap_err(),
        ];
        for problem in refusals {
            assert_eq!(problem.code(), Code::InvalidRequest);
            assert!(format!("{problem:?}").contains('?'), "{problem:?}");
        }
    }

    #[test]
    fn switches_have_a_default() {
        assert!(query("").flag("a", true).unwrap());
        assert!(query("a=1").flag("a", false).unwrap());
        assert!(!query("a=false").flag("a", true).unwrap());
    }
}

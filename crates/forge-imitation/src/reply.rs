use std::collections::BTreeMap;

use serde_json::Value;

use crate::world::World;

/// A request that is understood.
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    /// The path as it is described.
    pub(crate) template: &'a str,
    pub(crate) path: &'a BTreeMap<String, String>,
    pub(crate) query: &'a BTreeMap<String, String>,
    pub(crate) body: &'a Value,
    /// Where the web pages are, as in `http://127.0.0.1:3000`.
    pub(crate) web: &'a str,
}

/// What is answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) has_next: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            body,
            has_next: false,
        }
    }
}

impl Ask<'_> {
    pub(crate) fn of_path(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    pub(crate) fn of_query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// A text of the body; empty where there is none.
    pub(crate) fn of_body(&self, name: &str) -> String {
        let text = self.body.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    }

    /// The page of a list that is asked for, and whether another follows.
    pub(crate) fn page<T>(&self, world: &World, all: Vec<T>, size: &str) -> (Vec<T>, bool) {
        let number = |name| self.of_query(name).and_then(|it| it.parse::<usize>().ok());
        let size = number(size).unwrap_or(30).max(1);
        let size = world.page_limit.map_or(size, |limit| size.min(limit));
        let skipped = size * (number("page").unwrap_or(1).max(1) - 1);
        let has_next = all.len() > skipped + size;
        let page = all.into_iter().skip(skipped).take(size).collect();
        (page, has_next)
    }
}

use std::time::Duration;

/// Something that goes wrong, once or several times, with requests that it is meant for.
#[derive(Clone, Debug)]
pub struct Failure {
    pub(crate) what: What,
    method: Option<&'static str>,
    path: String,
    pub(crate) after_effect: bool,
    pub(crate) times: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
    Drop,
    Wait(Duration),
    Silence,
}

impl Failure {
    fn of(what: What) -> Self {
        Self {
            what,
            method: None,
            path: String::new(),
            after_effect: false,
            times: 1,
        }
    }

    /// Answers a status, with a document that says so.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::answer(status, &format!("{{\"message\":\"imitated {status}\"}}"))
    }

    /// Answers a status and a body.
    #[must_use]
    pub fn answer(status: u16, body: &str) -> Self {
        Self::of(What::Answer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_owned(),
        })
    }

    /// Answers a page, as gateways do.
    #[must_use]
    pub fn page() -> Self {
        Self::answer(200, "<!DOCTYPE html>\n<title>Sign in</title>")
    }

    /// Leads to another address.
    #[must_use]
    pub fn redirect(location: &str) -> Self {
        Self::status(302).header("location", location)
    }

    /// Closes the connection without an answer.
    #[must_use]
    pub fn drop_connection() -> Self {
        Self::of(What::Drop)
    }

    /// Answers as it should, but so much later.
    #[must_use]
    pub fn wait(time: Duration) -> Self {
        Self::of(What::Wait(time))
    }

    /// Never answers, and keeps the connection.
    #[must_use]
    pub fn silence() -> Self {
        Self::of(What::Silence)
    }

    /// With a header, where it is an answer.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let What::Answer { headers, .. } = &mut self.what {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Only for requests of this method whose path has this in it.
    #[must_use]
    pub fn on(mut self, method: &'static str, path: &str) -> Self {
        self.method = Some(method);
        path.clone_into(&mut self.path);
        self
    }

    /// So many times; once unless told.
    #[must_use]
    pub const fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Only after the forge did what it was asked.
    #[must_use]
    pub const fn after_effect(mut self) -> Self {
        self.after_effect = true;
        self
    }

    pub(crate) fn is_for(&self, method: &str, path: &str) -> bool {
        self.times > 0
            && self.method.is_none_or(|wanted| wanted == method)
            && path.contains(&self.path)
    }
}

//! From a request to its answer.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

use crate::description::Description;
use crate::failure::{Failure, What};
use crate::kind::ImitatedForge;
use crate::log::LoggedRequest;
use crate::reply::{Ask, Reply};
use crate::request::{Request, decoded, segments};
use crate::world::World;
use crate::{gitea, github, gitlab};

/// The imitated forge, as one request after the other finds it.
#[derive(Debug)]
pub(crate) struct Stage {
    kind: ImitatedForge,
    web: String,
    description: Description,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) tokens: Vec<String>,
    pub(crate) failures: Vec<Failure>,
    pub(crate) log: Vec<LoggedRequest>,
    pub(crate) complaints: Vec<String>,
}

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) delay: Duration,
}

impl Stage {
    pub(crate) fn new(kind: ImitatedForge, web: String) -> Self {
        Self {
            kind,
            web,
            description: kind.description(),
            state: Mutex::default(),
        }
    }

    pub(crate) const fn kind(&self) -> ImitatedForge {
        self.kind
    }

    pub(crate) fn web(&self) -> &str {
        &self.web
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request; none if the connection is to be closed.
    pub(crate) fn play(&self, request: &Request) -> Option<Answer> {
        let mut state = self.state();
        let path = request.path.strip_prefix(self.kind.root());
        let path = path.unwrap_or(&request.path).to_owned();
        let number = state.log.len();
        state.log.push(LoggedRequest {
            method: request.method.clone(),
            path: path.clone(),
            query: request.query.clone(),
            headers: request.headers.clone(),
            body: serde_json::from_slice(&request.body).ok(),
            status: None,
        });
        let answer = self.answer_or_fail(&mut state, request, &path);
        state.log[number].status = answer.as_ref().map(|answer| answer.status);
        answer
    }

    fn answer_or_fail(&self, state: &mut State, request: &Request, path: &str) -> Option<Answer> {
        let mut failures = state.failures.iter_mut();
        let failure = failures.find(|failure| failure.is_for(&request.method, path));
        let Some(failure) = failure else {
            return Some(self.answer(state, request, path));
        };
        failure.times -= 1;
        let failure = failure.clone();
        if failure.after_effect {
            self.answer(state, request, path);
        }
        match failure.what {
            What::Drop => None,
            What::Answer {
                status,
                headers,
                body,
            } => Some(Answer {
                status,
                headers,
                body,
                delay: Duration::ZERO,
            }),
            What::Wait(delay) => Some(Answer {
                delay,
                ..self.answer(state, request, path)
            }),
            What::Silence => Some(Answer {
                status: 504,
                headers: Vec::new(),
                body: String::new(),
                delay: Duration::MAX,
            }),
        }
    }

    fn answer(&self, state: &mut State, request: &Request, path: &str) -> Answer {
        let mut refused = self.header_faults(request);
        if !request.path.starts_with(self.kind.root()) {
            refused.push(format!("the interface is at {}", self.kind.root()));
        }
        if !refused.is_empty() {
            return self.complain(state, request, &refused);
        }
        if !self.knows_credential(state, request) {
            return self.finish(
                request,
                &Reply::new(401, self.refusal(401, "Bad credentials")),
            );
        }
        if let Some(location) = self.new_place(state, request, path) {
            let (status, message) = match (self.kind, request.method.as_str()) {
                (ImitatedForge::Gitea, _) | (ImitatedForge::GitHub, "POST") => {
                    (307, "Temporary Redirect")
                }
                (ImitatedForge::GitLab, "POST") => {
                    (405, "Non GET methods are not allowed for moved projects")
                }
                _ => (301, "Moved Permanently"),
            };
            let body = self.refusal(status, message);
            let mut answer = self.finish(request, &Reply::new(status, body));
            if status != 405 {
                answer.headers.push(("location".to_owned(), location));
            }
            return answer;
        }
        let segments = self.renamed_back(state, segments(path));
        let Some(found) = self.description.find(&request.method, &segments) else {
            let text = "no operation of this method and path is described".to_owned();
            return self.complain(state, request, &[text]);
        };
        let body: Option<Value> = match request.body.is_empty() {
            true => None,
            false => Some(serde_json::from_slice(&request.body).unwrap_or(Value::Null)),
        };
        let faults = found.request_faults(&request.query, body.as_ref());
        if !faults.is_empty() {
            return self.complain(state, request, &faults);
        }
        let ask = Ask {
            method: &request.method,
            template: found.template,
            path: &found.path,
            query: &request.query,
            body: body.as_ref().unwrap_or(&Value::Null),
            web: &self.web,
        };
        let reply = match self.kind {
            ImitatedForge::GitHub => github::answer(&mut state.world, &ask),
            ImitatedForge::GitLab => gitlab::answer(&mut state.world, &ask),
            ImitatedForge::Gitea => gitea::answer(&mut state.world, &ask),
        };
        let faults = found.answer_faults(reply.status, &reply.body);
        if !faults.is_empty() {
            let what = format!("its answer {}", reply.status);
            let lines = faults.iter().map(|fault| format!("{what}: {fault}"));
            let lines: Vec<String> = lines.collect();
            self.complain(state, request, &lines);
        }
        self.finish(request, &reply)
    }

    /// Notes what is not as it is described, and refuses it.
    fn complain(&self, state: &mut State, request: &Request, faults: &[String]) -> Answer {
        let text = format!("{} {}: {}", request.method, request.path, faults.join("; "));
        state.complaints.push(text.clone());
        self.finish(request, &Reply::new(400, self.refusal(400, &text)))
    }

    fn finish(&self, request: &Request, reply: &Reply) -> Answer {
        let body = reply.body.to_string();
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if reply.has_next {
            let page = request.query.get("page").and_then(|it| it.parse().ok());
            let next = page.unwrap_or(1) + 1;
            let link = format!("<{}{}?page={next}>; rel=\"next\"", self.web, request.path);
            headers.push(("link".to_owned(), link));
        }
        let mut status = reply.status;
        // Gitea gives its documents no tags.
        if status == 200 && self.kind != ImitatedForge::Gitea {
            let mut hasher = DefaultHasher::new();
            (&body, reply.has_next).hash(&mut hasher);
            let tag = format!("W/\"{:016x}\"", hasher.finish());
            if request.headers.get("if-none-match") == Some(&tag) {
                status = 304;
            }
            headers.push(("etag".to_owned(), tag));
        }
        Answer {
            status,
            headers,
            body: if status == 304 { String::new() } else { body },
            delay: Duration::ZERO,
        }
    }

    fn refusal(&self, status: u16, message: &str) -> Value {
        match self.kind {
            ImitatedForge::GitHub => github::refusal(status, message),
            ImitatedForge::GitLab => gitlab::refusal(&format!("{status} {message}")),
            ImitatedForge::Gitea => gitea::refusal(message, &self.web),
        }
    }

    /// What every request must say of itself.
    fn header_faults(&self, request: &Request) -> Vec<String> {
        let mut wanted = match self.kind {
            ImitatedForge::GitHub => vec![
                ("accept", "application/vnd.github+json"),
                ("x-github-api-version", "2022-11-28"),
            ],
            ImitatedForge::GitLab | ImitatedForge::Gitea => vec![("accept", "application/json")],
        };
        if !request.body.is_empty() {
            wanted.push(("content-type", "application/json"));
        }
        let value = |name: &str| request.headers.get(name).map_or("", String::as_str);
        let wrong = wanted.iter().filter(|(name, it)| value(name) != *it);
        let mut faults: Vec<String> = wrong
            .map(|(name, it)| format!("the header `{name}` is not `{it}`"))
            .collect();
        if value("user-agent").is_empty() {
            faults.push("the header `user-agent` is missing".to_owned());
        }
        faults
    }

    fn knows_credential(&self, state: &State, request: &Request) -> bool {
        let (name, before) = match self.kind {
            ImitatedForge::GitHub => ("authorization", "Bearer "),
            ImitatedForge::GitLab => ("private-token", ""),
            ImitatedForge::Gitea => ("authorization", "token "),
        };
        let value = request.headers.get(name);
        let token = value.and_then(|value| value.strip_prefix(before));
        token.is_some_and(|token| state.tokens.iter().any(|it| it == token))
    }

    /// Where a forge sends whoever asks for a repository by a former name. GitHub and GitLab lead
    /// to its number, Gitea to its name.
    fn new_place(&self, state: &State, request: &Request, path: &str) -> Option<String> {
        let (before, is_encoded) = match self.kind {
            ImitatedForge::GitHub | ImitatedForge::Gitea => ("/repos/", false),
            ImitatedForge::GitLab => ("/projects/", true),
        };
        let rest = path.strip_prefix(before)?;
        let mut repositories = state.world.repositories.iter();
        let (repository, rest) = repositories.find_map(|repository| {
            let mut names = repository.former_names.iter();
            let rest = names.find_map(|name| match is_encoded {
                true => rest.strip_prefix(&name.replace('/', "%2F")),
                false => rest.strip_prefix(name.as_str()),
            })?;
            Some((repository, rest))
        })?;
        let place = match self.kind {
            ImitatedForge::GitHub => format!("/repositories/{}", repository.id),
            ImitatedForge::GitLab => format!("/projects/{}", repository.id),
            ImitatedForge::Gitea => format!("/repos/{}", repository.full_name),
        };
        let root = self.kind.root();
        let query = &request.raw_query;
        let mark = if query.is_empty() { "" } else { "?" };
        Some(format!("{}{root}{place}{rest}{mark}{query}", self.web))
    }

    /// `/repositories/ID` stands for `/repos/OWNER/NAME`, and `/projects/ID` for the one with the
    /// path of the project.
    fn renamed_back(&self, state: &State, segments: Vec<String>) -> Vec<String> {
        let [first, id, rest @ ..] = segments.as_slice() else {
            return segments;
        };
        let mut repositories = state.world.repositories.iter();
        let Some(found) = repositories.find(|it| it.id.to_string() == *id) else {
            return segments;
        };
        let mut whole = match first.as_str() {
            "repositories" => vec!["repos".to_owned()],
            "projects" => vec!["projects".to_owned(), found.full_name.clone()],
            _ => return segments,
        };
        if first == "repositories" {
            whole.extend(found.full_name.split('/').map(str::to_owned));
        }
        whole.extend(rest.iter().cloned());
        whole
    }
}

/// The values of a query by their names.
pub(crate) fn query(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

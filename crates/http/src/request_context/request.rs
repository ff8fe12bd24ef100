use std::collections::HashMap;
use std::str::FromStr;

use actix_web::web::Bytes;
use actix_web::{HttpMessage, HttpRequest};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use workforce_app::Code;
use workforce_app::authenticate::Presented;
use workforce_domain::id::Id;
use workforce_domain::page::PageRequest;
use workforce_domain::ticket::StreamTicket;

use crate::body;
use crate::headers::{IDEMPOTENCY_KEY, RUN_ID};
use crate::idempotency::IdempotentRequest;
use crate::paging;
use crate::precondition::{self, IF_MATCH};
use crate::problem::Problem;
use crate::query::{Query, fault};
use crate::request_id::RequestId;
use crate::router::PathParameters;
use crate::streams::EVENT_STREAM;
use crate::unknown::{MAX_UNKNOWN, STRICT, Unknown};

/// The headers that name a run, the own one first (docs/access.md#run-header).
const RUN_HEADERS: [&str; 2] = [RUN_ID, "X-Paperclip-Run-Id"];

/// The header in which a reader of events says what it has seen.
const LAST_EVENT_ID: &str = "Last-Event-ID";

/// The parameter that a ticket comes in.
pub(crate) const TICKET: &str = "ticket";

/// A body of which no field is known.
#[derive(Deserialize)]
struct Nothing {}

/// What a request says, free of the connection it came on.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) request_id: String,
    pub(crate) body: Bytes,
    parameters: PathParameters,
    authorization: Option<String>,
    run_header: Option<String>,
    pub(super) idempotency_key: Option<String>,
    if_match: Option<String>,
    last_event_id: Option<String>,
    accept: Option<String>,
    /// The session of the board that a visit of a page brings.
    pub(super) session: Option<String>,
    /// The ticket that was used up for this request.
    pub(super) ticket: Option<StreamTicket>,
    /// Whether what is answered belongs to the credential, not to its owner.
    pub(super) is_of_credential: bool,
    /// Whether what is not known is refused.
    is_strict: bool,
    /// What it says that nobody reads.
    unknown: Unknown,
}

/// Whether a header `Prefer` wants what is not known to be refused (RFC 7240).
fn prefers_strict(header: Option<&str>) -> bool {
    let wishes = header.unwrap_or_default().split([',', ';']);
    wishes
        .map(|wish| wish.replace([' ', '"'], ""))
        .any(|wish| wish.eq_ignore_ascii_case("handling=strict"))
}

/// What is no valid value of any header.
const NOT_VALID: &str = "\u{fffd}";

impl Request {
    /// Captures a request whose body is still to come; nothing of it is believed yet.
    pub(crate) fn capture(request: &HttpRequest, parameters: PathParameters) -> Self {
        // Text that is no header text is kept as such: presented and not valid.
        let header = |name: &str| {
            request
                .headers()
                .get(name)
                .map(|value| value.to_str().unwrap_or(NOT_VALID).to_owned())
        };
        // Of several credentials none is, whichever of them a proxy looked at.
        let credentials = request.headers().get_all("Authorization").count();
        Self {
            method: request.method().to_string(),
            path: request.path().to_owned(),
            query: request.query_string().to_owned(),
            request_id: RequestId::of(&request.extensions()),
            body: Bytes::new(),
            parameters,
            authorization: match credentials {
                0 | 1 => header("Authorization"),
                _ => Some(NOT_VALID.to_owned()),
            },
            // An empty one is present too: it must not make its sender the board.
            run_header: RUN_HEADERS.iter().find_map(|name| header(name)),
            idempotency_key: header(IDEMPOTENCY_KEY),
            if_match: header(IF_MATCH),
            last_event_id: header(LAST_EVENT_ID),
            accept: header("Accept"),
            session: None,
            ticket: None,
            is_of_credential: false,
            is_strict: prefers_strict(header("Prefer").as_deref()),
            unknown: Unknown::default(),
        }
    }

    /// The same request under a key, unless a header names one.
    pub(crate) fn with_key(mut self, key: &str) -> Self {
        self.idempotency_key.get_or_insert_with(|| key.to_owned());
        self
    }

    /// The same request of whoever has this session of the board.
    pub(crate) fn with_session(mut self, session: Option<&str>) -> Self {
        self.session = session.map(str::to_owned);
        self
    }

    /// Puts a credential in the place of all that the caller presented.
    pub(super) fn present(&mut self, credential: &str) {
        self.authorization = Some(format!("Bearer {credential}"));
        self.run_header = None;
        self.session = None;
    }

    /// The same request as one whose path has these parameters.
    pub(crate) fn with_parameters(mut self, parameters: PathParameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// What the caller presents as credentials.
    pub(crate) fn presented(&self) -> Presented<'_> {
        Presented {
            authorization: self.authorization.as_deref(),
            run_header: self.run_header.as_deref(),
        }
    }

    /// True when the address holds a ticket, whatever it is worth.
    pub(super) fn brings_ticket(&self) -> bool {
        !self.query.is_empty()
            && match self.query() {
                Ok(query) => query.has(TICKET),
                Err(_malformed) => self.query.contains(TICKET),
            }
    }

    /// What a reader of a stream has seen, as its numbers count. The header
    /// wins over the parameter `name`: a reader that comes back repeats its
    /// address unchanged.
    ///
    /// # Errors
    /// `invalid_request` for what is no such number.
    pub(crate) fn seen(&self, name: &str) -> Result<Option<u64>, Problem> {
        const FORM: &str = "a whole number of at least 0";
        let bounded = |number: &u64| *number <= i64::MAX as u64;
        if let Some(id) = self.last_event_id.as_deref().map(str::trim)
            && !id.is_empty()
        {
            let number = id.parse().ok().filter(bounded);
            return number.map(Some).ok_or_else(|| {
                let detail = format!("{LAST_EVENT_ID} must be {FORM}");
                Problem::new(Code::InvalidRequest, detail)
            });
        }
        match self.query()?.value(name, FORM)? {
            Some(number) if !bounded(&number) => Err(fault(name, "is too large")),
            number => Ok(number),
        }
    }

    /// Whether the caller names this type among those that it takes.
    pub(crate) fn names_type(&self, kind: &str) -> bool {
        let accept = self.accept.as_deref().unwrap_or_default();
        accept.to_ascii_lowercase().contains(kind)
    }

    /// True when the caller would rather have events than a piece of them.
    /// Without a wish `by_default`.
    pub(crate) fn wants_stream(&self, by_default: bool) -> bool {
        let types = self.accept.as_deref().unwrap_or_default().split(',');
        let mut types = types.map(|kind| kind.split(';').next().unwrap_or_default().trim());
        let is = |kind: &str, name: &str| kind.eq_ignore_ascii_case(name);
        if by_default {
            let named: Vec<&str> = types.collect();
            named.iter().any(|kind| is(kind, EVENT_STREAM))
                || !named.iter().any(|kind| is(kind, "application/json"))
        } else {
            types.any(|kind| is(kind, EVENT_STREAM))
        }
    }

    /// The key under which the request may be repeated.
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// The request as one that may be a repetition, when it carries a key.
    ///
    /// # Errors
    /// `invalid_request` for a malformed key.
    pub(crate) fn repeatable(&self) -> Result<Option<IdempotentRequest>, Problem> {
        self.idempotency_key
            .as_deref()
            .filter(|_key| self.method == "POST")
            .map(|key| {
                let request = IdempotentRequest::new(key, &self.method, &self.path, &self.body)?;
                Ok(match self.presented().authorization {
                    Some(credential) if self.is_of_credential => request.bound_to(credential),
                    _ => request,
                })
            })
            .transpose()
    }

    /// Takes the body's `idempotencyKey` for the request's, unless a header
    /// gave one. A body that is not as it should be is not told here.
    pub(crate) fn adopt_idempotency_key(&mut self) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Keyed {
            idempotency_key: Option<String>,
        }
        if self.idempotency_key.is_none()
            && let Ok(Keyed { idempotency_key }) = body::parse(&self.body)
        {
            self.idempotency_key = idempotency_key;
        }
    }

    /// A part of the path as text.
    ///
    /// # Errors
    /// `not_found`, told as a `kind`, for what no record can be named.
    pub(crate) fn param(&self, name: &str, kind: &str) -> Result<&str, Problem> {
        self.parameters
            .get(name)
            .filter(|value| !value.contains('\0'))
            .ok_or_else(|| Problem::missing(kind))
    }

    /// An id in the path. A malformed one names nothing.
    ///
    /// # Errors
    /// `not_found`
    pub(crate) fn id<I: Id + FromStr>(&self, name: &str) -> Result<I, Problem> {
        let text = self.param(name, I::KIND)?;
        text.parse().map_err(|_malformed| Problem::missing(I::KIND))
    }

    /// The body as JSON; an empty one counts as `{}`.
    ///
    /// # Errors
    /// `invalid_json`
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        self.noting::<T>()
    }

    /// The body as JSON, read in two parts: what neither knows is not known.
    ///
    /// # Errors
    /// `invalid_json`
    pub(crate) fn json_in_two<A, B>(&self) -> Result<(A, B), Problem>
    where
        A: DeserializeOwned,
        B: DeserializeOwned,
    {
        let (first, mut ignored) = self.with_ignored::<A>()?;
        let (second, too) = self.with_ignored::<B>()?;
        ignored.retain(|pointer| too.contains(pointer));
        self.unknown.note_fields::<A>(ignored);
        Ok((first, second))
    }

    fn noting<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let (value, ignored) = self.with_ignored::<T>()?;
        self.unknown.note_fields::<T>(ignored);
        Ok(value)
    }

    /// The body, and the fields of it that are not known.
    fn with_ignored<T: DeserializeOwned>(&self) -> Result<(T, Vec<String>), Problem> {
        let mut ignored = Vec::new();
        let value = body::parse_noting(&self.body, &mut |pointer| {
            if ignored.len() < MAX_UNKNOWN {
                ignored.push(pointer);
            }
        })?;
        Ok((value, ignored))
    }

    /// What `parse` reads, which must be all that the request says where the caller wants that.
    ///
    /// # Errors
    /// Those of `parse`; `unknown_field`
    pub(super) fn input<I>(
        &self,
        parse: impl FnOnce(&Self) -> Result<I, Problem>,
    ) -> Result<I, Problem> {
        let input = parse(self)?;
        if self.query.is_empty() {
            self.unknown.check([].into_iter(), self.is_strict)?;
        } else {
            let query = self.query()?;
            let is_strict = self.is_strict || query.flag(STRICT, false)?;
            self.unknown.check(query.names(), is_strict)?;
        }
        Ok(input)
    }

    /// What the answer says of what nobody reads.
    pub(super) fn warning(&self) -> Option<String> {
        self.unknown.warning()
    }

    /// The body as JSON, without a field that nobody may set.
    ///
    /// # Errors
    /// `invalid_json`; `field_not_writable` when the field is there, whatever it holds.
    pub(crate) fn json_without<T: DeserializeOwned>(&self, field: &str) -> Result<T, Problem> {
        let value = self.json()?;
        if self.first_field(&[field])?.is_some() {
            let pointer = format!("/{field}");
            return Err(Problem::at(
                Code::FieldNotWritable,
                &pointer,
                "cannot be set",
            ));
        }
        Ok(value)
    }

    /// The first of these names that the body has a field of, whatever it holds.
    ///
    /// # Errors
    /// `invalid_json`
    pub(crate) fn first_field<'a>(&self, names: &[&'a str]) -> Result<Option<&'a str>, Problem> {
        let fields = body::parse::<HashMap<String, IgnoredAny>>(&self.body)?;
        let is_there = |name: &&&str| fields.contains_key(**name);
        Ok(names.iter().find(is_there).copied())
    }

    /// Makes sure that the body of an action says nothing: none, white space or
    /// an object.
    ///
    /// # Errors
    /// `invalid_json`
    pub(crate) fn no_body(&self) -> Result<(), Problem> {
        self.noting::<Nothing>().map(|Nothing {}| ())
    }

    /// The query parameters.
    ///
    /// # Errors
    /// `invalid_request`
    pub(crate) fn query(&self) -> Result<Query, Problem> {
        Query::parse(&self.query, self.unknown.asked())
    }

    /// The revisions of which one must be the last, when the caller says so.
    ///
    /// # Errors
    /// `invalid_request`
    pub(crate) fn if_match(&self) -> Result<Option<Vec<i32>>, Problem> {
        precondition::revisions(self.if_match.as_deref())
    }

    /// The page that is asked for.
    ///
    /// # Errors
    /// `invalid_request`, `invalid_cursor`
    pub(crate) fn page<K: DeserializeOwned>(&self) -> Result<PageRequest<K>, Problem> {
        paging::page(&self.path, &self.query()?)
    }
}

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address_range::AddressRange;

/// How a request is made. Only methods that carry a body are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `POST`
    #[default]
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
}

impl Method {
    /// Reads the method's name, as it stands in a request.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Post, Self::Put, Self::Patch];
        all.into_iter().find(|method| method.name() == name)
    }

    /// Its name in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
        }
    }
}

/// All that is needed to call an agent. It holds the token of the run, so that it is
/// told on the standard input only: arguments and variables can be read by others.
#[derive(Clone, Serialize, Deserialize)]
pub struct Call {
    /// `http://` or `https://`, without credentials.
    pub url: String,
    /// How it is called.
    pub method: Method,
    /// The agent's own headers.
    pub headers: Vec<(String, String)>,
    /// What it is told.
    pub body: Value,
    /// What may be called beside public addresses.
    pub allowed: Vec<AddressRange>,
}

/// Shows no header and no body.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

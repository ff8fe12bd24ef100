//! What a request wants, by its method and path.

use crate::api::Api;

/// What a request wants.
#[derive(Debug, PartialEq)]
pub(crate) enum Route<'a> {
    /// An answer of the model.
    Call(Api),
    /// An answer of the model that the path names.
    NamedModel { model: &'a str, is_stream: bool },
    /// How many tokens a call has.
    Count(Api),
    /// The models there are.
    Models,
    /// The Responses API by WebSocket.
    WebSocket,
    /// To be noted.
    Sink,
    /// The log.
    Requests,
    /// To replace the script.
    SetScript,
    /// To forget the log.
    Reset,
    /// Something else.
    Unknown,
}

impl<'a> Route<'a> {
    pub(crate) fn of(method: &str, path: &'a str, is_upgrade: bool) -> Self {
        let path = path.trim_end_matches('/');
        if let Some(control) = path.strip_prefix("/imitation/") {
            return match (method, control) {
                (_, sink) if sink == "sink" || sink.starts_with("sink/") => Self::Sink,
                ("GET", "requests") => Self::Requests,
                ("PUT", "script") => Self::SetScript,
                ("POST", "reset") => Self::Reset,
                _ => Self::Unknown,
            };
        }
        match method {
            "POST" => Self::of_post(path),
            "GET" if path.ends_with("/models") => Self::Models,
            "GET" if is_upgrade && path.ends_with("/responses") => Self::WebSocket,
            _ => Self::Unknown,
        }
    }

    fn of_post(path: &'a str) -> Self {
        if let Some((_, named)) = path.rsplit_once("/models/") {
            return match named.split_once(':') {
                Some((model, "generateContent")) => Self::NamedModel {
                    model,
                    is_stream: false,
                },
                Some((model, "streamGenerateContent")) => Self::NamedModel {
                    model,
                    is_stream: true,
                },
                Some((_, "countTokens")) => Self::Count(Api::Gemini),
                _ => Self::Unknown,
            };
        }
        let ends = [
            ("/messages", Self::Call(Api::Anthropic)),
            ("/count_tokens", Self::Count(Api::Anthropic)),
            ("/responses", Self::Call(Api::Responses)),
            ("/chat/completions", Self::Call(Api::Chat)),
        ];
        let found = ends.into_iter().find(|(end, _)| path.ends_with(end));
        found.map_or(Self::Unknown, |(_, route)| route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_has_its_paths() {
        let gemini = |is_stream| Route::NamedModel {
            model: "gemini-3",
            is_stream,
        };
        for (method, path, expected) in [
            ("POST", "/v1/messages", Route::Call(Api::Anthropic)),
            (
                "POST",
                "/v1/messages/count_tokens",
                Route::Count(Api::Anthropic),
            ),
            ("POST", "/v1/responses/", Route::Call(Api::Responses)),
            ("GET", "/v1/responses", Route::WebSocket),
            ("POST", "/a/v1/chat/completions", Route::Call(Api::Chat)),
            (
                "POST",
                "/v1beta/models/gemini-3:generateContent",
                gemini(false),
            ),
            (
                "POST",
                "/v1beta/models/gemini-3:streamGenerateContent",
                gemini(true),
            ),
            (
                "POST",
                "/v1beta/models/gemini-3:countTokens",
                Route::Count(Api::Gemini),
            ),
            (
                "POST",
                "/v1beta/models/gemini-3:embedContent",
                Route::Unknown,
            ),
            ("GET", "/v1/models", Route::Models),
            ("GET", "/imitation/requests", Route::Requests),
            ("PUT", "/imitation/script", Route::SetScript),
            ("GET", "/imitation/script", Route::Unknown),
            ("POST", "/imitation/reset", Route::Reset),
            ("DELETE", "/imitation/sink/a/b", Route::Sink),
            ("HEAD", "/api/hello", Route::Unknown),
        ] {
            assert_eq!(Route::of(method, path, true), expected, "{method} {path}");
        }
    }
}

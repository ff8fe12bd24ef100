//! Bodies that were compressed on their way (RFC 9110, 8.4).

use std::io::{self, Read};

use actix_web::web::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use workforce_app::Code;

use super::MAX_BODY;
use crate::problem::Problem;

/// The codings that are taken, as a header lists them.
pub(crate) const ACCEPTED: &str = "gzip, deflate";

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// The coding that a header `Content-Encoding` names, if it names one.
    ///
    /// # Errors
    /// `unsupported_coding` for another one, or several.
    pub(crate) fn of(header: Option<&str>) -> Result<Option<Self>, Problem> {
        let named = header.unwrap_or_default().trim().to_ascii_lowercase();
        match named.as_str() {
            "" | "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Deflate)),
            _ => Err(Problem::new(
                Code::UnsupportedCoding,
                format!("a body is sent as it is, or in one of these codings: {ACCEPTED}"),
            )),
        }
    }

    /// The body as it was before. Blocks for as long as that takes.
    ///
    /// # Errors
    /// `body_too_large` when it has more bytes than a body may have, however few were sent;
    /// `invalid_request` when it is not compressed like that.
    pub(crate) fn decode(self, body: &Bytes) -> Result<Bytes, Problem> {
        let decoded = match self {
            Self::Gzip => read(MultiGzDecoder::new(&body[..])),
            // Some clients leave out the header that the coding has.
            Self::Deflate => {
                read(ZlibDecoder::new(&body[..])).or_else(|_| read(DeflateDecoder::new(&body[..])))
            }
        };
        match decoded {
            Ok(decoded) if decoded.len() > MAX_BODY => {
                Err(Problem::too_large("a JSON body", MAX_BODY as u64))
            }
            Ok(decoded) => Ok(decoded.into()),
            Err(_) => Err(Problem::new(
                Code::InvalidRequest,
                "the body is not compressed as Content-Encoding says",
            )),
        }
    }
}

/// At most one byte more than a body may have.
fn read(from: impl Read) -> io::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    from.take(MAX_BODY as u64 + 1).read_to_end(&mut decoded)?;
    Ok(decoded)
}

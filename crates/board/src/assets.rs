//! What pages load: one style sheet, one script, one sprite of icons. Each has its digest in its
//! address, so that browsers keep it for good, and is compressed once.

use std::io::Write as _;
use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::Bytes;
use data_encoding::HEXLOWER;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use workforce_http::door::{Access, Pages, Visit};

use crate::answer;
use crate::html::icon;

const STYLE: &str = include_str!("../assets/board.css");
const SCRIPT: &str = concat!(
    include_str!("../assets/js/keys.js"),
    include_str!("../assets/js/forms.js"),
    include_str!("../assets/js/drafts.js"),
    include_str!("../assets/js/morph.js"),
    include_str!("../assets/js/live.js"),
    include_str!("../assets/js/columns.js"),
);
const MARK: &str = include_str!("../assets/mark.svg");

/// Something that pages load.
struct Asset {
    path: String,
    content_type: &'static str,
    plain: Bytes,
    gzipped: Bytes,
}

impl Asset {
    fn new(name: &str, ending: &str, content_type: &'static str, text: &str) -> Self {
        let digest = HEXLOWER.encode(&Sha256::digest(text)[..8]);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // To write into memory cannot fail.
        let gzipped = encoder
            .write_all(text.as_bytes())
            .and_then(|()| encoder.finish());
        Self {
            path: format!("/assets/{name}.{digest}.{ending}"),
            content_type,
            plain: Bytes::copy_from_slice(text.as_bytes()),
            gzipped: gzipped.unwrap_or_default().into(),
        }
    }
}

static STYLE_SHEET: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("board", "css", "text/css; charset=utf-8", STYLE));
static BOARD_SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("board", "js", "text/javascript; charset=utf-8", SCRIPT));
static ICONS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icons", "svg", "image/svg+xml", &icon::sprite()));
static MARK_ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("mark", "svg", "image/svg+xml", MARK));

/// The address of the style sheet.
pub(crate) fn style() -> &'static str {
    &STYLE_SHEET.path
}

/// The address of the script.
pub(crate) fn script() -> &'static str {
    &BOARD_SCRIPT.path
}

/// The address of the icons.
pub(crate) fn icons() -> &'static str {
    &ICONS.path
}

/// The address of the sign that browsers show beside the title.
pub(crate) fn mark() -> &'static str {
    &MARK_ICON.path
}

pub(crate) fn register(pages: Pages) -> Pages {
    pages.get("/assets/{name}", Access::Public, send)
}

async fn send(visit: Visit) -> HttpResponse {
    let all = [&*STYLE_SHEET, &*BOARD_SCRIPT, &*ICONS, &*MARK_ICON];
    let Some(asset) = all.into_iter().find(|asset| asset.path == visit.path()) else {
        return answer::no_such_page(&visit);
    };
    let accepted = visit.header("accept-encoding").unwrap_or_default();
    let mut response = HttpResponse::Ok();
    response
        .content_type(asset.content_type)
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((header::VARY, "Accept-Encoding"))
        .insert_header(("cross-origin-resource-policy", "same-origin"));
    if accepted.contains("gzip") {
        response.insert_header((header::CONTENT_ENCODING, "gzip"));
        response.body(asset.gzipped.clone())
    } else {
        response.insert_header((header::CONTENT_ENCODING, "identity"));
        response.body(asset.plain.clone())
    }
}

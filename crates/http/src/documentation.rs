//! The OpenAPI document and the page that shows it.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::web::{Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, Resource, Responder, Route, guard, web};
use utoipa_swagger_ui::Config;

use crate::problem::Problem;
use crate::request_id::RequestId;

/// The OpenAPI document, which `cargo xtask codegen` makes from the routes.
pub const DOCUMENT: &[u8] = include_bytes!("../../../openapi.json");

/// Puts both into an application.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let page = Arc::new(Config::from("/api/openapi.json"));
    config
        .service(read_only("/api/openapi.json", read().to(describe)))
        .service(read_only("/docs", read().to(redirect)))
        .service(read_only("/docs/{file:.*}", read().to(show)).app_data(Data::from(page)));
}

fn read() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

fn read_only(path: &str, read: Route) -> Resource {
    web::resource(path)
        .route(read)
        .default_service(web::to(refuse_method))
}

async fn refuse_method(request: HttpRequest) -> HttpResponse {
    Problem::method_not_allowed("GET, HEAD").answer(&RequestId::of(&request.extensions()))
}

async fn describe() -> impl Responder {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(Bytes::from_static(DOCUMENT))
}

async fn redirect() -> impl Responder {
    HttpResponse::PermanentRedirect()
        .insert_header((header::LOCATION, "/docs/"))
        .finish()
}

async fn show(
    request: HttpRequest,
    file: Path<String>,
    page: Data<Config<'static>>,
) -> HttpResponse {
    let problem = match utoipa_swagger_ui::serve(&file, page.into_inner()) {
        Ok(Some(file)) => {
            return HttpResponse::Ok()
                .content_type(file.content_type)
                .body(file.bytes.into_owned());
        }
        Ok(None) => Problem::no_such_path(),
        Err(error) => Problem::internal(&*error),
    };
    problem.answer(&RequestId::of(&request.extensions()))
}

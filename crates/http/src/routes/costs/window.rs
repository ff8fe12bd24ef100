use utoipa::IntoParams;
use workforce_app::costs::WindowQuery;

use crate::problem::Problem;
use crate::query::fault;
use crate::request_context::Request;

/// The window of a breakdown.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes parameters that `window` reads")]
pub(super) struct WindowParams {
    /// First instant within; the start of the current month when left out.
    #[param(nullable = false)]
    from: Option<String>,
    /// First instant after; the end of the current month when left out.
    #[param(nullable = false)]
    to: Option<String>,
}

/// The window that a query asks for.
///
/// # Errors
/// `invalid_request`
pub(super) fn window(rq: &Request) -> Result<WindowQuery, Problem> {
    let query = rq.query()?;
    let (from, to) = (query.instant("from")?, query.instant("to")?);
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        return Err(fault("to", "must not be before `from`"));
    }
    Ok(WindowQuery { from, to })
}

//! Tickets for streams.

use std::sync::Arc;

use actix_web::HttpResponse;
use workforce_app::authenticate::{AuthError, ticket_holder};
use workforce_app::stream_tickets::{self, IssuedTicket};

use super::TAG;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::RequestContext;

/// Makes a ticket that opens this company's stream of events once. It does so
/// within 60 seconds, in the place of a credential.
///
/// Browsers cannot send a header with a stream; they send the ticket as
/// `?ticket=`. The stream is the caller's, and ends when the caller's
/// credential does. Anywhere else a ticket is a credential that is not valid.
#[utoipa::path(post, path = "/api/companies/{companyId}/events/tickets", tag = TAG,
    operation_id = "createStreamTicket",
    responses((status = 201, description = "The ticket.", body = IssuedTicket)))]
pub(super) async fn ticket(rqctx: RequestContext) -> HttpResponse {
    let (tokens, policy) = (Arc::clone(&rqctx.state.ports.tokens), rqctx.state.auth);
    rqctx
        .of_credential()
        .write(
            move |rq| {
                rq.no_body()?;
                let holder = ticket_holder(&*tokens, policy, rq.presented())
                    .ok_or_else(|| Problem::refused(AuthError::Invalid))?;
                Ok((rq.id("companyId")?, holder))
            },
            move |tx, ctx, (company, holder)| {
                stream_tickets::issue(tx, ctx, policy, *company, *holder)
            },
            Reply::credential,
        )
        .await
}

//! What the buttons on the first page of an agent do.

use workforce_app::agents::{self, UpdateAgent};
use workforce_app::{Context, runs};
use workforce_domain::Document;
use workforce_domain::port::Tx;
use workforce_http::door::{self, Visit};
use workforce_http::problem::Problem;

use super::super::{Gathered, Told as _};
use super::About;
use crate::form::{Form, Kind, fault};

/// What a button does.
enum Deed {
    Pause,
    Resume,
    /// Lets it spend more than its limit this month.
    Override,
    Wake,
    Lift,
    Forget,
    /// Its name has to be typed for that.
    Terminate(String),
    Limit(Box<UpdateAgent>),
}

impl Deed {
    fn of(form: &Form) -> Result<Self, Problem> {
        Ok(match form.text("deed") {
            "pause" => Self::Pause,
            "resume" => Self::Resume,
            "override" => Self::Override,
            "lift" => Self::Lift,
            "forget" => Self::Forget,
            "terminate" => Self::Terminate(form.text("confirm").to_owned()),
            "limit" => {
                const LIMIT: &str = "budgetMonthlyCents";
                if form.text(LIMIT).is_empty() {
                    return Err(fault(LIMIT, "say how much it may spend in a month"));
                }
                let body = form.body(&[(LIMIT, Kind::Dollars)])?;
                Self::Limit(Box::new(door::changed_agent(&body)?))
            }
            "wake" => Self::Wake,
            _ => return Err(fault("deed", "press one of the buttons")),
        })
    }

    fn carry_out(&self, tx: &mut dyn Tx, ctx: &Context<'_>, about: &About) -> Gathered<bool> {
        let agent = about.find(tx.reads(), ctx)?.1.view.agent;
        let id = agent.id;
        match self {
            Self::Pause => agents::pause(tx, ctx, id).told().map(drop)?,
            Self::Resume => agents::resume(tx, ctx, id, false).told().map(drop)?,
            Self::Override => agents::resume(tx, ctx, id, true).told().map(drop)?,
            Self::Wake => runs::invoke(tx, ctx, id, Document::new())
                .told()
                .map(drop)?,
            Self::Lift => agents::lift_wait(tx, ctx, id).told().map(drop)?,
            Self::Forget => agents::reset_session(tx, ctx, id, None).told().map(drop)?,
            Self::Limit(change) => {
                let change = UpdateAgent::clone(change);
                agents::update(tx, ctx, id, change).told().map(drop)?;
            }
            Self::Terminate(name) if *name != agent.name.to_string() => return Ok(false),
            Self::Terminate(_) => agents::terminate(tx, ctx, id).told().map(drop)?,
        }
        Ok(true)
    }
}

/// Does what the form asks for, and tells which page comes next.
pub(super) async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let deed = Deed::of(form)?;
    let done = visit.act(
        form.key(),
        (About::of(visit), deed),
        |tx, ctx, (about, deed)| deed.carry_out(tx, ctx, about),
        |is_done| is_done,
    );
    if done.await? {
        Ok(visit.path().to_owned())
    } else {
        Err(fault(
            "confirm",
            "type the name of the agent as it is shown",
        ))
    }
}

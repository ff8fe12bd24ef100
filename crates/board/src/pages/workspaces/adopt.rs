//! Open tickets take over the address that a workspace has now, or only tell what they would.

use actix_web::HttpResponse;
use serde::{Deserialize, Serialize};
use workforce_app::projects::{self, AddressChange, AdoptAddress};
use workforce_app::{Context, Failure};
use workforce_domain::actor::{CompanyOwned as _, CompanyScope};
use workforce_domain::id::{ProjectId, WorkspaceId};
use workforce_domain::port::{RemoteAddresses, Tx};
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::{Shown, answered, gather, named, place};
use crate::answer;
use crate::form::Form;
use crate::pages::project::About;
use crate::pages::{Gathered, Refused, Told as _, show};

pub(super) fn register(pages: Pages, workspace: &str) -> Pages {
    pages.post(&format!("{workspace}/adopt"), Access::Board, adopt)
}

/// A worktree whose ticket would get another address.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Change {
    branch: String,
    from: Option<String>,
    to: Option<String>,
    drops_pull_request: bool,
}

impl From<AddressChange> for Change {
    fn from(change: AddressChange) -> Self {
        Self {
            branch: change.branch,
            from: change.from,
            to: change.to,
            drops_pull_request: change.drops_pull_request,
        }
    }
}

/// A change as the page shows it.
pub(super) struct Line {
    pub(super) branch: String,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) drops_pull_request: bool,
}

/// What tickets would take over. So many are shown.
pub(super) struct Adoption {
    pub(super) lines: Vec<Line>,
    pub(super) count: usize,
}

const SHOWN: usize = 50;

impl Adoption {
    pub(super) fn of(changes: &[Change]) -> Self {
        let address = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let lines = changes.iter().take(SHOWN).map(|change| Line {
            branch: change.branch.clone(),
            from: address(&change.from),
            to: address(&change.to),
            drops_pull_request: change.drops_pull_request,
        });
        Self {
            lines: lines.collect(),
            count: changes.len(),
        }
    }
}

async fn adopt(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let is_trial = form.text("deed") != "adopt";
    let changes = match adopted(&visit, &form, is_trial).await {
        Ok(changes) if is_trial => changes,
        done => return answered(&visit, form, done.map(|_| place(&visit))).await,
    };
    let Some(id) = named(&visit) else {
        return answer::no_such_page(&visit);
    };
    let shown = Shown {
        adoption: Some((id, changes)),
        ..Shown::blank(&visit)
    };
    let about = About::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &shown)).await
}

/// What is adopted, and by which tickets.
struct Wanted {
    project: ProjectId,
    workspace: WorkspaceId,
    addresses: Option<RemoteAddresses>,
    is_trial: bool,
}

async fn adopted(visit: &Visit, form: &Form, is_trial: bool) -> Result<Vec<Change>, Problem> {
    let (about, id) = (About::of(visit), named(visit));
    let found = visit.look(move |reads, ctx| {
        let (_, view) = about.find(reads, ctx)?;
        let id = id.ok_or_else(|| Refused::missing("workspace"))?;
        let workspace = projects::workspace_to_adopt(reads, ctx, view.project.id, id).told()?;
        let found: (CompanyScope, ProjectId, WorkspaceId) =
            (workspace.scope(), workspace.project, workspace.id);
        Ok::<_, Failure<Refused>>(found)
    });
    let (company, project, workspace) = found.await?;
    let wanted = Wanted {
        project,
        workspace,
        addresses: visit.addresses(company, workspace).await?,
        is_trial,
    };
    // A trial changes nothing, and is told anew each time.
    let key = form.key().filter(|_| !is_trial);
    visit.act(key, wanted, carry_out, |changes| changes).await
}

fn carry_out(tx: &mut dyn Tx, ctx: &Context<'_>, wanted: &Wanted) -> Gathered<Vec<Change>> {
    let (project, workspace) = (wanted.project, wanted.workspace);
    let command = AdoptAddress {
        dry_run: wanted.is_trial,
    };
    let addresses = wanted.addresses.as_ref();
    let adopted =
        projects::adopt_address(tx, ctx, project, workspace, addresses, command).told()?;
    Ok(adopted.changes.into_iter().map(Change::from).collect())
}

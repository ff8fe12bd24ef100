//! What an agent is told before each run: the files of its instructions.

use actix_web::HttpResponse;
use askama::Template;
use serde_json::json;
use workforce_app::agents::instructions::{self, BundleView, DeleteFile, FileView, FoundFile};
use workforce_app::{Code, Context};
use workforce_domain::id::AgentId;
use workforce_domain::port::Reads;
use workforce_http::door::{self, Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::super::{Gathered, Told as _};
use super::{About, Head};
use crate::answer;
use crate::cursor::{parameter, with_parameter};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::shell::Shell;

const PATH: &str = "/c/{prefix}/agents/{agent}/instructions";

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, look)
        .post(PATH, Access::Board, act)
}

/// A file in the list.
struct Listed {
    path: String,
    link: String,
    size: u64,
    is_entry: bool,
    is_shown: bool,
}

/// The file that is open.
struct Open {
    path: String,
    sha256: String,
    /// What the field holds.
    content: String,
    /// What the file holds by now, where that is not what was edited.
    theirs: Option<String>,
    is_editable: bool,
    is_entry: bool,
}

#[derive(Template)]
#[template(path = "pages/agent/instructions.html")]
struct InstructionsPage {
    shell: Shell,
    head: Head,
    warnings: Vec<String>,
    is_external: bool,
    folder: String,
    files: Vec<Listed>,
    open: Option<Open>,
    form: Filled,
}

/// What the store has of the page.
struct Found {
    shell: Shell,
    head: Head,
    bundle: BundleView,
    file: Option<FoundFile>,
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    wanted: Option<&str>,
) -> Gathered<Found> {
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = detail.view.agent.id;
    let bundle = instructions::get(reads, ctx, id).told()?;
    let path = match wanted {
        Some(path) => door::bundle_path(path).ok(),
        None => Some(bundle.pointer.entry_file.clone()),
    };
    // One that is not there is a page without an open file.
    let file = path.map(|path| instructions::file(reads, ctx, id, &path));
    Ok(Found {
        head: Head::of(&detail, &about.asked.links(), "instructions"),
        bundle,
        file: file.and_then(Result::ok),
        shell: Shell::gather(reads, ctx, &about.asked, &company, "agents")?,
    })
}

/// The page with the file that is wanted; the one that agents are given first where none is.
async fn page(
    visit: &Visit,
    wanted: Option<String>,
    form: Filled,
    typed: Option<String>,
    is_conflict: bool,
) -> Result<InstructionsPage, Problem> {
    let about = About::of(visit);
    let path = wanted.clone();
    let looked = visit.look(move |reads, ctx| gather(reads, ctx, &about, path.as_deref()));
    let found = looked.await?;
    let (bundle, file) = match visit
        .load_instructions(found.bundle.clone(), found.file)
        .await
    {
        Ok(loaded) => loaded,
        // The list says what is wrong with the folder.
        Err(_) => visit.load_instructions(found.bundle, None).await?,
    };
    let link = found.head.page("instructions");
    let shown = file.as_ref().map(|file| file.file.path.clone());
    let listed = |path: &str| Some(path) == shown.as_deref();
    Ok(InstructionsPage {
        shell: found.shell,
        head: found.head,
        is_external: bundle.pointer.external_root().is_some(),
        folder: bundle.root().to_owned(),
        files: bundle
            .files
            .iter()
            .map(|file| Listed {
                link: with_parameter(&link, "file", &file.path),
                is_shown: listed(&file.path),
                path: file.path.clone(),
                size: file.size,
                is_entry: file.is_entry,
            })
            .collect(),
        warnings: bundle.warnings,
        open: file.map(|file| open(file, typed, is_conflict)),
        form,
    })
}

fn open(file: FileView, typed: Option<String>, is_conflict: bool) -> Open {
    let theirs = is_conflict.then(|| file.content.clone());
    Open {
        path: file.file.path,
        sha256: file.file.sha256.unwrap_or_default(),
        content: typed.unwrap_or(file.content),
        theirs,
        is_editable: file.file.editable,
        is_entry: file.file.is_entry,
    }
}

async fn look(visit: Visit) -> HttpResponse {
    let form = Filled::blank(&visit);
    match page(&visit, parameter(&visit, "file"), form, None, false).await {
        Ok(page) => answer::page(&page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

async fn act(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let problem = match done(&visit, &form).await {
        Ok(place) => return answer::lead_to(&place),
        Err(problem) => problem,
    };
    let is_conflict = problem.code() == Code::InstructionsFileConflict;
    // A new file has no place in the list yet.
    let (wanted, typed) = match form.text("deed") {
        "new" => (None, None),
        _ => (Some(form.text("path").to_owned()), form.exact("content")),
    };
    let filled = Filled::refused(form, &problem, &visit);
    match page(&visit, wanted, filled, typed, is_conflict).await {
        Ok(page) => answer::with_status(problem.status(), &page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Writes or deletes a file, and tells which page comes next.
async fn done(visit: &Visit, form: &Form) -> Result<String, Problem> {
    let id = agent(visit).await?;
    let page = visit.path();
    match form.text("deed") {
        "delete" => {
            let path = door::bundle_path(form.text("path"))?;
            let file = DeleteFile { path };
            visit.delete_instructions(form.key(), id, file).await?;
            Ok(page.to_owned())
        }
        "new" => {
            // No file that is there is emptied.
            let path = form.text("newPath");
            let is_there = exists(visit, path).await?;
            if is_there {
                let message = "there is a file of this name";
                return Err(crate::form::fault("newPath", message));
            }
            let file = door::file_to_put(&json!({ "path": path, "content": "" }))?;
            visit.write_instructions(form.key(), id, file).await?;
            Ok(with_parameter(page, "file", path))
        }
        _ => {
            let fields = [
                ("path", Kind::Text),
                ("content", Kind::Exact),
                ("ifMatch", Kind::Text),
            ];
            let file = door::file_to_put(&form.body(&fields)?)?;
            let path = file.path.to_string();
            visit.write_instructions(form.key(), id, file).await?;
            Ok(with_parameter(page, "file", &path))
        }
    }
}

async fn agent(visit: &Visit) -> Result<AgentId, Problem> {
    let about = About::of(visit);
    visit.look(move |reads, ctx| about.id(reads, ctx)).await
}

/// Whether a bundle has a file of this name.
async fn exists(visit: &Visit, path: &str) -> Result<bool, Problem> {
    let about = About::of(visit);
    let looked = visit.look(move |reads, ctx| {
        let id = about.id(reads, ctx)?;
        instructions::get(reads, ctx, id).told()
    });
    let (bundle, _) = visit.load_instructions(looked.await?, None).await?;
    Ok(bundle.files.iter().any(|file| file.path == path))
}

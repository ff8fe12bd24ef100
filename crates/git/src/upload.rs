//! Uploads objects of Git LFS before the commits that need them are pushed.
//!
//! The program `git-lfs` works in the view, which has no settings of the repository: so it
//! speaks to the remote alone, and starts no program that somebody else chose.

use crate::contents::attributes::Attributes;
use crate::contents::filters::FILTER;
use crate::contents::lfs::{LFS, Pointer, pointer_of};
use crate::error::Tried as _;
use crate::network::failed;
use crate::process::run_blocking;
use crate::program::{Command, LIST_LIMIT, lossy};
use crate::view::View;
use crate::{CommitId, GitError, Remote};

/// So many objects are uploaded by one command.
const AT_ONCE: usize = 500;

/// Uploads what the commits up to one need that no branch of the remote has, as far as the
/// repository has it.
pub(crate) async fn upload(
    view: &View,
    remote: &Remote,
    commit: &CommitId,
) -> Result<(), GitError> {
    let git = view.repository().git();
    let Some(program) = git.lfs() else {
        return Ok(());
    };
    let attributes = Attributes::of(view, commit.as_str()).await?;
    if attributes.is_empty() {
        return Ok(());
    }
    let pointers = pointers(view, &attributes, remote, commit).await?;
    // A head could name another server.
    let own = View::new(view.repository(), None).await?;
    let (folder, to) = (view.repository().clone(), own.path().to_owned());
    let copying = run_blocking(move || {
        let mut copied = Vec::new();
        for pointer in pointers {
            if pointer.copy_to(folder.folder(), &to)? {
                copied.push(pointer.oid().to_owned());
            }
        }
        std::io::Result::Ok(copied)
    });
    let copied = copying.await.tried(|| "copy Git LFS objects".to_owned())?;
    let address = match remote.folder() {
        Some(folder) => format!("file://{}", folder.display()),
        None => remote.address().to_owned(),
    };
    for part in copied.chunks(AT_ONCE) {
        let mut settings = vec![("lfs.locksverify".to_owned(), "false".to_owned())];
        settings.extend(remote.header());
        let mut output = Command::of_program(git, program, "push", own.path(), settings)
            .env("GIT_DIR", own.path())
            .remote(git.settings().network_limit)
            .args(["--object-id", &address])
            .args(part)
            .run()
            .await?;
        if output.code != Some(0) {
            // It complains on both.
            output.stderr.append(&mut output.stdout);
            return Err(failed(remote, "lfs push", &output));
        }
    }
    Ok(())
}

async fn pointers(
    view: &View,
    attributes: &Attributes<'_>,
    remote: &Remote,
    commit: &CommitId,
) -> Result<Vec<Pointer>, GitError> {
    let git = view.repository().git();
    let heads = git.ls_remote(remote, &["--heads"], "refs/heads/*").await?;
    let mut known = Vec::new();
    for head in heads.lines().filter_map(|line| line.split('\t').next()) {
        if let Ok(head) = CommitId::new(head)
            && view.has_commit(&head).await?
        {
            known.push(format!("^{head}"));
        }
    }
    let listed = view
        .command("rev-list")
        .args(["--objects", commit.as_str()])
        .args(known)
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
    let listed = lossy(&listed);
    let files: Vec<_> = listed.lines().filter_map(|it| it.split_once(' ')).collect();
    let paths = files.iter().map(|(_, path)| path.as_bytes());
    let filters = attributes
        .values(FILTER, paths.filter(|it| !it.is_empty()))
        .await?;
    let mut pointers = Vec::new();
    for (id, path) in files {
        if filters
            .get(path.as_bytes())
            .is_some_and(|filter| filter == LFS)
        {
            pointers.extend(pointer_of(view, id).await?);
        }
    }
    Ok(pointers)
}

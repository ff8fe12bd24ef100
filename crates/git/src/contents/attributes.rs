//! Which attributes files have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::contents::survey::ATTRIBUTES;
use crate::program::{Command, LIST_LIMIT, lossy, records};
use crate::view::View;

/// The files `.gitattributes` of one tree, in an index of their own.
pub(crate) struct Attributes<'a> {
    view: &'a View,
    index: PathBuf,
    is_empty: bool,
}

impl<'a> Attributes<'a> {
    /// Those of a commit or tree. The attributes that the view has beside its files count too.
    pub(crate) async fn of(view: &'a View, tree: &str) -> Result<Self, GitError> {
        let listed = view
            .command("ls-tree")
            .args(["-r", "-z", "--full-tree", tree])
            .stdout_limit(LIST_LIMIT)
            .output()
            .await?;
        let mut entries = Vec::new();
        for record in records(&listed) {
            let name = record.rsplit(|b| b"\t/".contains(b)).next();
            if name == Some(ATTRIBUTES.as_bytes()) && record.starts_with(b"100") {
                entries.extend_from_slice(record);
                entries.push(0);
            }
        }
        let attributes = Self {
            view,
            index: view.path().join(format!("attributes-{tree}")),
            is_empty: entries.is_empty(),
        };
        if !attributes.is_empty {
            let _ = std::fs::remove_file(&attributes.index);
            let added = attributes.with_index(view.command("update-index"));
            let added = added.args(["-z", "--index-info"]).input(entries);
            added.output().await?;
        }
        Ok(attributes)
    }

    /// Whether no file can have any.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty && !self.view.has_attributes()
    }

    /// Writes them into a folder, where git finds them.
    pub(crate) async fn write_to(&self, folder: &Path) -> Result<(), GitError> {
        if !self.is_empty {
            let written = self.view.command_in("checkout-index", folder);
            let written = self.with_index(written).args(["--all", "--force"]);
            written.output().await?;
        }
        Ok(())
    }

    /// The values of an attribute that some paths have.
    pub(crate) async fn values<'p>(
        &self,
        attribute: &str,
        paths: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<Values, GitError> {
        if self.is_empty() {
            return Ok(Values::new());
        }
        let command = self.with_index(self.view.command("check-attr"));
        values(command.arg("--cached"), attribute, paths).await
    }

    fn with_index(&self, command: Command) -> Command {
        command.env("GIT_INDEX_FILE", &self.index)
    }
}

/// The values of an attribute by path, as git prints them: `set` and `unset` are none that it
/// was given. Paths without the attribute are left out.
pub(crate) type Values = BTreeMap<Vec<u8>, String>;

/// The values that some paths have by the files `.gitattributes` in a folder, and where it has
/// none by those in the index of the view.
pub(crate) async fn values_in<'p>(
    view: &View,
    files: &Path,
    attribute: &str,
    paths: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Values, GitError> {
    values(view.command_in("check-attr", files), attribute, paths).await
}

async fn values<'p>(
    command: Command,
    attribute: &str,
    paths: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Values, GitError> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path);
        input.push(0);
    }
    if input.is_empty() {
        return Ok(Values::new());
    }
    let printed = command
        .args(["--stdin", "-z", attribute])
        .input(input)
        .stdout_limit(LIST_LIMIT)
        .output()
        .await?;
    let mut values = Values::new();
    let mut parts = printed.split(|&b| b == 0);
    while let (Some(path), Some(_), Some(value)) = (parts.next(), parts.next(), parts.next()) {
        if value != b"unspecified" {
            values.insert(path.to_vec(), lossy(value));
        }
    }
    Ok(values)
}

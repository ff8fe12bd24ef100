//! A run reads a copy of its agent's instructions that is its own
//! (docs/heartbeats.md#files).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use workforce_app::agents::instructions::{self, FileOperation, PatchBundle, PutFile};
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::instructions::{BundleMode, BundlePath};
use workforce_domain::run::{RunErrorCode, RunStatus};

use crate::support::{House, UNTIL_GO, eventually};

const ENTRY: &str = "AGENTS.md";
const SECOND: &str = "docs/style.md";

/// A script that reads its instructions, waits, and reads them again.
fn reading_twice() -> String {
    let read = "cat \"$WORKFORCE_INSTRUCTIONS_FILE\" \"$WORKFORCE_INSTRUCTIONS_DIR/docs/style.md\"";
    format!("{read} > before; {UNTIL_GO}; {read} > after")
}

/// Writes a file of a managed bundle.
fn put(house: &House, agent: AgentId, path: &str, content: &str) {
    let command = PutFile {
        path: BundlePath::parse(path).expect("a path"),
        content: content.to_owned(),
        if_match: None,
        clear_legacy: false,
    };
    house.act(|tx, ctx| instructions::put_file(tx, ctx, agent, &command, &FileOperation::Nothing));
}

/// Has an agent read its instructions from a folder.
fn read_from(house: &House, agent: AgentId, root: &Path) {
    let command = PatchBundle {
        mode: Some(BundleMode::External),
        root_path: Some(root.display().to_string()),
        ..PatchBundle::default()
    };
    let plan = house.act(|tx, ctx| instructions::plan_patch(tx.reads(), ctx, agent, &command));
    let prepared =
        instructions::prepare(&*house.ports.instructions, plan).expect("a usable folder");
    house.act(|tx, ctx| instructions::patch(tx, ctx, agent, &command, &prepared));
}

/// Where the copy of a run lies while it is live.
fn copy_of(house: &House, run: RunId) -> PathBuf {
    house
        .path("data/runs")
        .join(house.company.to_string())
        .join(run.to_string())
        .join("instructions")
}

/// What a folder holds, with the rights of each.
fn rights(folder: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(path) = rest.pop() {
        let metadata = fs::symlink_metadata(&path).expect("a file");
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder");
            rest.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        let name = path.strip_prefix(folder).expect("beneath it").to_owned();
        found.insert(name, metadata.permissions().mode() & 0o777);
    }
    found
}

/// Two runs; in the middle of the first `write` changes the instructions.
async fn reads_what_was_there_at_its_start(
    house: &House,
    agent: AgentId,
    write: impl Fn(&str, &str),
) {
    let write_both = |age: &str| {
        write(ENTRY, &format!("{age} rules\n"));
        write(SECOND, &format!("{age} style\n"));
    };
    write_both("old");
    let engine = house.start();
    let first = house.invoke(agent).run.id;
    house.file("ready").await;
    let copy = copy_of(house, first);
    let expected = [
        ("", 0o500),
        (ENTRY, 0o400),
        ("docs", 0o500),
        (SECOND, 0o400),
    ];
    assert_eq!(
        rights(&copy),
        expected.map(|(path, mode)| (path.into(), mode)).into()
    );
    write_both("new");
    house.go();
    assert_eq!(house.ended(first).await.status, RunStatus::Succeeded);
    for file in ["before", "after"] {
        assert_eq!(house.file(file).await, "old rules\nold style\n", "{file}");
    }
    eventually("it goes with its run", || (!copy.exists()).then_some(())).await;

    let second = house.invoke(agent).run.id;
    assert_eq!(house.ended(second).await.status, RunStatus::Succeeded);
    assert_eq!(house.file("after").await, "new rules\nnew style\n");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_managed_bundle_is_copied_at_the_start() {
    let house = House::new();
    let agent = house.hire_shell(&reading_twice());
    reads_what_was_there_at_its_start(&house, agent, |path, content| {
        put(&house, agent, path, content);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_external_bundle_is_copied_at_the_start() {
    let house = House::new();
    let agent = house.hire_shell(&reading_twice());
    let root = house.path("guides");
    fs::create_dir_all(root.join("docs")).expect("a folder");
    fs::write(root.join(ENTRY), "").expect("a file");
    // Neither of these is an instruction.
    fs::write(house.path("outside.md"), "not for agents").expect("a file");
    symlink(house.path("outside.md"), root.join("link.md")).expect("a link");
    fs::write(root.join("image.md"), [0xff]).expect("a file");
    read_from(&house, agent, &root);
    reads_what_was_there_at_its_start(&house, agent, |path, content| {
        fs::write(root.join(path), content).expect("a file");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_read_its_instructions_starts_nothing() {
    let house = House::new();
    let engine = house.start();
    let agent = house.hire_shell("touch started");
    let root = house.path("guides");
    let entry = root.join(ENTRY);
    let make = || {
        fs::create_dir_all(&root).expect("a folder");
        fs::write(&entry, "rules").expect("a file");
    };
    make();
    read_from(&house, agent, &root);
    let spoilt: [(&str, &dyn Fn()); 4] = [
        ("no text", &|| fs::write(&entry, [0xff]).expect("a file")),
        ("a link", &|| {
            fs::rename(&entry, root.join("other.md")).expect("a file");
            symlink("other.md", &entry).expect("a link");
        }),
        ("no file", &|| fs::remove_file(&entry).expect("a link")),
        ("no folder", &|| {
            fs::remove_dir_all(&root).expect("a folder");
        }),
    ];
    for (what, spoil) in &spoilt {
        spoil();
        let run = house.invoke(agent).run.id;
        let ended = house.ended(run).await;
        assert_eq!(
            (ended.status, ended.error_code),
            (
                RunStatus::Failed,
                Some(RunErrorCode::InstructionsUnavailable)
            ),
            "{what}"
        );
        let error = ended.error.unwrap_or_default();
        assert!(error.contains(ENTRY), "{what}: {error}");
        assert!(
            !error.contains(house.folder.path().to_str().expect("text")),
            "{error}"
        );
        assert!(!copy_of(&house, run).exists(), "{what}");
        assert_eq!(house.processes(), [], "{what}");
    }
    assert!(!house.path("started").exists());
    // None was tried again by itself.
    assert_eq!(house.runs(&[]).len(), spoilt.len());

    make();
    let run = house.invoke(agent).run.id;
    assert_eq!(house.ended(run).await.status, RunStatus::Succeeded);
    assert!(house.path("started").exists());
    engine.shutdown().await;
}

//! What an agent may try: nothing outside of its ticket changes.

mod payloads;
mod worktrees;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::repositories::{Files, differences, files, refs_but, untouchable};
use super::scene::Scene;

/// How everything is but the ticket on `feature/ABC-1`.
struct Surroundings {
    source: Files,
    remote: Files,
    refs: BTreeMap<String, String>,
    canaries: Files,
}

impl Surroundings {
    fn of(scene: &Scene<'_>) -> Self {
        let canaries = canaries(scene);
        fs::create_dir_all(&canaries).unwrap();
        fs::write(canaries.join("canary"), "alive\n").unwrap();
        Self::seen(scene)
    }

    fn seen(scene: &Scene<'_>) -> Self {
        let not_of_ticket = ["objects", "refs/heads/feature"];
        let has_remote = scene.remote.exists();
        Self {
            source: untouchable(&scene.source),
            remote: match has_remote {
                true => files(&scene.remote, &not_of_ticket),
                false => Files::new(),
            },
            refs: match has_remote {
                true => refs_but(&scene.remote, "refs/heads/feature/ABC-1"),
                false => BTreeMap::new(),
            },
            canaries: files(&canaries(scene), &[]),
        }
    }

    /// Nothing of it changed, but for what the agent itself wrote.
    #[track_caller]
    fn are_as_before(&self, scene: &Scene<'_>) {
        let now = Self::seen(scene);
        for (what, before, after) in [
            ("the source", &self.source, &now.source),
            ("the remote", &self.remote, &now.remote),
            ("the canaries", &self.canaries, &now.canaries),
        ] {
            let changed = differences(before, after);
            assert!(changed.is_empty(), "{what} differs in {changed:?}");
        }
        assert_eq!(self.refs, now.refs);
    }
}

/// A folder that nobody may touch.
fn canaries(scene: &Scene<'_>) -> PathBuf {
    scene.home().join("canaries")
}

/// A program that leaves a mark among the canaries.
fn trap(scene: &Scene<'_>, path: &Path) -> String {
    let mark = canaries(scene).join("sprung");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", mark.display());
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

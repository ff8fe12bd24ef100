use std::io;

use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{Containment, Means};
use crate::cgroup::{self, RunCgroup};
use crate::run_as::RunAs;
use crate::{first_process, launch};

/// Covered for a trial, in namespaces that end with it.
const ANY_FOLDER: &str = "/tmp";

/// Tries what this kernel allows this user, for programs of this account. To be
/// called while the process has one thread.
pub(crate) fn probe(run_as: Option<RunAs>) -> Means {
    Means {
        namespaces: has_namespaces(run_as),
        files: has_file_rules(),
        signals: has_signal_scope(),
        cgroup: cgroup::is_usable(enters),
    }
}

fn has_namespaces(run_as: Option<RunAs>) -> bool {
    let containment = Containment {
        hidden: vec![ANY_FOLDER.into()],
        run_as,
        ..Containment::default()
    };
    let tried = first_process::start(&containment, None, |outcome| {
        let run_as = containment.run_as.as_ref();
        let is_refused = outcome.is_err() || run_as.is_some_and(|it| it.become_user().is_err());
        first_process::exit_with(i32::from(is_refused));
    });
    succeeds(tried)
}

/// Waits for the end of a process.
fn succeeds(process: io::Result<i32>) -> bool {
    process.map(Pid::from_raw).is_ok_and(|pid| {
        let ended = waitpid(pid, None);
        ended == Ok(WaitStatus::Exited(pid, 0))
    })
}

/// Whether a process can enter a cgroup.
fn enters(cgroup: &RunCgroup) -> bool {
    let tried = launch::fork(|| first_process::exit_with(i32::from(cgroup.enter().is_err())));
    succeeds(tried)
}

fn has_file_rules() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
}

fn has_signal_scope() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::Signal)
        .and_then(Ruleset::create)
        .is_ok()
}

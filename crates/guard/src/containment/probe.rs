use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{Containment, Means};
use crate::first_process;

/// Covered for a trial, in namespaces that end with it.
const ANY_FOLDER: &str = "/tmp";

/// Tries what this kernel allows this user. To be called while the process has one
/// thread.
pub(crate) fn probe() -> Means {
    Means {
        namespaces: has_namespaces(),
        files: has_file_rules(),
        signals: has_signal_scope(),
    }
}

fn has_namespaces() -> bool {
    let containment = Containment {
        hidden: vec![ANY_FOLDER.into()],
        ..Containment::default()
    };
    let tried = first_process::start(&containment, None, |outcome| {
        first_process::exit_with(i32::from(outcome.is_err()));
    });
    tried.map(Pid::from_raw).is_ok_and(|pid| {
        let ended = waitpid(pid, None);
        ended == Ok(WaitStatus::Exited(pid, 0))
    })
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

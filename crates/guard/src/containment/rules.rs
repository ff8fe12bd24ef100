//! Landlock: rules that a process and all that it starts can never take off.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::capabilities::keep_usual;
use super::{Containment, devices, kernel_files};

/// The newest rules that are used. Older kernels use what they know of them.
const RULES: ABI = ABI::V6;

/// Rules that are ready to be put on.
pub(crate) struct Rules(Option<RulesetCreated>);

impl Rules {
    /// Rules by the means of a containment.
    ///
    /// # Errors
    ///
    /// The kernel does not know them.
    pub(crate) fn of(containment: &Containment) -> io::Result<Self> {
        let means = containment.means;
        let needed = means.files || means.signals;
        let rules = needed.then(|| build(containment)).transpose();
        rules.map(Self).map_err(io::Error::other)
    }

    /// Restricts this process. One that is not root in its user namespace can then
    /// get no more rights by a program that has some (`sudo`).
    ///
    /// # Errors
    ///
    /// The kernel does not allow it.
    pub(crate) fn restrict(self, containment: &Containment, is_root_here: bool) -> io::Result<()> {
        let Some(rules) = self.0 else {
            return Ok(());
        };
        let restricted = rules.no_new_privs(!is_root_here).restrict_self();
        restricted.map_err(io::Error::other)?;
        let means = containment.means;
        if means.files && !means.namespaces && is_root_here {
            keep_usual()?;
        }
        Ok(())
    }
}

fn build(containment: &Containment) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    if containment.means.files {
        rules = rules.handle_access(AccessFs::from_all(RULES))?;
    }
    if containment.means.signals {
        rules = rules.scope(Scope::Signal)?;
        if containment.leaves_root() {
            // Services behind these ask only whether it is root who connects.
            rules = rules.scope(Scope::AbstractUnixSocket)?;
        }
    }
    let mut rules = rules.create()?;
    if containment.means.files {
        for (path, access) in allowed(containment) {
            rules = allow(rules, &path, access)?;
        }
    }
    Ok(rules)
}

/// What may be done where. A rule counts for all beneath its folder, so that the
/// folders on the way to hidden ones have only the rule that they may be listed.
fn allowed(containment: &Containment) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    let all = AccessFs::from_all(RULES);
    let elsewhere = match containment.writable {
        Some(_) => AccessFs::from_read(RULES),
        None => all,
    };
    let mut allowed = vec![(PathBuf::from("/"), AccessFs::ReadDir.into())];
    let mut apart = containment.hidden.clone();
    for point in kernel_files::mount_points(containment) {
        allowed.push((point.clone(), AccessFs::from_read(RULES)));
        apart.push(point);
    }
    // In namespaces there are no devices but what everybody may use, and no processes
    // but those of the run.
    let mut always = match containment.means.namespaces {
        true => vec![PathBuf::from("/proc")],
        false => vec![PathBuf::from("/proc/self")],
    };
    if containment.leaves_root() && !containment.means.namespaces {
        always.extend(devices::for_everybody());
        apart.push(devices::FOLDER.into());
    } else {
        always.push(devices::FOLDER.into());
    }
    outside(Path::new("/"), &apart, &mut |path| {
        allowed.push((path, elsewhere));
    });
    for path in always {
        outside(&path, &containment.hidden, &mut |path| {
            allowed.push((path, all));
        });
    }
    let writable = containment.writable.iter().flatten().cloned();
    allowed.extend(
        writable
            .filter(|path| !containment.hides(path))
            .map(|path| (path, all)),
    );
    allowed.extend(containment.shown.iter().map(|shown| {
        let access = match shown.is_writable {
            true => all,
            false => AccessFs::from_read(RULES),
        };
        (shown.path.clone(), access)
    }));
    allowed
}

/// Finds everything at this path that is neither hidden nor on the way to what is.
/// Links are left out: where they lead has a rule of its own, or is hidden.
fn outside(path: &Path, hidden: &[PathBuf], found: &mut impl FnMut(PathBuf)) {
    if hidden.iter().any(|hidden| path.starts_with(hidden)) {
        return;
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(path)) {
        return found(path.to_owned());
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let kind = entry.file_type();
        if !kind.is_ok_and(|kind| kind.is_symlink()) {
            outside(&entry.path(), hidden, found);
        }
    }
}

/// What is gone meanwhile needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(file) = PathFd::new(path) else {
        return Ok(rules);
    };
    let access = match path.is_dir() {
        true => access,
        false => access & AccessFs::from_file(RULES),
    };
    rules.add_rule(PathBeneath::new(file, access))
}

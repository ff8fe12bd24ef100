//! Landlock: rules that a process and all that it starts can never take off.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::Containment;
use super::capabilities::give_up_ways_around;
use crate::cgroup;

/// The newest rules that are used. Older kernels use what they know of them.
const RULES: ABI = ABI::V6;
/// Devices and processes are written to whatever else may be.
const ALWAYS_WRITABLE: [&str; 2] = ["/dev", "/proc"];

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
            give_up_ways_around()?;
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
    let points = cgroup::mount_points().into_iter();
    let points: Vec<_> = points.filter(|point| !containment.hides(point)).collect();
    let read_only = points.iter().cloned();
    allowed.extend(read_only.map(|point| (point, AccessFs::from_read(RULES))));
    apart.extend(points);
    beside(Path::new("/"), &apart, &mut |path| {
        allowed.push((path, elsewhere));
    });
    let writable = containment.writable.iter().flatten().cloned();
    allowed.extend(
        writable
            .filter(|path| !containment.hides(path))
            .map(|path| (path, all)),
    );
    if containment.writable.is_some() {
        allowed.extend(ALWAYS_WRITABLE.map(|path| (PathBuf::from(path), all)));
    }
    allowed.extend(containment.shown.iter().map(|shown| {
        let access = match shown.is_writable {
            true => all,
            false => AccessFs::from_read(RULES),
        };
        (shown.path.clone(), access)
    }));
    allowed
}

/// Finds everything that is not on the way to a hidden path. Links are left out:
/// where they lead has a rule of its own, or is hidden.
fn beside(folder: &Path, hidden: &[PathBuf], found: &mut impl FnMut(PathBuf)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type();
        if hidden.contains(&path) || kind.is_ok_and(|kind| kind.is_symlink()) {
            continue;
        }
        match hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            true => beside(&path, hidden, found),
            false => found(path),
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

impl Containment {
    /// Whether a path is hidden, or beneath what is.
    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }
}

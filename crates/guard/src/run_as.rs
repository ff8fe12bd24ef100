//! The account that the programs of runs have, where the server is root
//! (docs/operations.md#another-user).

use std::ffi::CString;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{
    AccessFlags, Gid, Uid, User, eaccess, geteuid, getgrouplist, setegid, seteuid, setgroups,
    setresgid, setresuid,
};
use serde::{Deserialize, Serialize};

use crate::containment::{give_up_all, narrow_to_nothing};

/// An account of the operating system that programs run as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAs {
    /// Its name.
    pub name: String,
    /// The number of the user.
    pub uid: u32,
    /// The number of its own group.
    pub gid: u32,
    /// The numbers of all groups that it is in.
    pub groups: Vec<u32>,
    /// Its home folder.
    pub home: PathBuf,
    /// Its shell.
    pub shell: PathBuf,
}

/// Why programs cannot run as a user.
#[derive(Debug, thiserror::Error)]
pub enum RunAsError {
    /// Only root may become another user.
    #[error("only a server that runs as root can run programs as another user")]
    NotRoot,
    /// There is no such user.
    #[error("there is no user {0:?} on this computer")]
    Unknown(String),
    /// The user is root.
    #[error("{0:?} is root, who is not another user than the server's")]
    Root(String),
    /// The accounts of this computer cannot be read.
    #[error("the accounts of this computer cannot be read: {0}")]
    Accounts(#[from] Errno),
}

impl RunAs {
    /// Looks an account up by its name.
    ///
    /// # Errors
    ///
    /// See [`RunAsError`].
    pub fn resolve(name: &str) -> Result<Self, RunAsError> {
        if !geteuid().is_root() {
            return Err(RunAsError::NotRoot);
        }
        let Some(user) = User::from_name(name)? else {
            return Err(RunAsError::Unknown(name.to_owned()));
        };
        if user.uid.is_root() {
            return Err(RunAsError::Root(name.to_owned()));
        }
        let named = CString::new(user.name.as_str());
        let named = named.map_err(|_nul| RunAsError::Unknown(name.to_owned()))?;
        let groups = getgrouplist(&named, user.gid)?;
        Ok(Self {
            name: user.name,
            uid: user.uid.as_raw(),
            gid: user.gid.as_raw(),
            groups: groups.into_iter().map(Gid::as_raw).collect(),
            home: user.dir,
            shell: user.shell,
        })
    }

    /// Becomes this user for good. Nothing that is executed later gets any right
    /// back, not by a set-user-id bit either: who becomes root without rights still
    /// owns root's files.
    ///
    /// # Errors
    ///
    /// This process may not.
    pub(crate) fn become_user(&self) -> Result<(), Errno> {
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        narrow_to_nothing()?;
        setgroups(&self.groups())?;
        setresgid(gid, gid, gid)?;
        setresuid(uid, uid, uid)?;
        give_up_all()?;
        prctl::set_no_new_privs()
    }

    /// Whether this user can search a folder, as its kernel sees it. To be called
    /// while the process has one thread.
    pub(crate) fn can_enter(&self, folder: &std::path::Path) -> io::Result<()> {
        let own = nix::unistd::getgroups()?;
        setgroups(&self.groups())?;
        setegid(Gid::from_raw(self.gid))?;
        seteuid(Uid::from_raw(self.uid))?;
        let entered = eaccess(folder, AccessFlags::X_OK);
        seteuid(Uid::from_raw(0))?;
        setegid(nix::unistd::getgid())?;
        setgroups(&own)?;
        Ok(entered?)
    }

    fn groups(&self) -> Vec<Gid> {
        self.groups.iter().copied().map(Gid::from_raw).collect()
    }
}

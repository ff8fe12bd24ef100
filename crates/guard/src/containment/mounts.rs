use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, statvfs};

use super::{Containment, Shown, devices, kernel_files};

const NOTHING: Option<&str> = None;
const NO_PROGRAMS: MsFlags = MsFlags::MS_NOSUID
    .union(MsFlags::MS_NODEV)
    .union(MsFlags::MS_NOEXEC);
/// For the folders in which the shown ones lie.
const COVER_OPTIONS: &str = "size=1m,mode=0755";

/// Hides what is to be hidden, in the mount namespace of this process, and shows
/// the processes of its own PID namespace only.
///
/// # Errors
///
/// The kernel does not allow it.
pub(crate) fn prepare(containment: &Containment) -> io::Result<()> {
    // What is mounted outside later is seen inside, but not the other way round.
    mount(
        NOTHING,
        "/",
        NOTHING,
        MsFlags::MS_SLAVE | MsFlags::MS_REC,
        NOTHING,
    )?;
    for folder in above(&containment.hidden) {
        bind(folder, folder)?;
    }
    for hidden in &containment.hidden {
        match fs::symlink_metadata(hidden) {
            Ok(file) if file.is_dir() => {
                cover(hidden, &containment.shown)?;
                make_read_only(hidden)?;
            }
            Ok(_) => bind(Path::new("/dev/null"), hidden)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    for point in kernel_files::mount_points(containment) {
        match close(&point) {
            // It lies beneath another mount, or where root itself may not go.
            Err(Errno::ENOENT | Errno::ENOTDIR | Errno::EINVAL | Errno::EACCES) => {}
            outcome => outcome?,
        }
    }
    mount(Some("proc"), "/proc", Some("proc"), NO_PROGRAMS, NOTHING)?;
    if containment.leaves_root() {
        for file in kernel_files::besides_processes() {
            bind(&file, &file)?;
            make_read_only(&file)?;
        }
        cover_devices()?;
    }
    Ok(())
}

/// Makes a mount read-only; nothing is mounted on it from outside any more.
fn close(point: &Path) -> Result<(), Errno> {
    mount(NOTHING, point, NOTHING, MsFlags::MS_PRIVATE, NOTHING)?;
    make_read_only(point)
}

/// Covers `/dev` with what everybody may use of it, and terminals of the run's own.
fn cover_devices() -> io::Result<()> {
    let folder = Path::new(devices::FOLDER);
    let terminals = folder.join("pts");
    let multiplexer = folder.join("ptmx");
    let is_other = |path: &PathBuf| *path != terminals && *path != multiplexer;
    let links = devices::links();
    let shown: Vec<Shown> = devices::for_everybody()
        .into_iter()
        .filter(is_other)
        .map(|path| Shown {
            path,
            is_writable: true,
        })
        .collect();
    cover(folder, &shown)?;
    for (link, target) in links.iter().filter(|(link, _)| is_other(link)) {
        symlink(target, link)?;
    }
    symlink("pts/ptmx", &multiplexer)?;
    fs::create_dir(&terminals)?;
    mount(
        Some("devpts"),
        &terminals,
        Some("devpts"),
        MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC,
        Some("newinstance,ptmxmode=0666,mode=0620"),
    )?;
    make_read_only(folder)?;
    Ok(())
}

/// The folders in which what is hidden lies, the outermost first. What is a place of a
/// mount can neither be moved nor removed. So a run that could move one of them and put
/// another in its place cannot have the next run hide the wrong one.
fn above(hidden: &[PathBuf]) -> BTreeSet<&Path> {
    let folders = hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1));
    folders.filter(|folder| folder.parent().is_some()).collect()
}

/// Covers a folder with an empty one, in which only what is shown lies.
fn cover(hidden: &Path, shown: &[Shown]) -> io::Result<()> {
    let kept: Vec<(File, &Shown)> = shown
        .iter()
        .filter(|shown| shown.path.starts_with(hidden))
        .filter_map(|shown| Some((open(&shown.path).ok()?, shown)))
        .collect();
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(
        Some("tmpfs"),
        hidden,
        Some("tmpfs"),
        flags,
        Some(COVER_OPTIONS),
    )?;
    for (file, Shown { path, is_writable }) in kept {
        make_place(&file, path)?;
        bind(
            &PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            path,
        )?;
        if !is_writable {
            make_read_only(path)?;
        }
    }
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW)
        .open(path)
}

/// Makes something of the same kind for it to be mounted on.
fn make_place(file: &File, path: &Path) -> io::Result<()> {
    let folders = |path: &Path| DirBuilder::new().recursive(true).mode(0o755).create(path);
    if file.metadata()?.is_dir() {
        return folders(path);
    }
    if let Some(parent) = path.parent() {
        folders(parent)?;
    }
    File::create(path)?;
    Ok(())
}

fn bind(from: &Path, to: &Path) -> io::Result<()> {
    mount(
        Some(from),
        to,
        NOTHING,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        NOTHING,
    )?;
    Ok(())
}

/// The kernel refuses to take off what else a mount forbids.
fn make_read_only(path: &Path) -> Result<(), Errno> {
    let present = statvfs(path)?.flags();
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for (is, flag) in [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ] {
        if present.contains(is) {
            flags |= flag;
        }
    }
    mount(NOTHING, path, NOTHING, flags, NOTHING)
}

use std::fs;

use tempfile::TempDir;

use super::*;

/// A folder with the files that a kernel with both controllers shows.
fn with_controllers() -> (TempDir, Cgroup) {
    let root = tempfile::tempdir().unwrap();
    for file in [
        "memory.max",
        "memory.swap.max",
        "memory.oom.group",
        "pids.max",
    ] {
        fs::write(root.path().join(file), "").unwrap();
    }
    let folder = root.path().to_owned();
    (root, Cgroup { folder })
}

#[test]
fn limits_are_told_to_the_controllers() {
    let (root, cgroup) = with_controllers();
    assert!(cgroup.limit_memory(4096) && cgroup.limit_processes(7));
    let told = |file: &str| fs::read_to_string(root.path().join(file)).unwrap();
    assert_eq!((&*told("memory.max"), &*told("pids.max")), ("4096", "7"));
    assert_eq!(
        (&*told("memory.swap.max"), &*told("memory.oom.group")),
        ("0", "1")
    );
}

#[test]
fn a_controller_that_is_not_there_keeps_no_limit() {
    let root = tempfile::tempdir().unwrap();
    let cgroup = Cgroup {
        folder: root.path().to_owned(),
    };
    assert!(!cgroup.limit_memory(4096) && !cgroup.limit_processes(7));
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
    assert!(!cgroup.ran_out_of_memory());
}

#[test]
fn a_kill_for_want_of_memory_is_seen() {
    let (root, cgroup) = with_controllers();
    let events =
        |oom_kill: u32| format!("low 0\nmax 9\noom 3\noom_kill {oom_kill}\noom_group_kill 1\n");
    fs::write(root.path().join("memory.events"), events(0)).unwrap();
    assert!(!cgroup.ran_out_of_memory());
    fs::write(root.path().join("memory.events"), events(2)).unwrap();
    assert!(cgroup.ran_out_of_memory());
}

#[test]
fn only_a_cgroup_that_is_named_after_the_run_is_its_own() {
    let run: RunId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    let path = |name: &str| PathBuf::from(format!("/sys/fs/cgroup/{name}"));
    let own = path(&name_of(run));
    assert!(Cgroup::at(own, run).is_some());
    assert!(Cgroup::at(path("system.slice"), run).is_none());
    assert!(Cgroup::at(name_of(run).into(), run).is_none());
}

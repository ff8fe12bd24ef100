//! Agents' programs of another user than the server's.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use nix::unistd::{User, geteuid};
use serde_json::json;

use crate::containment::{Site, attack};
use crate::harness::{binary, folder};

const USER: &str = "nobody";

fn is_root() -> bool {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root may run programs as another user");
    }
    geteuid().is_root()
}

fn uid() -> u32 {
    User::from_name(USER).unwrap().unwrap().uid.as_raw()
}

#[test]
fn runs_of_another_user_reach_nothing_of_the_server() {
    if !is_root() {
        return;
    }
    for (mode, home) in [
        ("best-effort", "private"),
        ("strict", "private"),
        ("off", "private"),
        ("off", "shared"),
    ] {
        let flags = ["--containment", mode, "--agent-home", home];
        let site = Site::new(&[&flags[..], &["--run-as", USER]].concat());
        if mode != "off" && !site.means().contains("land") && !site.means().contains("name") {
            eprintln!("LEFT OUT: this kernel has no means of containment");
            continue;
        }
        assert!(site.means().ends_with("\"run_as\"]"), "{}", site.means());
        let told = site.server.log();
        assert!(told.lock().unwrap().contains("programs run as nobody"));
        std::fs::set_permissions(site.work.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let (_, of_other) = site.run("Bob", "umask 077; echo mine > note");
        assert_eq!(of_other, "", "{mode}");
        let attack = attack(site.data.path(), site.server.pid());
        let (run, output) = site.run("Eve", &format!("id -u\n{attack}"));
        let expected = match mode {
            // There all runs are one user.
            "off" => output
                .lines()
                .filter(|line| line.ends_with("/note"))
                .count(),
            _ => 0,
        };
        let lines: Vec<&str> = output
            .lines()
            .filter(|line| !line.ends_with("/note"))
            .collect();
        assert_eq!(lines, [&*uid().to_string(), "end"], "{mode} {output} {run}");
        assert_eq!(output.lines().count(), lines.len() + expected);
        assert!(run["containment"].as_str().unwrap().ends_with("run_as"));
    }
}

#[test]
fn the_way_through_the_data_folder_shows_nothing_beside_it() {
    if !is_root() {
        return;
    }
    let site = Site::new(&["--containment", "off", "--run-as", USER]);
    let data = site.data.path();
    assert_eq!(data.metadata().unwrap().mode() & 0o777, 0o710);
    for entry in std::fs::read_dir(data).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().mode() & 0o777;
        let name = entry.file_name();
        let expected = if name == "agents" || name == "runs" {
            0o10
        } else {
            0
        };
        assert_eq!(mode & 0o77, expected, "{}", entry.path().display());
    }
    drop(site);
    let site = Site::new(&["--run-as", USER, "--containment", "best-effort"]);
    if site.means().contains("namespaces") {
        let mode = |folder: &Path| folder.metadata().unwrap().mode();
        assert_eq!(
            mode(site.data.path()),
            mode(site.work.path()),
            "it is as it was"
        );
    }
}

#[test]
fn a_user_that_programs_cannot_have_is_refused_at_the_start() {
    let refusal = |user: &str, as_user: Option<u32>| {
        let data = folder();
        let mut command = binary();
        if let Some(uid) = as_user {
            command.uid(uid).gid(uid);
        }
        let refused = command
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--run-as",
                user,
                "--data-dir",
            ])
            .arg(data.path().join("data"))
            .stdin(Stdio::null())
            .output();
        let refused = refused.ok()?;
        assert!(!refused.status.success());
        assert!(!data.path().join("data").exists(), "nothing is made");
        Some(String::from_utf8_lossy(&refused.stderr).into_owned())
    };
    if !geteuid().is_root() {
        let told = refusal(USER, None).unwrap();
        assert!(told.contains("only a server that runs as root"), "{told}");
        return;
    }
    match refusal("root", Some(uid())) {
        Some(told) => assert!(told.contains("only a server that runs as root"), "{told}"),
        None => eprintln!("LEFT OUT: the folder of the build is not open to {USER}"),
    }
    let told = refusal("no-such-user", None).unwrap();
    assert!(told.contains("there is no user \"no-such-user\""), "{told}");
    let told = refusal("root", None).unwrap();
    assert!(told.contains("is root"), "{told}");
}

#[test]
fn a_data_folder_that_the_user_cannot_reach_is_refused_at_the_start() {
    if !is_root() {
        return;
    }
    let closed = folder();
    std::fs::set_permissions(closed.path(), PermissionsExt::from_mode(0o700)).unwrap();
    let refused = binary()
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--run-as",
            USER,
            "--data-dir",
        ])
        .arg(closed.path().join("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("cannot enter"),
        "{told}"
    );
}

#[test]
fn a_run_of_another_user_is_cancelled_whatever_it_does() {
    if !is_root() {
        return;
    }
    let site = Site::new(&["--containment", "off", "--run-as", USER]);
    std::fs::set_permissions(site.work.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let alive = site.work.path().join("alive");
    let text = format!(
        "exec 9> {}; flock -s 9; trap '' TERM\n\
         (setsid env -i setsid sh -c 'trap \"\" TERM; exec sleep 300' > /dev/null 2>&1 &)\n\
         while :; do sleep 0.1; done\n",
        alive.display()
    );
    let path = site.begin("Eve", &text);
    let file = loop {
        match std::fs::File::open(&alive) {
            Ok(file) if file.try_lock().is_err() => break file,
            _ => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    };
    site.server.post(&format!("{path}/cancel"), &json!(null));
    let ended = site
        .server
        .wait_for(&path, |run| run["status"] != "running");
    assert_eq!(ended["status"], "cancelled");
    assert!(file.try_lock().is_ok(), "a process outlived its run");
}

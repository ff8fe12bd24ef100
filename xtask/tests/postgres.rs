//! A throw-away PostgreSQL must not outlive the process that started it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

/// Long enough for a busy machine to end a server.
const PATIENCE: Duration = Duration::from_secs(30);

/// `cargo xtask postgres` with the address its server listens on; `None` where PostgreSQL is not
/// installed and need not be.
fn start() -> Option<(Child, SocketAddr)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test is no agent"
    )]
    let mut child = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    if url.is_empty() {
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("no PostgreSQL server found"), "{errors}");
        assert!(env::var("CI").as_deref() != Ok("true"), "{errors}");
        return None;
    }
    let address = url
        .split(['@', '/'])
        .find_map(|part| part.parse().ok())
        .unwrap();
    Some((child, address))
}

#[track_caller]
fn assert_ends(address: SocketAddr) {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect(address).is_ok() {
        assert!(
            Instant::now() < deadline,
            "the server still listens on {address}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_server_ends_with_a_killed_process() {
    let Some((mut child, address)) = start() else {
        return;
    };
    assert!(TcpStream::connect(address).is_ok());

    child.kill().unwrap();
    child.wait().unwrap();

    assert_ends(address);
}

#[test]
fn the_server_ends_when_standard_input_closes() {
    let Some((mut child, address)) = start() else {
        return;
    };
    assert!(TcpStream::connect(address).is_ok());

    drop(child.stdin.take());

    assert!(child.wait().unwrap().success());
    assert_ends(address);
}

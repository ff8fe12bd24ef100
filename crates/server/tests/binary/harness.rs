//! A started server and a client of it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use workforce_testkit::guards::kill_guards;

use crate::client::{Client, Sender};

/// Nothing in these tests takes nearly so long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The binary, with nothing of the test's own settings in its environment.
pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workforce"));
    for (name, _) in std::env::vars() {
        if name.starts_with("WORKFORCE_") {
            command.env_remove(name);
        }
    }
    command
}

/// A running server. Killed with everything it holds when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) base: String,
    agent: ureq::Agent,
    client: Client,
    log: Arc<Mutex<String>>,
    folder: PathBuf,
}

impl Server {
    /// Starts a server on a free port with its data in `folder`.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[], &[])
    }

    /// The same with more flags and variables.
    pub(crate) fn start_with(folder: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::try_start_with(folder, flags, variables)
            .unwrap_or_else(|log| panic!("no banner in:\n{log}"))
    }

    /// The same, or the log of a server that does not start.
    pub(crate) fn try_start_with(
        folder: &Path,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> Result<Self, String> {
        let mut child = binary()
            .args(["serve", "--data-dir"])
            .arg(folder)
            .args(flags)
            .env("WORKFORCE_LISTEN", "127.0.0.1:0")
            // These agents lie in the data folder, and tell their process ids.
            .env("WORKFORCE_CONTAINMENT", "off")
            .envs(variables.iter().copied())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::default();
        match address(child.stderr.take().unwrap(), &log) {
            Ok(base) => Ok(Self::of(folder, child, base, log)),
            Err(log) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(log)
            }
        }
    }

    /// Starts a server whose standard error goes elsewhere. It cannot tell
    /// where it listens, so that it is given a port that was free just now.
    pub(crate) fn start_unheard(
        folder: &Path,
        flags: &[&str],
        variables: &[(&str, &OsStr)],
        stderr: impl Into<Stdio>,
    ) -> Self {
        let listen = free_address();
        let mut child = binary()
            .args(["serve", "--data-dir"])
            .arg(folder)
            .args(flags)
            .env("WORKFORCE_LISTEN", &listen)
            .env("WORKFORCE_CONTAINMENT", "off")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while TcpStream::connect(&listen).is_err() {
            assert!(child.try_wait().unwrap().is_none(), "the server ended");
            assert!(begun.elapsed() < PATIENCE, "the server does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self::of(folder, child, format!("http://{listen}"), Arc::default())
    }

    fn of(folder: &Path, child: Child, base: String, log: Arc<Mutex<String>>) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        Self {
            child,
            client: Client::to(&base),
            base,
            agent: config.into(),
            log,
            folder: folder.to_owned(),
        }
    }

    /// A client of its address, which its successor may have as well.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// Its data folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the server wrote to its log so far.
    pub(crate) fn log(&self) -> Arc<Mutex<String>> {
        Arc::clone(&self.log)
    }

    /// Sends a request; status and body.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &Value,
    ) -> (u16, Value) {
        let sender = Sender {
            token,
            ..Sender::default()
        };
        self.client.send(method, path, sender, body).unwrap()
    }

    /// What a path answers, as it stands; streams of events as a list.
    pub(crate) fn text(&self, path: &str) -> (u16, String) {
        let request = ureq::http::Request::get(format!("{}{path}", self.base))
            .header("Accept", "application/json")
            .body(())
            .unwrap();
        let mut answer = self.agent.run(request).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), text)
    }

    /// Sends a file as multipart form; status and body.
    pub(crate) fn upload(&self, path: &str, content: &str) -> (u16, Value) {
        let form = format!(
            "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n\
             {content}\r\n--edge--\r\n"
        );
        let request = ureq::http::Request::builder()
            .method("POST")
            .uri(format!("{}{path}", self.base))
            .header("Content-Type", "multipart/form-data; boundary=edge");
        let mut answer = self.agent.run(request.body(form).unwrap()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        (answer.status().as_u16(), body)
    }

    /// The counters.
    pub(crate) fn metrics(&self) -> String {
        let mut answer = self
            .agent
            .get(format!("{}/metrics", self.base))
            .call()
            .unwrap();
        answer.body_mut().read_to_string().unwrap()
    }

    /// Sends a request of the board that is carried out once however often it is
    /// repeated; status and body.
    pub(crate) fn post_once(&self, path: &str, key: &str, body: &Value) -> (u16, Value) {
        let sender = Sender {
            key: Some(key),
            ..Sender::default()
        };
        self.client.send("POST", path, sender, body).unwrap()
    }

    /// Waits until the server says that it can work.
    pub(crate) fn wait_until_ready(&self) {
        let begun = Instant::now();
        loop {
            let (status, answer) = self.send("GET", "/api/health/ready", None, &Value::Null);
            if status == 200 {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "it is not ready: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What must succeed as the board.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send("POST", path, None, body);
        assert!(
            (200..300).contains(&status),
            "POST {path}: {status} {answer}"
        );
        answer
    }

    /// What must be there.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, answer) = self.send("GET", path, None, &Value::Null);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }

    /// Asks until the answer satisfies `done`.
    pub(crate) fn wait_for(&self, path: &str, done: impl Fn(&Value) -> bool) -> Value {
        self.wait_for_answer(path, |status, answer| status == 200 && done(answer))
    }

    /// Asks until status and answer satisfy `done`.
    pub(crate) fn wait_for_answer(&self, path: &str, done: impl Fn(u16, &Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let (status, answer) = self.send("GET", path, None, &Value::Null);
            if done(status, &answer) {
                return answer;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "GET {path} is still {status} {answer}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The process of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the server.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Waits for the end of a server that leaves its runs to the next one.
    pub(crate) fn leave(mut self) -> ExitStatus {
        self.folder = PathBuf::new();
        self.wait()
    }

    /// Waits for the server to end.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the server did not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The guards of its runs wait for the next server.
        kill_guards(&self.folder);
    }
}

/// The address the banner names. Everything goes to `log`, so that the server
/// never waits for its log to be read.
fn address(stderr: impl Read + Send + 'static, log: &Arc<Mutex<String>>) -> Result<String, String> {
    let (sender, receiver) = mpsc::channel();
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some(start) = line.find("serves http://") {
                let rest = &line[start + "serves ".len()..];
                let _ = sender.send(Ok(rest.split("/api").next().unwrap().to_owned()));
            }
            let mut shown = log.lock().unwrap();
            shown.push_str(&line);
            shown.push('\n');
        }
        let _ = sender.send(Err(log.lock().unwrap().clone()));
    });
    receiver
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| Err("nothing in time".to_owned()))
}

/// An address that was free just now.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A folder for one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a shell script into a folder, which a server may use as its data folder all the same.
pub(crate) fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    claim(folder);
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// The variable of servers that keep their attachments in one folder, below `home`.
pub(crate) fn attachments_in(home: &Path) -> (&'static str, String) {
    let place = home.join("attachments");
    let url = format!("file://{}", place.display());
    ("WORKFORCE_ATTACHMENTS_URL", url)
}

/// Lets a server use a folder in which there is something already.
pub(crate) fn claim(folder: &Path) {
    let marker = folder.join("workforce.installation");
    if !marker.exists() {
        std::fs::write(marker, "workforce data folder\n").unwrap();
    }
}

/// True while a process with this id runs.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie is gone for all that matters.
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim().starts_with('Z'))
}

/// Waits until a process is gone.
pub(crate) fn wait_until_gone(pid: i32) {
    let begun = Instant::now();
    while is_alive(pid) {
        assert!(begun.elapsed() < PATIENCE, "process {pid} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for a file and reads it as a process id.
pub(crate) fn wait_for_pid(path: &Path) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(pid) = std::fs::read_to_string(path)
            .ok()
            .and_then(|text| text.trim().parse().ok())
        {
            return pid;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{} was not written",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

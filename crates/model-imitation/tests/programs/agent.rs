//! A program that is run for a test.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::Value;
use tempfile::TempDir;
use workforce_model_imitation::{
    LoggedRequest, ModelImitation, Program, Script, installed_for_test,
};

use crate::processes;

/// Long enough for the slowest program on a busy machine. A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// A program with an imitation and a home of its own.
pub(crate) struct Agent {
    pub(crate) imitation: ModelImitation,
    program: Program,
    executable: PathBuf,
    folder: TempDir,
    environment: Vec<(String, String)>,
}

impl Agent {
    /// `None` where the program is not installed.
    pub(crate) fn new(program: Program) -> Option<Self> {
        let executable = installed_for_test(program)?;
        let imitation = ModelImitation::start(Script::new()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let home = folder.path().join("home");
        imitation.write_settings_for(program, &home).unwrap();
        let environment = imitation.environment_for(program);
        Some(Self {
            imitation,
            program,
            executable,
            folder,
            environment,
        })
    }

    /// Sets a variable of its environment, in place of what points it at the imitation too.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.retain(|(it, _)| it != name);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Runs it to its end, with `prompt` on standard input.
    ///
    /// What it says goes into files: through a pipe, the end of its output would be that of the
    /// last process that it left behind.
    pub(crate) fn run(&self, arguments: &[&str], prompt: &str) -> Ended {
        let folder = self.folder.path();
        let file = |name: &str| folder.join(name);
        fs::write(file("prompt"), prompt).unwrap();
        let mut path = vec![self.executable.parent().unwrap().to_owned()];
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        #[expect(
            clippy::disallowed_methods,
            reason = "the program under test belongs to no company"
        )]
        let mut command = Command::new(&self.executable);
        command
            .args(arguments)
            .current_dir(file("work"))
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", file("tmp"))
            .env("PATH", env::join_paths(path).unwrap())
            .env("LANG", "C.UTF-8")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .stdin(File::open(file("prompt")).unwrap())
            .stdout(File::create(file("stdout")).unwrap())
            .stderr(File::create(file("stderr")).unwrap());
        let running = Running {
            agent: self,
            child: command.spawn().unwrap(),
        };
        let status = running.wait();
        Ended {
            status,
            stdout: fs::read_to_string(file("stdout")).unwrap(),
            stderr: fs::read_to_string(file("stderr")).unwrap(),
            requests: self.imitation.requests(),
        }
    }

    fn said(&self) -> String {
        let read = |name| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        let requests = self.imitation.requests();
        format!("{}\n{}\n{requests:#?}", read("stdout"), read("stderr"))
    }
}

/// A program that runs. When this is dropped, everything that the program started is ended.
struct Running<'a> {
    agent: &'a Agent,
    child: Child,
}

impl Running<'_> {
    fn wait(mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                Instant::now() < deadline,
                "{} does not end: {}",
                self.agent.program.name(),
                self.agent.said()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        processes::end_all_of(&self.agent.home());
        // It was ended above, if it had not ended by itself.
        let _ = self.child.wait();
    }
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) requests: Vec<LoggedRequest>,
}

impl Ended {
    /// Every line of standard output, each a JSON document.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(serde_json::from_str);
        let events: Result<_, _> = lines.collect();
        events.unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// The last event whose `type` is `name`.
    #[track_caller]
    pub(crate) fn event(&self, name: &str) -> Value {
        let mut events = self.events().into_iter();
        let found = events.rfind(|event| event["type"] == name);
        found.unwrap_or_else(|| panic!("no {name}: {}\n{}", self.stdout, self.stderr))
    }

    #[track_caller]
    pub(crate) fn assert_succeeded(&self) {
        assert!(
            self.status.success(),
            "{}\n{}\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
    }

    /// The bodies that the program's commands sent to the sink.
    pub(crate) fn reports(&self) -> Vec<&str> {
        let bodies = self.requests.iter().map(|it| it.body.as_deref());
        bodies.flatten().collect()
    }

    /// The statuses of the calls of the model.
    pub(crate) fn statuses(&self) -> Vec<u16> {
        let calls = self.requests.iter().filter(|it| it.call.is_some());
        calls.map(|it| it.status).collect()
    }

    /// The prompts of the session, as the last turn of it told them.
    pub(crate) fn prompts(&self) -> &[String] {
        let turns = self.requests.iter().rev().filter_map(|it| it.call.as_ref());
        let mut turns = turns.filter(|it| it.step.is_some());
        turns.next().map_or(&[], |it| &it.prompts)
    }
}

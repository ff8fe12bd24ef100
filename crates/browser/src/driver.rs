//! The program that drives Chromium.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A running chromedriver on a free port, killed when dropped.
pub(crate) struct Driver {
    process: Child,
    port: u16,
}

/// What it says when it listens.
const READY: &str = "was started successfully on port ";

/// It is started so often: the port that it found to be free may be gone when it takes it.
const ATTEMPTS: usize = 3;

impl Driver {
    pub(crate) fn start() -> Self {
        let mut said = Vec::new();
        for _ in 0..ATTEMPTS {
            match Self::try_start() {
                Ok(driver) => return driver,
                Err(last) => said.push(last),
            }
        }
        panic!("chromedriver ends at once: {said:#?}");
    }

    /// What it said, where it ended before it listened.
    #[expect(
        clippy::disallowed_methods,
        reason = "a tool of the tests, and no agent"
    )]
    fn try_start() -> Result<Self, String> {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut said = String::new();
        let port = loop {
            let before = said.len();
            if lines.read_line(&mut said).unwrap() == 0 {
                let status = process.wait().unwrap();
                return Err(format!("{status}: {said}"));
            }
            if let Some((_, port)) = said[before..].split_once(READY) {
                break port.trim_end().trim_end_matches('.').parse().unwrap();
            }
        };
        // It ends with the program: nobody else reads what it says.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(Self { process, port })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

//! Recorded output of the real programs, and what the parser makes of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use workforce_agent_programs::{
    AgentProgram, Conclusion, MicroCents, Outcome, OutputParser, ProgramEvent, ProgramExit, Stream,
    TokenUsage, UsageBaseline,
};

/// The programs that were run.
pub(crate) const RUN: [AgentProgram; 5] = [
    AgentProgram::Claude,
    AgentProgram::Codex,
    AgentProgram::Gemini,
    AgentProgram::Opencode,
    AgentProgram::Pi,
];

/// One run of a program.
pub(crate) struct Recording {
    pub(crate) program: AgentProgram,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// What it appended to its usage file, where that was recorded.
    pub(crate) usage_file: Vec<u8>,
    pub(crate) exit: ProgramExit,
}

/// An entry of `cases.json`.
#[derive(Deserialize)]
struct Case {
    code: Option<i32>,
    signal: Option<i32>,
    /// The first lines.
    stderr: Vec<String>,
}

/// Everything that the parser told about a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) events: Vec<ProgramEvent>,
    pub(crate) conclusion: Conclusion,
}

pub(crate) const ENDED_WELL: ProgramExit = ProgramExit {
    code: Some(0),
    signal: None,
};

fn folder(program: AgentProgram) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded")
        .join(program.definition().command)
}

fn cases(program: AgentProgram) -> BTreeMap<String, Case> {
    let text = fs::read_to_string(folder(program).join("cases.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The names of all recorded runs.
pub(crate) fn names(program: AgentProgram) -> Vec<String> {
    cases(program).into_keys().collect()
}

impl Recording {
    pub(crate) fn read(program: AgentProgram, case: &str) -> Self {
        let facts = &cases(program)[case];
        let stderr = facts.stderr.iter().map(|line| format!("{line}\n"));
        let usage_file = folder(program).join(format!("{case}.usage.jsonl"));
        Self {
            program,
            usage_file: fs::read(usage_file).unwrap_or_default(),
            stdout: fs::read(folder(program).join(format!("{case}.jsonl"))).unwrap(),
            stderr: stderr.collect::<String>().into_bytes(),
            exit: ProgramExit {
                code: facts.code,
                signal: facts.signal,
            },
        }
    }

    /// A run that nobody recorded, of a program that ends well.
    pub(crate) fn of_lines(program: AgentProgram, lines: &[&str]) -> Self {
        Self {
            program,
            stdout: lines.join("\n").into_bytes(),
            stderr: Vec::new(),
            usage_file: Vec::new(),
            exit: ENDED_WELL,
        }
    }

    /// What the parser tells when the streams come in pieces of the lengths that
    /// `length` gives.
    pub(crate) fn told_in_pieces(
        &self,
        before: UsageBaseline,
        mut length: impl FnMut() -> usize,
    ) -> Told {
        let mut parser = OutputParser::new(self.program, before);
        let mut events = Vec::new();
        let streams = [
            (Stream::UsageFile, &self.usage_file),
            (Stream::Stdout, &self.stdout),
            (Stream::Stderr, &self.stderr),
        ];
        for (stream, bytes) in streams {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(length().clamp(1, rest.len()));
                parser.push(stream, piece, &mut events);
                rest = after;
            }
        }
        let (last, conclusion) = parser.finish(self.exit);
        events.extend(last);
        Told { events, conclusion }
    }

    pub(crate) fn told_after(&self, before: UsageBaseline) -> Told {
        self.told_in_pieces(before, || usize::MAX)
    }

    pub(crate) fn told(&self) -> Told {
        self.told_after(UsageBaseline::NEW_SESSION)
    }

    /// The session id of the first line, found without the parser.
    pub(crate) fn session_id(&self) -> Option<String> {
        let text = std::str::from_utf8(&self.stdout).unwrap();
        let first: serde_json::Value = serde_json::from_str(text.lines().next()?).unwrap();
        if first["type"] == "result" {
            return None;
        }
        let keys = ["session_id", "thread_id", "sessionID", "id"];
        let id = keys.iter().find_map(|key| first.get(key))?;
        Some(id.as_str().unwrap().to_owned())
    }
}

impl Told {
    /// What all usage events bring together; no cost is no money here.
    pub(crate) fn sum(&self) -> (TokenUsage, MicroCents) {
        let mut sum = (TokenUsage::ZERO, MicroCents::ZERO);
        for event in &self.events {
            if let ProgramEvent::Usage { tokens, cost, .. } = event {
                sum.0 = sum.0.saturating_add(*tokens);
                sum.1 = sum.1.saturating_add(cost.unwrap_or_default());
            }
        }
        sum
    }

    pub(crate) fn retries(&self) -> usize {
        let is_retry = |event: &&ProgramEvent| matches!(event, ProgramEvent::Retrying { .. });
        self.events.iter().filter(is_retry).count()
    }

    /// `succeeded`, or the class of the failure.
    pub(crate) fn outcome(&self) -> String {
        match &self.conclusion.outcome {
            Outcome::Succeeded => "succeeded".to_owned(),
            Outcome::Failed(failure) => {
                let class = serde_json::to_value(failure.class).unwrap();
                class.as_str().unwrap().to_owned()
            }
        }
    }

    pub(crate) fn message(&self) -> &str {
        match &self.conclusion.outcome {
            Outcome::Succeeded => "",
            Outcome::Failed(failure) => &failure.message,
        }
    }

    pub(crate) fn total(&self) -> Option<[u64; 4]> {
        self.conclusion.total.map(counts)
    }

    pub(crate) fn cost(&self) -> Option<u64> {
        self.conclusion.cost.map(|cost| cost.0)
    }
}

/// Fresh input, cache reads, cache writes and output.
pub(crate) fn counts(tokens: TokenUsage) -> [u64; 4] {
    let TokenUsage {
        input,
        cached_read,
        cached_write,
        output,
    } = tokens;
    [input, cached_read, cached_write, output]
}

/// What must be read from a recorded run.
pub(crate) struct Expected {
    case: &'static str,
    outcome: &'static str,
    total: Option<[u64; 4]>,
    cost: Option<u64>,
    retries: usize,
}

pub(crate) const fn run(case: &'static str, outcome: &'static str) -> Expected {
    Expected {
        case,
        outcome,
        total: None,
        cost: None,
        retries: 0,
    }
}

impl Expected {
    /// Fresh input, cache reads, cache writes and output.
    pub(crate) const fn used(mut self, total: [u64; 4]) -> Self {
        self.total = Some(total);
        self
    }

    /// Micro-cents.
    pub(crate) const fn cost(mut self, micro_cents: u64) -> Self {
        self.cost = Some(micro_cents);
        self
    }

    pub(crate) const fn retries(mut self, count: usize) -> Self {
        self.retries = count;
        self
    }

    #[track_caller]
    fn check(&self, program: AgentProgram) {
        let recording = Recording::read(program, self.case);
        let told = recording.told();
        let case = format!("{program} {}", self.case);
        assert_eq!(told.outcome(), self.outcome, "{case}: {}", told.message());
        assert_eq!(told.total(), self.total, "{case}");
        assert_eq!(told.cost(), self.cost, "{case}");
        assert_eq!(told.retries(), self.retries, "{case}");
        let id = told.conclusion.session.as_ref().map(|id| id.as_str());
        assert_eq!(id, recording.session_id().as_deref(), "{case}");
        let sums = (
            told.conclusion.total.unwrap_or_default(),
            told.conclusion.cost.unwrap_or_default(),
        );
        assert_eq!(told.sum(), sums, "{case}: the events do not sum up");
        assert_eq!(
            told.message().is_empty(),
            self.outcome == "succeeded",
            "{case}"
        );
    }
}

/// Every recorded run of the program is one of `expected` and as it says.
#[track_caller]
pub(crate) fn check_all(program: AgentProgram, expected: &[Expected]) {
    let mut cases: Vec<_> = expected.iter().map(|expected| expected.case).collect();
    cases.sort_unstable();
    assert_eq!(cases, names(program));
    for expected in expected {
        expected.check(program);
    }
}

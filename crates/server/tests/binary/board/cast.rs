//! Who works for the company: programs, and what each of them does in a run.

use std::fs;
use std::path::{Path, PathBuf};

use workforce_model_imitation::installed_for_test;
use workforce_model_imitation::{ModelImitation, Program, Reply, Rule, Script, Usage};

/// So many steps has a play at most.
const STEPS: usize = 4;

/// Takes a step of what was put for the issue of the run and the reason of it. The first step of a
/// run takes it for this run, so that another one for the same reason does nothing.
const STEP: &str = r#"
here=${0%/*}
mine=$here/$1
taken=$mine/$WORKFORCE_RUN_ID
if [ "$2" = 1 ]; then
    [ -n "${WORKFORCE_TASK_ID:-}" ] || exit 0
    title=$(workforce api --get /title GET "/api/issues/$WORKFORCE_TASK_ID")
    mv "$mine/$title/$WORKFORCE_WAKE_REASON" "$taken" 2> "$mine/nothing" || exit 0
fi
issue=/api/issues/$WORKFORCE_TASK_ID
company=/api/companies/$WORKFORCE_COMPANY_ID
api() { workforce api "$@" > "$taken/answer"; }
say() { api POST "$issue/comments" "{\"body\": \"$1\"}"; }
set_status() { api PATCH "$issue" "{\"status\": \"$1\"}"; }
wait_for() { while [ ! -e "$here/$1" ]; do sleep 0.05; done; }
if [ -e "$taken/$2" ]; then . "$taken/$2"; fi
"#;

/// All steps, one after the other.
const ALL: &str = r#"
for step in 1 2 3 4; do sh "${0%/*}/step" "$1" "$step" || exit; done
"#;

/// What a call of the model uses.
const CHEAP: Usage = Usage {
    input: 1000,
    cached: 500,
    cache_write: 0,
    output: 40,
    reasoning: 0,
};

/// The same for an issue whose title says so: nearly a dollar.
const DEAR: Usage = Usage {
    input: 300_000,
    ..CHEAP
};

/// The programs of the agents.
pub(super) struct Cast {
    folder: PathBuf,
    pub(super) imitation: ModelImitation,
    /// Where Claude Code is installed; a command stands in for it where it is not.
    pub(super) claude: Option<PathBuf>,
}

impl Cast {
    pub(super) fn gather(folder: PathBuf) -> Self {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("step"), STEP).unwrap();
        fs::write(folder.join("all"), ALL).unwrap();
        let rule = |usage: Usage| {
            let steps = (1..=STEPS).fold(Rule::new(), |rule, step| {
                let command = format!("sh {}/step ada {step}", folder.display());
                // What comes before the first step is cheap.
                let usage = if step == 1 { CHEAP } else { usage };
                rule.then(Reply::shell(command).usage(usage))
            });
            steps.then(Reply::text("That is all for now.").usage(usage))
        };
        let script = Script::from(rule(DEAR).for_prompt("costs a lot")).rule(rule(CHEAP));
        Self {
            imitation: ModelImitation::start(script).unwrap(),
            claude: installed_for_test(Program::Claude),
            folder,
        }
    }

    /// What a command runs that takes all steps.
    pub(super) fn command(&self, who: &str) -> String {
        format!("sh {}/all {who}", self.folder.display())
    }

    /// Says what somebody does in the first run about an issue for a reason.
    pub(super) fn put(&self, who: &str, title: &str, reason: &str, steps: &[&str]) {
        assert!(steps.len() <= STEPS);
        let play = self.folder.join(who).join(title).join(reason);
        fs::create_dir_all(&play).unwrap();
        for (at, step) in steps.iter().enumerate() {
            fs::write(play.join((at + 1).to_string()), step).unwrap();
        }
    }

    /// Lets those go on who wait for this.
    pub(super) fn let_go(&self, name: &str) {
        fs::write(self.folder.join(name), "").unwrap();
    }

    /// Whether any process takes a step.
    pub(super) fn is_at_work(&self) -> bool {
        let step = self.folder.join("step");
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let mut lines =
            processes.filter_map(|it| fs::read_to_string(it.path().join("cmdline")).ok());
        lines.any(|line| line.contains(step.to_str().unwrap()))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

//! Cursor, as its documentation describes it.

use workforce_agent_programs::AgentProgram;

use crate::recording::Recording;

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"c6b62c6f-7ead-4fd6-9922-e952131177ff","model":"m"}"#;
const SAID: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I look."}]}}"#;
const TOOL: &str = r#"{"type":"tool_call","subtype":"started","call_id":"t","tool_call":{}}"#;

#[test]
fn a_good_result_is_success() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;
    let told = Recording::of_lines(AgentProgram::Cursor, &[INIT, SAID, TOOL, result]).told();
    assert_eq!(told.outcome(), "succeeded");
    assert_eq!(told.conclusion.result_text.as_deref(), Some("Done."));
    assert!(told.conclusion.session.is_some());
    assert_eq!(told.total(), None);
    assert_eq!(told.cost(), None);
}

#[test]
fn a_bad_result_has_the_class_of_its_text() {
    let result =
        r#"{"type":"result","subtype":"error","is_error":true,"result":"Authentication required"}"#;
    let told = Recording::of_lines(AgentProgram::Cursor, &[INIT, result]).told();
    assert_eq!(told.outcome(), "auth_required");
}

#[test]
fn no_result_is_an_interruption() {
    let told = Recording::of_lines(AgentProgram::Cursor, &[INIT, SAID]).told();
    assert_eq!(told.outcome(), "interrupted");
}

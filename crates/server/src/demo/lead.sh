# The lead of the governed demo. It plans, hands out and reviews, through the public
# interface alone.
set -eu

api() { "$CLI" api "$@"; }

[ -n "${WORKFORCE_TASK_ID:-}" ] || exit 0
issue="/api/issues/$WORKFORCE_TASK_ID"
status=$(api --get /status GET "$issue")
parent=$(api --get /parentId GET "$issue")
echo "lead: woken by $WORKFORCE_WAKE_REASON, the issue is $status"

if [ "$status" = in_review ] && [ -n "$parent" ]; then
    api GET "$issue/workspace/diff" >/dev/null
    api PATCH "$issue" '{"status": "done", "comment": "Reviewed: reads well."}' >/dev/null
elif [ "$WORKFORCE_WAKE_REASON" = approval_approved ] && [ "$status" = in_progress ]; then
    api POST "/api/companies/$WORKFORCE_COMPANY_ID/issues" "{
        \"title\": \"Write greeting.md\", \"status\": \"todo\", \"parentId\": \"$WORKFORCE_TASK_ID\",
        \"projectId\": \"$PROJECT_ID\", \"assigneeAgentId\": \"$ENGINEER_ID\"
    }" >/dev/null
elif [ "$status" = todo ]; then
    api POST "$issue/checkout" "{\"agentId\": \"$WORKFORCE_AGENT_ID\"}" >/dev/null
    api POST "/api/companies/$WORKFORCE_COMPANY_ID/approvals" "{
        \"type\": \"approve_issue_plan\", \"payload\": {
            \"issueId\": \"$WORKFORCE_TASK_ID\", \"plan\": \"One file with one greeting.\",
            \"workspace\": {}
        }
    }" >/dev/null
fi

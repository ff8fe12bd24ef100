# The manager of the demo. It hands out what lies in the backlog and closes
# what is ready, through the public interface alone.
set -eu

api() { "$CLI" api "$@"; }

comment() {
    api POST "/api/issues/$1/comments" "{\"body\": \"$2\"}" >/dev/null
}

echo "manager: woken by $WORKFORCE_WAKE_REASON"

if [ -n "${WORKFORCE_TASK_ID:-}" ]; then
    status=$(api --get /status GET "/api/issues/$WORKFORCE_TASK_ID")
    echo "manager: looking at $WORKFORCE_TASK_ID, which is $status"
    if [ "$status" = in_review ]; then
        api PATCH "/api/issues/$WORKFORCE_TASK_ID" \
            '{"status": "done", "comment": "Reviewed: reads well. Done."}' >/dev/null
    fi
else
    issue=$(api --get /0/id GET "/api/companies/$WORKFORCE_COMPANY_ID/issues?status=backlog")
    [ -n "$issue" ] || exit 0
    engineer=$(api --get /id GET /api/agents/eli-engineer)
    comment "$issue" "Ready to be worked on; I give it to our engineer."
    api PATCH "/api/issues/$issue" \
        "{\"status\": \"todo\", \"assigneeAgentId\": \"$engineer\"}" >/dev/null
fi

api POST "/api/companies/$WORKFORCE_COMPANY_ID/cost-events" "{
    \"agentId\": \"$WORKFORCE_AGENT_ID\", \"provider\": \"demo\", \"model\": \"small\",
    \"inputTokens\": 900, \"outputTokens\": 60, \"costCents\": 0.3
}" >/dev/null

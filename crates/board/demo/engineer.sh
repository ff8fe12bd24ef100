# The engineer of the demo. It checks its issue out, does the work, reports
# what that cost and asks for a review, through the public interface alone.
set -eu

api() { "$CLI" api "$@"; }

cost() {
    api POST "/api/companies/$WORKFORCE_COMPANY_ID/cost-events" "{
        \"agentId\": \"$WORKFORCE_AGENT_ID\", \"provider\": \"demo\", \"model\": \"large\",
        \"inputTokens\": $1, \"outputTokens\": $2, \"costCents\": $3
    }" >/dev/null
}

echo "engineer: woken by $WORKFORCE_WAKE_REASON for ${WORKFORCE_TASK_ID:-nothing}"
[ -n "${WORKFORCE_TASK_ID:-}" ] || exit 0
issue="/api/issues/$WORKFORCE_TASK_ID"
case "$(api --get /status GET "$issue")" in
    todo | backlog | blocked | in_progress) ;;
    *) exit 0 ;;
esac

api POST "$issue/checkout" \
    "{\"agentId\": \"$WORKFORCE_AGENT_ID\", \"expectedStatuses\": [\"todo\", \"backlog\", \"blocked\"]}" >/dev/null
echo "engineer: checked out"

title=$(api --get /title GET "$issue")
printf '# %s\n\nGood morning, everybody.\n' "$title" >greeting.md
sleep 2
cost 21000 1800 4.25
cost 18000 2400 3.95

api POST "$issue/comments" '{"body": "Wrote `greeting.md`: one heading, one sentence."}' >/dev/null
api PATCH "$issue" \
    '{"status": "in_review", "comment": "@Mara Manager, please have a look."}' >/dev/null
echo "engineer: asked for a review"

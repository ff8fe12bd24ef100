# The engineer of the governed demo. It works in the worktree that it is started in,
# and knows nothing of git.
set -eu

api() { "$CLI" api "$@"; }

[ -n "${WORKFORCE_TASK_ID:-}" ] || exit 0
issue="/api/issues/$WORKFORCE_TASK_ID"
[ "$(api --get /status GET "$issue")" = todo ] || exit 0
api POST "$issue/checkout" "{\"agentId\": \"$WORKFORCE_AGENT_ID\"}" >/dev/null
echo "engineer: on $WORKFORCE_WORKSPACE_BRANCH"
printf '# Greeting\n\nGood morning, everybody.\n' >greeting.md
api PATCH "$issue" '{"status": "done", "comment": "Wrote `greeting.md`."}' >/dev/null

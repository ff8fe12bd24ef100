//! What agents do: a program that tells what it uses as pi does, and notes what it is told.

/// Notes why it runs, each write before it is sent and when it was acknowledged, each cost before it is told,
/// and sends again what was not answered.
///
/// Its only argument of interest is `timer`; what an adapter passes is ignored.
pub(super) const PROGRAM: &str = r#"#!/bin/sh
case "$1" in --version) echo 1.5.2; exit 0;; esac
[ "$1" = timer ] || cat >/dev/null
run=$WORKFORCE_RUN_ID
note() { echo "$2" >> "$NOTES/$run.$1"; }
printf '%s' "$WORKFORCE_WAKE_PAYLOAD_JSON" > "$NOTES/$run.wake"
note begun "$run"

# METHOD PATH BODY KEY
send() {
    tries=0
    while [ $tries -lt 400 ]; do
        tries=$((tries + 1))
        code=$(curl -sS --noproxy '*' -o /dev/null -m 30 -w '%{http_code}' -X "$1" \
            -H "Authorization: Bearer $WORKFORCE_API_KEY" -H 'Content-Type: application/json' \
            -H "Idempotency-Key: $4" -d "$3" "$WORKFORCE_API_URL$2" 2>/dev/null)
        case "$code" in
            2*) return 0 ;;
            # The first of two may still be served.
            409) [ $tries -gt 1 ] || return 1 ;;
            4*) return 1 ;;
        esac
        sleep 0.3
    done
    return 1
}

# MARKER PATH BODY
write() {
    note sent "$1"
    if send POST "$2" "$3" "$1"; then note acknowledged "$1"; fi
}

id=${run##*-}
first=$((10000 + 0x${id%????????}))
usage() {
    cost=$((first + step))
    note costs $cost
    printf '{"type":"message_end","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"step %s"}],"usage":{"input":10,"output":%s,"cacheRead":0,"cacheWrite":0,"cost":{"total":0.000%05d}},"stopReason":"%s"}}\n' \
        $step $step $cost "$1"
}

if [ "$1" = timer ]; then
    write "cost-$run" "/api/companies/$WORKFORCE_COMPANY_ID/cost-events" \
        "{\"agentId\": \"$WORKFORCE_AGENT_ID\", \"provider\": \"p\", \"model\": \"m\", \"costCents\": 1.250001, \"idempotencyKey\": \"cost-$run\"}"
    sleep 0.5
    exit 0
fi
issue=/api/issues/$WORKFORCE_TASK_ID
if [ -n "$WORKFORCE_TASK_ID" ]; then
    send POST "$issue/checkout" "{\"agentId\": \"$WORKFORCE_AGENT_ID\"}" "checkout-$run"
fi
for step in 1 2 3; do
    usage toolUse
    if [ -n "$WORKFORCE_TASK_ID" ]; then
        write "comment-$run-$step" "$issue/comments" "{\"body\": \"comment-$run-$step\"}"
    fi
    sleep 0.$((cost % 7 + 1))
done
if [ -n "$WORKFORCE_TASK_ID" ]; then
    case $((first % 3)) in
        0) send POST "$issue/release" '{}' "release-$run" && note released "$WORKFORCE_TASK_ID" ;;
        *) send PATCH "$issue" '{"status": "done"}' "done-$run" && note done "$WORKFORCE_TASK_ID" ;;
    esac
fi
step=4
usage stop
echo '{"type":"agent_settled"}'
"#;

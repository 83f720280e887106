#!/usr/bin/env bash
# Prints where words of our own still stand for words that the field has: a place to look, not a gate.
# usage: scripts/words.sh [WORD]    WORD: only that one, as the list below spells it; --list prints the list
set -euo pipefail
cd "$(dirname "$0")/.."

# What is said now | what to say | in which form, if not as a word or as a part of a camel-case name.
# A word that has a good meaning, too (end, word, take), is found in forms that may have the other: judge each line.
list='
leave | Admission, admit | Leave|leaveBy\w*|letThrough
end | outcome: Outcome, PendingOutcome, CountedFailure, OutcomeReport | (bad|good|slow) ends?\b|Ending\b|CallEnd|BadEnd|CircuitInput|ends? of (a |the |its )?calls?
share | failure rate; the public label share: stays | \bshares?\b(?!:)|[a-z]Shares?\b|[sS]haring\b
suspicion | rate check: PendingRateCheck | [sS]uspicions?|[sS]uspects?
word | command (of an operator): OperatorCommand, lamportTime | (OperatorCommand|[a-z]Words?\b|operators?.s? words?\b|words? of (an|the) operator)
queue place | queue entry, number | (place|slot)s? in (the|a) queue
look | read, refresh, ReadContext, reader | [lL]ook(er|ers|s|ed|ing)?(?![a-z])|[aA]sker|[oO]nlookers?
look-around | maintenance pass | look-around|looks? around|lookAround\w*
guard | setup lock, withSetupLock | withSetupLock|Guarded\b|\b(the|a|its) guard\b
kept answer | cached decision, DecisionCache | [kK]ept ?[aA]nswers?|[aA]nswerSlots?|Kept[A-Z]\w*
most | max | (?<![a-zA-Z])most[A-Z]\w*
present | current | [a-z]Present\b|withCurrent|\bpresent (state|rules?|window|epoch|value|time|config|circuit)
told | reported, published, notified, describes | [tT]old(?![a-z])|\btells?\b|[sS]ays how
tally | counters (of a board), FailureCount (of a circuit) |
birth | incarnation |
stretch | window generation | [sS]tretch(es)?(?![a-z])
memory guards | in-memory fallback | [mM]emory guards?|[mM]emoryGuard\w*|guarded in memory|guards in memory
lets go of | releases; gives back: returns | lets? go of|letGo\w*|gives? (it |them |a \w+ |the \w+ )?back
take | drain, set, allocate, merge, clamp, change owner | func take\w*|\.take[A-Z(]\w*
note | set, append, record, count | func note\w*|\.note[A-Z(]\w*
set aside | quarantine | [sS]ets? aside|[sS]etAside|[mM]oved? aside
heal | repair | [hH]eal(s|ed|ing)?(?![a-z])|[mM]end(s|ed|ing)?(?![a-z])|ma[kd]es? anew
happened | apply, read, update | [.]happened\b|func (happened|ask|report)\b|\.ask\b
place | index, offset | func place\w*|\.place\b|\b[a-z]+Place\b
anew | again, from the start |
in vain | without success |
meanwhile | name the moment, or drop it |
whoever | a process that, who |
somebody | name the actor |
'

# A word alone, or as a part of a camel-case name, in one number or the other.
form() {
    local word=$1
    printf '(?<![A-Za-z])%s(s|ies)?(?![a-z])|%s(s|ies)?(?![a-z])' "$word" "${word^}"
}

case ${1:-} in
-h | --help) exec sed -n '2,3s/^# //p' "$0" ;;
--list) exec awk -F' [|] ' 'NF > 1 { sub(/ [|]$/, "", $2); printf "%-14s %s\n", $1, $2 }' <<<"$list" ;;
esac

found=false
while IFS= read -r line; do
    [ -n "$line" ] || continue
    word=${line%% | *}
    rest=${line#* | }
    say=${rest%% |*}
    pattern=${rest#"$say |"}
    pattern=${pattern# }
    [ -z "${1:-}" ] || [ "$1" = "$word" ] || continue
    found=true
    places=$(git grep --untracked -nIP -e "${pattern:-$(form "$word")}" -- Sources Tests docs '*.md' \
        Demo Benchmarks Migrations ':!Tests/Fixtures' ':!Tests/Fuzzing' ':!docs/api-released.txt' ':!CHANGELOG.md' || true)
    printf '%s (say: %s): %d\n' "$word" "$say" "$(grep -c . <<<"$places" || true)"
    [ -z "$places" ] || sed 's/^/    /' <<<"$places"
done <<<"$list"

if ! $found; then
    echo "error: '$1' is not in the list; \`scripts/words.sh --list\` prints it" >&2
    exit 2
fi

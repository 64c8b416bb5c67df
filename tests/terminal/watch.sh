#!/usr/bin/env bash
# `holdpoint watch` on a real terminal: a real daemon, real hooks of an agent that wait for it, and a
# person whose keys tmux presses. Every answer is checked where it counts: in what the hook prints.
#   tests/terminal/watch.sh [SCREENS]     a directory that keeps what was seen; without it, none stays
#
# Needs tmux. HOLDPOINT names the program; without it, it is built. HOLDPOINT_SKIP_TERMINAL=1 leaves
# this out.
set -euo pipefail
. "$(dirname "$0")/setting.sh" watch "$@"

home=$(mktemp -d)
tmux_at() { tmux -S "$home/tmux" "$@"; }
started=()
finish() {
    tmux_at kill-server 2>/dev/null || true
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    # Something may write its last line while its directory goes.
    rm -rf "$home" 2>/dev/null || { sleep 1; rm -rf "$home"; }
}
trap finish EXIT

# Nothing of whoever runs this reaches the gate: neither their policy nor their agent's marks.
clean=(env -i "PATH=$PATH" "HOME=$home" LANG=C.UTF-8 TERM=xterm-256color)
project=$home/project
mkdir -p "$project" "$home/.config/holdpoint"
cat >"$home/.config/holdpoint/permissions.json" <<'POLICY'
{
  "defaultPolicy": "ask",
  "channel": { "type": "daemon" },
  "approval": { "presence": "none" },
  "guards": { "rules": { "git.push": "review" } }
}
POLICY
cat >"$home/editor" <<'EDITOR'
#!/bin/sh
echo "the editor has the terminal"
sed -i 's/deploy/test/' "$1"
EDITOR
chmod +x "$home/editor"

fail() {
    echo "watch: $1" >&2
    tmux_at capture-pane -p -t watch >&2 2>/dev/null || true
    exit 1
}
screen() { tmux_at capture-pane -p -t watch; }
keep() {
    if [ -n "$screens" ]; then
        screen >"$screens/$1.txt"
        tmux_at capture-pane -e -p -t watch >"$screens/$1.ansi"
    fi
}
coloured() {
    tmux_at capture-pane -e -p -t watch | grep -qE $'\033\\[([0-9;]*;)?([34]8;[25];|[349][0-7]m)'
}
has_not() { ! has "$1"; }
misses() { until_true "\`$1\` is still on the screen" has_not "$1"; }
# A key that answers stands alone: nothing is typed within a second before and after it.
press() { sleep 1.2 && tmux_at send-keys -t watch "$@" && sleep 1.2; }
press_at_once() { tmux_at send-keys -t watch "$@"; }
# Types as people do: a key every so many seconds.
type_slowly() {
    local pause=$1 key
    shift
    for key in "$@"; do tmux_at send-keys -t watch "$key" && sleep "$pause"; done
}

serve() {
    (cd "$project" && exec "${clean[@]}" "$HOLDPOINT" serve) >>"$home/serve.log" 2>&1 &
    daemon=$!
    started+=("$daemon")
}
# An agent's hook for a shell command; what it answers ends in a file.
agent_runs() {
    local name=$1 command=$2 session=${3:-s1}
    printf '{"session_id":"%s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s","description":"As the agent says"}}' \
        "$session" "$project" "$command" |
        (cd "$project" && "${clean[@]}" "$HOLDPOINT" hook claude-code) >"$home/$name.draft" 2>"$home/$name.err" &&
        mv "$home/$name.draft" "$home/$name.out" &
    started+=("$!")
}
agent_is_told() {
    until_true "the hook of $1 got no answer" test -s "$home/$1.out"
    grep -qF -- "$2" "$home/$1.out" || fail "the hook of $1 is not told \`$2\` but: $(cat "$home/$1.out")"
}
passed() { echo "watch: $1"; }

# Without a terminal it says so.
if "${clean[@]}" "$HOLDPOINT" watch </dev/null >/dev/null 2>"$home/refusal"; then fail "no terminal is needed"; fi
grep -q 'needs a terminal' "$home/refusal" || fail "$(cat "$home/refusal")"
if "${clean[@]}" CLAUDECODE=1 "$HOLDPOINT" watch 2>"$home/refusal"; then fail "an agent may watch"; fi
grep -q 'only a person' "$home/refusal" || fail "$(cat "$home/refusal")"
passed "is refused without a terminal and to an agent"

# The daemon comes after the screen.
tmux_at -f /dev/null new-session -d -s watch -x 100 -y 30 "${clean[@]}" "EDITOR=$home/editor" PS1='shell> ' bash --norc --noprofile
tmux_at send-keys -t watch "echo before; stty -a | md5sum; '$HOLDPOINT' watch; stty -a | md5sum" Enter
sees "not connected"
sees "holdpoint serve"
keep no-daemon
serve
sees "connected"
sees "Nothing waits for you"
coloured || fail "there are no colours"
keep empty
passed "finds a daemon that starts later"

agent_runs deploy 'make deploy'
sees "make deploy"
sees "As the agent says"
keep one
press y
agent_is_told deploy '"permissionDecision":"allow"'
misses "make deploy"
sees "released"
passed "y releases"

agent_runs refused 'make publish'
sees "make publish"
press c
sees "What shall the model read?"
press_at_once "use a branch"
keep comment
press_at_once Enter
agent_is_told refused '"permissionDecision":"deny"'
agent_is_told refused 'use a branch'
passed "c refuses with words for the model"

agent_runs edited 'make deploy ENV=live'
sees "ENV=live"
press e
sees "make test ENV=live"
sees "judged again"
keep edited
press y
agent_is_told edited '"permissionDecision":"allow"'
agent_is_told edited '"command":"make test ENV=live"'
passed "e edits in the editor, and what was edited is what runs"

agent_runs reviewed 'git push origin HEAD'
sees "git push origin HEAD"
press y
sees "release git"
keep phrase
press_at_once "release" Enter
sees "this is not"
press_at_once " git" Enter
agent_is_told reviewed '"permissionDecision":"allow"'
passed "a review wants its phrase"

agent_runs always 'npm run build'
sees "npm run build"
press a
sees "lasts"
keep always
press_at_once Escape
misses "lasts"
press a
sees "lasts"
sees "No other call that waits goes along"
press Enter
sees "y releases it"
press y
agent_is_told always '"permissionDecision":"allow"'
agent_runs always-again 'npm run build'
agent_is_told always-again '"permissionDecision":"allow"'
passed "a shows the rule, stores it, and it holds"

for number in 1 2 3; do agent_runs "many$number" "make step$number" s2; done
agent_runs many-reviewed 'git push origin HEAD:refs/for/topic' s2
for text in step1 step2 step3 topic; do sees "$text"; done
keep several
press X
press y
sees "Release these 3 calls?"
sees "left out"
keep selection
press y
for number in 1 2 3; do agent_is_told "many$number" '"permissionDecision":"allow"'; done
sees "topic"
press n
agent_is_told many-reviewed '"permissionDecision":"deny"'
passed "a selection is answered at once, but for what wants a phrase"

agent_runs wide 'printf hello > out.txt && make deploy && rm -rf build/cache && git push --force origin feature && echo a tail that is long enough to be broken on every screen there is, however wide'
sees "rm -rf build"
for size in 60x15 80x24 200x50; do
    tmux_at resize-window -t watch -x "${size%x*}" -y "${size#*x}"
    sleep 0.5
    sees "refuse"
    sees "rm -rf"
    keep "size-$size"
done
tmux_at resize-window -t watch -x 100 -y 30
press Enter
sees "Every argument"
keep full
press_at_once Escape
# Escape and a sign that follows at once are one key with Alt to a terminal.
sleep 0.5
press_at_once '?'
sees "five more minutes"
keep help
press_at_once Escape
press n
agent_is_told wide '"permissionDecision":"deny"'
press_at_once Tab
sees "refused"
keep history
press_at_once Tab
passed "fits every size, shows everything, the help and the history"

# Accidents at human speed: nothing of what is typed is an answer, whatever the call's risk.
agent_runs slip 'make release' s4
agent_runs slip-push 'git push --force origin topic' s4
agent_runs slip-risky 'sudo rm -rf /srv/data' s4
for text in 'make release' 'force origin topic'; do sees "$text"; done
for pause in 0.12 0.35 0.7; do
    type_slowly "$pause" w h y Space n o t Enter
    type_slowly "$pause" y e s Enter
    type_slowly "$pause" n a y Enter
    press_at_once Escape && sleep 0.5
    type_slowly "$pause" A Enter y Enter
    press_at_once Escape && sleep 0.5
    type_slowly "$pause" s Enter X y y Enter
    press_at_once Escape && sleep 1.2
    press_at_once X && sleep 0.5
done
sleep 1.5
for name in slip slip-push; do
    test ! -s "$home/$name.out" || fail "typing answered $name: $(cat "$home/$name.out")"
done
keep typing
passed "what is typed at human speed releases and refuses nothing"

# A release is taken back for a moment; high risk wants a second key.
press_at_once g && sleep 1.2
press_at_once /
press_at_once "make release" Enter
sees 'with “make release”'
sleep 1.2
press_at_once y
sees "Esc takes it back"
press_at_once Escape
sees "taken back"
sleep 1.5
test ! -s "$home/slip.out" || fail "what was taken back was answered: $(cat "$home/slip.out")"
press y
agent_is_told slip '"permissionDecision":"allow"'
press_at_once Escape
sees "force origin topic"
passed "a release is taken back for a moment"

agent_runs along 'make one-more' s5
agent_runs along-risky 'git push --force origin main' s5
sees "make one-more"
press_at_once /
press_at_once "one-more" Enter
sees 'with “one-more”'
press A
sees "ask nothing more"
keep along
press n
press n
agent_is_told along '"permissionDecision":"deny"'
press_at_once Escape
passed "stop asking says what goes along"
# More than were held would be a call that no key refuses.
for _ in $(seq 12); do
    has "s4" || has "s5" || has "Waiting 1" || has "Waiting 2" || has "Waiting 3" || break
    press n
done
if has "s4" || has "s5"; then fail "calls still wait that were refused"; fi

agent_runs hostile 'echo \u001b[2J\u001b]0;owned\u0007 \u202egnp.exe'
sees '\u{1b}[2J'
sees '\u{202e}'
keep hostile
press n
agent_is_told hostile '"permissionDecision":"deny"'
passed "text of an agent drives no terminal"

kill "$daemon"
wait "$daemon" 2>/dev/null || true
sees "not connected"
serve
sees "● connected"
passed "finds the daemon again"

press_at_once q
sees "shell> "
has "before" || fail "the screen is not what it was before"
two_modes() { test "$(screen | grep -c ' -$')" = 2; }
until_true "the terminal's mode cannot be compared" two_modes
modes=$(screen | grep ' -$')
mode=$(sort -u <<<"$modes")
test "$(wc -l <<<"$mode")" = 1 || fail "the terminal's mode is another now"
passed "q leaves the terminal as it was"

tmux_at send-keys -t watch "clear; NO_COLOR=1 '$HOLDPOINT' watch; echo ended \$?; stty -a | md5sum" Enter
sees "Nothing waits for you"
if coloured; then fail "NO_COLOR is ignored"; fi
shell=$(tmux_at display-message -p -t watch '#{pane_pid}')
kill "$(pgrep -P "$shell")"
sees "ended 0"
sees "$mode"
passed "SIGTERM leaves the terminal as it was, and NO_COLOR is honoured"

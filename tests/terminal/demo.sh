#!/usr/bin/env bash
# `holdpoint demo` on a real terminal: Enter between the scenes, the question answered by a person,
# Ctrl-C wherever it may come. Whatever happens, the home stays empty, the temporary directory is gone
# and the terminal is what it was before.
#   tests/terminal/demo.sh [SCREENS]      a directory that keeps what was seen; without it, none stays
#
# Needs tmux. HOLDPOINT names the program; without it, it is built. HOLDPOINT_SKIP_TERMINAL=1 leaves
# this out.
set -euo pipefail
. "$(dirname "$0")/setting.sh" demo "$@"

place=$(mktemp -d)
export LC_ALL=C.UTF-8
tm() { tmux -S "$place/tmux" -f /dev/null "$@"; }
finish() {
    tm kill-server 2>/dev/null || true
    rm -rf "$place" 2>/dev/null || { sleep 1; rm -rf "$place"; }
}
trap finish EXIT
mkdir "$place/home" "$place/tmp"
# Keeps the server while terminals come and go.
tm new-session -d -s idle 'sleep 600'

case="start"
screen() { tm capture-pane -p -J -S - -t demo; }
fail() {
    echo "demo: $case: $1" >&2
    screen >&2 2>/dev/null || true
    exit 1
}
misses() { if has "$1"; then fail "\`$1\` is on the screen"; fi; }
type_line() { tm send-keys -t demo -l -- "$1" && tm send-keys -t demo Enter; }
key() { tm send-keys -t demo "$1"; }
coloured() { tm capture-pane -e -p -S - -t demo | grep -qE $'\033\\[([0-9;]*;)?3[0-7]m'; }
keep() {
    if [ -n "$screens" ]; then
        screen >"$screens/$1.txt"
        tm capture-pane -e -p -S - -t demo >"$screens/$1.ansi"
    fi
}

# start CASE WIDTH [BEFORE] [ARGUMENTS]: the tour, in a terminal of its own; BEFORE is an assignment
# or a program that starts it.
start() {
    case=$1
    tm kill-session -t demo 2>/dev/null || true
    tm new-session -d -s demo -x "$2" -y 50 -c "$place" \
        "env -i HOME='$place/home' TMPDIR='$place/tmp' PATH='$PATH' TERM=screen-256color \
         LC_ALL=C.UTF-8 HISTFILE=/dev/null PS1='ready$ ' bash --norc --noprofile"
    sees 'ready$'
    type_line "stty -g >before; ${3:-} '$HOLDPOINT' demo ${4:-}; echo \"ended \$?\"; stty -g >after"
}
# Waits for the prompt between two scenes, the one after the heading named, and goes on.
go_on() {
    sees "$1"
    until_true "there is no pause after \`$1\`" pauses "$1"
    key Enter
}
pauses() { screen | sed -n "\\|$1|,\$p" | grep -qF "Enter goes on"; }
# ends CODE: what holds after every end.
ends() {
    sees "ended $1"
    until_true "the mode is not looked at" test -s "$place/after"
    cmp -s "$place/before" "$place/after" || fail "the terminal has another mode than before"
    rm "$place/before" "$place/after"
    [ -z "$(ls -A "$place/tmp")" ] || fail "the temporary directory is still there"
    [ -z "$(ls -A "$place/home")" ] || fail "something was written to the home"
    echo "demo: $case"
}
# Goes to the question.
to_the_question() {
    go_on "the gate between an AI agent and its tools"
    go_on "1/5"
    go_on "2/5"
    sees "Options: [y]es, [n]o"
}

start "yes releases" 100
go_on "the gate between an AI agent and its tools"
sees "1/5  A call nobody objects to"
misses "2/5"
go_on "1/5"
go_on "2/5"
sees "Options: [y]es, [n]o"
keep question
type_line y
sees "has teapot 1.0.0"
go_on "3/5"
go_on "4/5"
sees "Every scene ended as promised"
coloured || fail "there are no colours"
keep whole
ends 0

start "no refuses, and that is as good an end" 60 NO_COLOR=1
to_the_question
type_line n
sees "is as it was"
go_on "3/5"
go_on "4/5"
sees "Every scene ended as promised"
if coloured; then fail "NO_COLOR is ignored"; fi
keep narrow
while IFS= read -r line; do
    [ "${#line}" -le 60 ] || fail "this is wider than 60 columns: $line"
done < <(screen | sed -n '/4\/5/,$p' | grep -v 'holdpoint-demo-')
ends 0

start "a word that is no answer refuses" 100
to_the_question
type_line sure
sees "is as it was"
key Enter
go_on "4/5"
sees "Every scene ended as promised"
ends 0

start "Ctrl-C between two scenes" 100
go_on "the gate between an AI agent and its tools"
sees "1/5"
until_true "there is no pause" pauses "1/5"
key C-c
sees "Removed: "
misses "2/5"
ends 130

start "Ctrl-C at the question" 100
to_the_question
key C-c
sees "Removed: "
misses "4/5"
ends 130

start "a process that is told to stop" 100
to_the_question
shell=$(tm display-message -p -t demo '#{pane_pid}')
kill -TERM "$(pgrep -P "$shell")"
sees "Removed: "
ends 130

start "nobody is waited for" 100 "" "--yes --no-pause"
sees "As you said --yes"
sees "yes, by the script of this tour"
sees "Every scene ended as promised"
misses "Enter goes on"
ends 0

start "a terminal nobody can be asked on" 100 "setsid -w"
sees "There is no terminal to ask you"
sees "Every scene ended as promised"
misses "Enter goes on"
ends 0

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes related to the target: children of an attached process, daemons of a command, programs
# that the kernel stops events of, systemd units; and the reason where there are no samples.
#
# Parallel: a process has samples or none.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
publish_programs
mkdir -m 777 "$tmp/open"
file=$tmp/open/data
as_root=
as_user='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --'
record="$SPROF record --call-graph none -e cpu-clock -F 997 -o $file"

samples() {
	"$SPROF" report -i "$file" --no-children --format json 2>/dev/null |
		grep -c '"function": *"child_burns"\|"function": *"spin"'
}

# begin_family WHO COUNT: sets $parent and $children ("PID,PID").
begin_family() {
	: >"$tmp/pids"
	eval "as=\$as_$1"
	$as "$workload/family" "$2" 60 >"$tmp/pids" &
	parent=$!
	until grep -q ready "$tmp/pids"; do sleep 0.05; done
	children=$(grep -v ready "$tmp/pids" | paste -sd,)
}

end_family() {
	kill $parent
	wait $parent 2>"$tmp/wait"
}

all() {
	who=$1
	eval "as=\$as_$1"
	shift
	begin_family "$who" 2
	status "$who $*: a process that only waits" 0 $as $record "$@" -p $parent --duration 0.5
	says "$who $*: its children are named" \
		"no samples in .*: process $parent has 2 child processes that are not recorded: use --descendants, or -p $parent,$children\$"
	check "$who $*: the report names the remedy, too" sh -c '"$1" report -i "$2" 2>&1 |
		tr -s "\n " "  " | grep "not recorded; .* -p PID --descendants"' sh "$SPROF" "$file"
	check "$who $*: and info" sh -c '"$1" info -i "$2" | grep "not recorded; the target used"' \
		sh "$SPROF" "$file"
	status "$who $*: -q" 0 $as $record "$@" -q -p $parent --duration 0.3
	check "$who $*: -q prints one line" sh -c 'test "$(wc -l <"$1")" = 1' sh "$tmp/err"
	status "$who $*: with its children" 0 $as $record "$@" -p "$parent,$children" --duration 0.5
	check "$who $*: no process is missing then" sh -c '! grep -q "not recorded" "$1"' sh "$tmp/err"
	status "$who $*: --descendants" 0 $as $record "$@" --descendants -p $parent --duration 0.5
	check "$who $*: no process is missing either" sh -c '! grep -q "not recorded" "$1"' sh "$tmp/err"
	"$SPROF" info -i "$file" >"$tmp/info" 2>&1
	# The report may have a row [not recorded], of time without samples.
	check "$who $*: nor in the report" sh -c '! grep -q "not recorded" "$1" &&
		! "$2" report -i "$3" 2>&1 | tr -s "\n " "  " | grep "not recorded;"' sh "$tmp/info" "$SPROF" "$file"
	check "$who $*: and the children are sampled" test "$(samples)" -ge 1
	end_family
	begin_family "$who" 7
	status "$who $*: many children" 0 $as $record "$@" -p $parent --duration 0.3
	says "$who $*: are counted" "process $parent has 7 child processes that are not recorded: use --descendants\$"
	end_family
	status "$who $*: a command that leaves daemons" 0 $as $record "$@" -- "$workload/family" 2 3 daemon
	left=$(grep -v ready "$tmp/out" | paste -sd,)
	one=${left%,*} two=${left#*,}
	says "$who $*: they are named" \
		"the command left 2 processes running: family ([0-9]*), family ([0-9]*); record them with: sprof record -p $one,$two\$"
	status "$who $*: which works" 0 $as $record "$@" -p "$left" --duration 0.2
	kill "$one" "$two"
}

if "$workload/probe" cpu >"$tmp/.probe"; then
	all root --scope cpu
else
	skip "on whole CPUs" "$(cat "$tmp/.probe")"
fi
all root --scope task
if [ "$(id -u)" != 0 ]; then
	skip "as an ordinary user" "this is one"
elif ! $as_user "$workload/probe" >"$tmp/.probe" 2>&1; then
	skip "as an ordinary user" "$(cat "$tmp/.probe")"
else
	all user
	# Records a descendant that belongs to another user.
	cp "$workload/family" "$tmp/public/setuid"
	chmod 4755 "$tmp/public/setuid"
	if $as_user "$SPROF" record -a -o "$file" true >"$tmp/out" 2>&1; then
		skip "descendants of another user" "ordinary users sample whole CPUs here"
		skip "a setuid program" "ordinary users sample whole CPUs here"
	else
		: >"$tmp/pids"
		$as_user sh -c '"$1" 1 60 >"$2/pids"; :' sh "$tmp/public/setuid" "$tmp/open" &
		parent=$!
		until grep -q ready "$tmp/open/pids" 2>"$tmp/grep"; do sleep 0.05; done
		status "descendants of another user" 0 $as_user $record --descendants -p $parent --duration 0.2
		says "are named" "no permission to attach to 2 descendant processes: setuid ([0-9]*), setuid ([0-9]*); record as root"
		kill "$(head -1 "$tmp/open/pids")" $parent
		wait $parent 2>"$tmp/wait"
		status "a setuid program" 0 $as_user $record -- "$tmp/public/setuid" 1 0.2
		says "is the reason" "no samples in .*: $tmp/public/setuid is setuid; the kernel stops events of an ordinary user at exec; record as root"
		chmod 711 "$tmp/public/setuid"
		status "a program that may not be read" 0 $as_user $record -- "$tmp/public/setuid" 1 0.2
		says "is the reason" "setuid is not readable; the kernel stops events"
	fi
fi

status "a command shorter than a period" 0 $record -F 1 -- true
says "is explained by its CPU time" \
	"the command used [0-9.]* ms of CPU time, less than one sampling period (1000 ms); \(use a higher rate: -F 4999\|run it for longer\)"
status "sampling that never began" 0 $record -D -1 -- true
says "is explained" "no samples in .*: all events were disabled when the recording ended"
status "--descendants without -p" 129 "$SPROF" record --descendants true
says "needs it" "sprof: --descendants needs -p PID"

# Units: directories of the real hierarchy, where they can be made.
groups=$(awk '$3 == "cgroup" && $4 ~ /(^|,)perf_event(,|$)/ { print $2; exit }' /proc/self/mounts)
[ -n "$groups" ] || groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
name=sprof-test-$$
if ! mkdir -p "$groups/$name.slice/$name-app.service" "$groups/$name.slice/b/$name-two.scope" \
	"$groups/$name.slice/c/$name-two.scope" 2>"$tmp/mkdir"; then
	skip "systemd units" "$(cat "$tmp/mkdir")"
else
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 1 30' sh \
		"$groups/$name.slice/$name-app.service" "$workload/family" >"$tmp/pids" &
	parent=$!
	until grep -q ready "$tmp/pids"; do sleep 0.05; done
	if "$SPROF" record -G "/$name.slice" -o "$file" --duration 0.1 >"$tmp/out" 2>"$tmp/err"; then
		for unit in $name-app $name-app.service $name.slice; do
			status "--unit $unit" 0 $record --unit "$unit" --duration 0.5
			check "--unit $unit: its processes are sampled" test "$(samples)" -ge 1
		done
	else
		skip "--unit records" "$(head -1 "$tmp/err")"
	fi
	kill $parent
	wait $parent 2>"$tmp/wait"
	status "--unit: two of one name" 129 $record --unit "$name-two" true
	says "both paths are listed" "give one path: -G PATH, of /$name.slice/[bc]/$name-two.scope, /$name.slice/[bc]/$name-two.scope"
	status "--unit: no such unit" 125 $record --unit "$name-ap" true
	says "similar names are listed" "similar units: .*$name-app.service"
	rmdir "$groups/$name.slice/$name-app.service" "$groups/$name.slice"/[bc]/*.scope \
		"$groups/$name.slice"/[bc] "$groups/$name.slice"
fi
finish

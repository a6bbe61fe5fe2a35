#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Other users, other rights, other namespaces: what they planted is not believed, what they may is
# done, and what ran is named by what it was.
#
# Parallel: names and rights are compared, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
[ "$(id -u)" = 0 ] || skip_all "only root can be somebody else"
command -v setpriv >/dev/null || skip_all "there is no setpriv"
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
publish_programs
mkdir "$tmp/theirs" "$tmp/home"
chown 65534:65534 "$tmp/theirs"
export HOME="$tmp/home" XDG_CACHE_HOME="$tmp/home/cache"

# report DATA [AS]...: functions by their share in $tmp/report, and in one line in $tmp/line.
report() {
	report_data=$1
	shift
	"$@" "$SPROF" report -i "$report_data" -s symbol --no-children >"$tmp/report" 2>"$tmp/err"
	"$@" "$SPROF" info --findings -i "$report_data" >"$tmp/findings" 2>>"$tmp/err"
	cat "$tmp/report" "$tmp/findings" | tr -s '\n ' '  ' >"$tmp/line"
}
# A place of this program's in a cache by build-id, in $cached.
make_cached() {
	id=$(readelf -n "$workload/proportions" | sed -n 's/.*Build ID: //p')
	cached=$tmp/home/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-)
	mkdir -p "$cached"
}
named() { grep -q "\[\.\] $1" "$tmp/report"; }
not_named() { ! named "$1"; }

map=
# -- Code made at run time ----------------------------------------------------
if "$workload/jitdump" "$tmp" 0 >"$tmp/out"; then
	rm -f "$tmp"/jit-*
	# shellcheck disable=SC2086
	$nobody "$workload/jitdump" "$tmp/theirs" 0.3 >"$tmp/out" &
	running=$!
	sleep 0.2
	running=$(pgrep -n -u 65534 -x jitdump || echo $running)
	"$SPROF" record -q --no-names -e cpu-clock --duration 0.5 -p "$running" -o "$tmp/jit" 2>"$tmp/err"
	report "$tmp/jit"
	check "another user's jitdump names that user's code while it runs" named '\(alpha\|beta\)'
	wait
	report "$tmp/jit"
	check "once it has ended, the file may be anybody's" not_named '\(alpha\|beta\)'
	check "which is said" grep -q 'is owned by user 65534' "$tmp/line"
	planted=$(sed -n 's/.*\[\.\] 0x\([0-9a-f]*\).*/\1 10 planted/p' "$tmp/report" | head -n 1)
	chown 0 "$tmp"/theirs/jit-*.dump
	report "$tmp/jit"
	check "root's is used" named '\(alpha\|beta\)'

	# A perf map in /tmp, where every user may write one.
	rm "$tmp"/theirs/jit-*.dump
	map=/tmp/perf-$running.map
	# shellcheck disable=SC2086
	$nobody sh -c 'echo "$2" >"$1"' sh "$map" "$planted"
	report "$tmp/jit"
	check "a planted perf map is not believed" not_named planted
	rm -f "$map"
	ln -s "$tmp/home/map" "$map"
	echo "$planted" >"$tmp/home/map"
	report "$tmp/jit"
	check "a link is not followed" not_named planted
	rm -f "$map"
	cp "$tmp/home/map" "$map"
	report "$tmp/jit"
	check "one's own is believed" named planted
	rm -f "$map"
else
	skip "code made at run time" "the workload makes none for this machine"
fi

# Its own number is another than the recording's.
if [ -n "$map" ] && unshare -p -f true 2>"$tmp/err"; then
	mkdir "$tmp/pids"
	unshare -p -f "$workload/jitdump" "$tmp/pids" 0.2 >"$tmp/out" &
	sleep 0.2
	"$SPROF" record -q -e cpu-clock --duration 0.4 -p "$(pgrep -n -x jitdump)" -o "$tmp/jit" 2>"$tmp/err"
	wait
	check "in a pid namespace a process is 1 for itself" test -e "$tmp/pids/jit-1.dump"
	report "$tmp/jit"
	check "whose jitdump is read" named '\(alpha\|beta\|gamma\)'
else
	skip "pid namespaces" "none may be made"
fi

# In a mount namespace with its own /tmp: files of the process are found while it runs.
if [ -n "$map" ] && unshare -p -m -f mount -t tmpfs tmpfs /tmp 2>"$tmp/err"; then
	cp "$workload/jitdump" "$tmp/contained"
	rm -f "$tmp/out" # an earlier program's output is no sign that this one runs
	unshare -p -m -f sh -c 'cd "$1" && mount -t tmpfs tmpfs /tmp && exec ./contained /tmp 30' - \
		"$tmp" >"$tmp/out" &
	until [ -s "$tmp/out" ]; do sleep 0.05; done
	inner=$(pgrep -n -x contained)
	"$SPROF" record -q --no-names -e cpu-clock --duration 0.3 -p "$inner" -o "$tmp/jit" 2>"$tmp/err"
	report "$tmp/jit"
	check "a jitdump in a container's /tmp is read" named '\(alpha\|beta\|gamma\)'
	inside=/proc/$inner/root/tmp
	rm "$inside/jit-1.dump"
	report "$tmp/jit"
	# All addresses without a name: which of them has most samples is chance.
	sed -n 's/.*\[\.\] 0x\([0-9a-f]*\)[0-9a-f][0-9a-f]$/\100 100 mapped/p' "$tmp/report" |
		sort -u >"$inside/perf-1.map"
	report "$tmp/jit"
	check "a perf map in a container's /tmp is read" named mapped
	mv "$inside/perf-1.map" "$inside/elsewhere"
	ln -s elsewhere "$inside/perf-1.map"
	report "$tmp/jit"
	check "a link there is not followed" not_named mapped
	kill -9 "$inner"
	wait
else
	skip "a container's /tmp" "no mount namespace may be made"
fi

# -- Debug files --------------------------------------------------------------
if command -v objcopy >/dev/null && command -v strip >/dev/null; then
	mkdir "$tmp/shared"
	chmod 1777 "$tmp/shared"
	strip -o "$tmp/shared/program" "$workload/proportions"
	objcopy --only-keep-debug "$workload/proportions" "$tmp/shared/program.debug"
	(cd "$tmp/shared" && objcopy --add-gnu-debuglink=program.debug program)
	"$SPROF" record -q --no-names -e cpu-clock -o "$tmp/stripped" -- "$tmp/shared/program" 0.1 >"$tmp/out" 2>&1
	report "$tmp/stripped"
	check "a debug file beside the binary is used" named compress
	chown 65534 "$tmp/shared/program.debug"
	report "$tmp/stripped"
	check "another user's is not" not_named compress
	make_cached
	cp "$tmp/shared/program.debug" "$cached/debug"
	report "$tmp/stripped"
	check "one in a cache by build-id is used" named compress
	chown 65534 "$cached/debug"
	report "$tmp/stripped"
	check "another user's is not" not_named compress
	rm -r "$tmp/home/.debug"
else
	skip "debug files" "there is no objcopy"
fi

# -- A path that is another file elsewhere -------------------------------------
if unshare -m true 2>"$tmp/err"; then
	mkdir "$tmp/app" "$tmp/inner"
	cp "$workload/threads" "$tmp/app/server"
	cp "$workload/proportions" "$tmp/inner/server"
	timeout 30 unshare -m sh -c 'mount --bind "$1/inner/server" "$1/app/server" &&
		exec "$1/app/server" 30' sh "$tmp" >"$tmp/out" 2>&1 &
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		server=$(pgrep -n -x server) && break
	done
	"$SPROF" record -q --no-names -e cpu-clock --duration 0.3 -p "$server" -o "$tmp/ns" 2>"$tmp/err"
	report "$tmp/ns"
	check "what runs in a mount namespace is named by what is there" named compress
	kill "$server"
	wait
	rm "$tmp/inner/server"
	report "$tmp/ns"
	check "once it has ended, not by what is here at that path" not_named '[a-z]*\(work\|spin\|compress\)'
	check "which is said" grep -q 'app/server is not the recorded file' "$tmp/line"
	make_cached
	cp "$workload/proportions" "$cached/elf"
	report "$tmp/ns"
	check "but by its build-id" named compress
else
	skip "mount namespaces" "none may be made"
fi

# -- Rights ---------------------------------------------------------------------
# try STATUS NAME COMMAND...: records as a user; succeeds, or fails with the remedy.
try() {
	try_wanted=$1
	try_name=$2
	shift 2
	rm -f "$tmp/theirs/data"
	XDG_CACHE_HOME="$tmp/theirs/cache" "$@" >"$tmp/got" 2>"$tmp/err"
	try_status=$?
	if [ "$try_wanted" = made ]; then
		check "$try_name: is recorded (status $try_status)" test $try_status = 0
	else
		check "$try_name: is refused, and the remedy is said (status $try_status)" sh -c \
			'test "$1" -gt 124 && grep -q "perf_event_paranoid\|CAP_PERFMON" "$2"' \
			sh $try_status "$tmp/err"
	fi
}
record="$SPROF record -q -o $tmp/theirs/data"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
if { echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid; } 2>"$tmp/err"; then
	trap 'echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid; rm -rf "$tmp"' EXIT
	for level in 0 1 2 3; do
		echo $level >/proc/sys/kernel/perf_event_paranoid
		# Debian's kernels refuse users all from 3 on; Linux itself has no 3.
		theirs=made
		# shellcheck disable=SC2086
		[ $level = 3 ] && ! $nobody "$workload/probe" >"$tmp/out" 2>&1 && theirs=refused
		kernel=made
		[ $level -ge 2 ] && kernel=refused
		cpus=made
		[ $level -ge 1 ] && cpus=refused
		# shellcheck disable=SC2086
		{
			try $theirs "paranoid $level: a user's program" \
				$nobody $record -- "$workload/proportions" 0.05
			try $kernel "paranoid $level: the kernel for a user" \
				$nobody $record -e cpu-clock:k -- "$workload/proportions" 0.05
			try $cpus "paranoid $level: whole CPUs for a user" \
				$nobody $record -e cpu-clock -a --duration 0.05
		}
	done
	# shellcheck disable=SC2086
	try made "paranoid 3: whole CPUs by CAP_PERFMON alone" $nobody --inh-caps +perfmon \
		--ambient-caps +perfmon $record -e cpu-clock -a --duration 0.05
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
else
	skip "perf_event_paranoid from 0 to 3" "it cannot be set here"
fi

# shellcheck disable=SC2086
if $nobody unshare -Ur true 2>"$tmp/err"; then
	rm -f "$tmp/theirs/data"
	XDG_CACHE_HOME="$tmp/theirs/cache" $nobody unshare -Ur $record -- "$workload/proportions" 0.1 \
		>"$tmp/got" 2>"$tmp/err"
	status=$?
	check "as root of an unprivileged user namespace: is recorded (status $status)" \
		test $status = 0
	report "$tmp/theirs/data" $nobody unshare -Ur
	check "and reported there" named compress
	report "$tmp/theirs/data"
	check "and outside" named compress
else
	skip "user namespaces" "users may make none"
fi
finish

# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by every test script: . "$top_srcdir/tests/tap.sh"
#
#	ok NAME                      passed
#	not_ok NAME [WHY]            failed
#	skip NAME REASON             not run
#	skip_all REASON              nothing of this script can run; ends it
#	check NAME COMMAND [ARG]...  passed if the command's status is 0
#	same NAME WANTED GOT         passed if the two files are equal
#	status NAME WANTED COMMAND [ARG]...
#	                             passed if that is the exit status; its output is then in
#	                             $tmp/out, its messages in $tmp/err
#	says NAME PATTERN            passed if the messages of that have it
#	noisy COMMAND [ARG]...       runs the cases of a function of the script; if one fails, runs it
#	                             again, up to four times in all, and keeps the last run's results.
#	                             For cases that measure CPU time, or depend on the scheduler.
#	                             The function makes its recording anew. With ONCE=1 it runs once.
#	await_names FILE             waits until the names are in a recording: a process of low priority may
#	                             still write them after the recorder's end
#	comment TEXT                 prints TEXT in the log
#	need_sampling [cpu]          skips all where perf_event_open is refused; sets $steady, a prefix
#	                             for a command from which other programs must not take the CPU,
#	                             empty without the right, or if the recorder needs the same CPU
#	publish_programs             copies the command and the workload to where other users may
#	                             run them, and sets $SPROF and $workload to the copies: the
#	                             build directory may be below one that only its owner may enter
#	finish                       last line of every script
#
# $tmp is a folder of the script's own, removed at its end. The exit status is 0 once the plan is
# printed: failures are in the lines, and automake would count a status again. A script that ends
# before `finish` counts as failed.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=$top_srcdir/build}"
: "${SPROF:=$top_builddir/src/sprof}"
: "${SPROF_CORPUS:=$top_srcdir/../shared/corpus}"
: "${CC:=cc}"
workload=$top_builddir/tests/workload

tap_count=0
tmp=$(mktemp -d "${TMPDIR:-/tmp}/sprof-test.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

ok() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

not_ok() {
	tap_count=$((tap_count + 1))
	echo "not ok $tap_count - $1"
	[ $# = 1 ] || comment "$2"
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

status() {
	status_name=$1
	status_wanted=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	status_got=$?
	if [ $status_got = "$status_wanted" ]; then
		ok "$status_name"
	else
		not_ok "$status_name" "status $status_got, not $status_wanted: $(cat "$tmp/err")"
	fi
}

says() {
	if grep -q -- "$2" "$tmp/err"; then
		ok "$1"
	else
		not_ok "$1" "$(cat "$tmp/err")"
	fi
}

comment() {
	printf '%s\n' "$1" | sed 's/^/# /'
}

check() {
	tap_name=$1
	shift
	if "$@" >"$tmp/.out" 2>&1; then
		ok "$tap_name"
	else
		not_ok "$tap_name" "status $? of: $*"
		sed 's/^/# /' "$tmp/.out"
	fi
}

noisy() {
	noisy_count=$tap_count
	for noisy_run in 1 2 3 4; do
		tap_count=$noisy_count
		"$@" >"$tmp/.noisy"
		[ $noisy_run != 4 ] && [ -z "${ONCE:-}" ] && grep -q '^not ok' "$tmp/.noisy" || break
		sed -n 's/^not ok [0-9]* - /# Repeated: /p' "$tmp/.noisy"
		sed 's/^not ok/failed/; s/^/#   /' "$tmp/.noisy"
	done
	cat "$tmp/.noisy"
}

same() {
	if diff -u "$2" "$3" >"$tmp/.diff" 2>&1; then
		ok "$1"
	else
		not_ok "$1"
		sed -n 's/^/# /;1,60p' "$tmp/.diff"
	fi
}

need_sampling() {
	"$workload/probe" "$@" >"$tmp/.probe" || skip_all "$(cat "$tmp/.probe")"
	steady=
	[ "$(nproc)" = 1 ] || ! chrt -f 10 true 2>"$tmp/.chrt" || steady="chrt -f 10"
}

publish_programs() {
	chmod 755 "$tmp"
	mkdir -p "$tmp/public/lib"
	cp "$top_builddir"/lib/.libs/libsprof.so* "$tmp/public/lib/"
	# Libtool's wrapper names the build directory.
	program=${SPROF%/*}/.libs/${SPROF##*/}
	[ -x "$program" ] || program=$SPROF
	cp "$program" "$tmp/public/sprof"
	cp -r "$workload" "$tmp/public/workload"
	SPROF=$tmp/public/sprof
	workload=$tmp/public/workload
	export LD_LIBRARY_PATH="$tmp/public/lib"
}

await_names() {
	names_left=120
	until "$SPROF" info -i "$1" 2>&1 | grep -q '^  stored ' || [ $names_left = 0 ]; do
		names_left=$((names_left - 1))
		sleep 0.5
	done
}

finish() {
	echo "1..$tap_count"
	exit 0
}

# unsurprising RECORDING COMPLAINTS: takes out of perf's complaints that samples were lost,
# where some were: a recorder that waits for a processor loses them.
unsurprising() {
	"$SPROF" info -i "$1" --format json | grep -q '"lost": *[1-9]' || return 0
	grep -vE '^(Warning:|Processed [0-9]+ (events and lost [0-9]+ chunks|samples and lost [0-9.]+%)!|Check IO/CPU overload!|)$' \
		"$2" >"$2.rest"
	mv "$2.rest" "$2"
}

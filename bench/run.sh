#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh [SECTION]...: measures sprof and perf by turns, prints medians and their
# ratio (below 1: sprof needs less). Sections: startup stat overhead attach report script,
# unwinder (against libunwind), and those of bench/stacks.sh, bench/exports.sh,
# bench/lock_in.sh, bench/off_cpu.sh, bench/recorder.sh and bench/symbolizer.sh.
#
# Environment: top_builddir; PERF (perf), PERF_NEW (another one to compare with as to
# call graphs); BENCH_RUNS (by turns, 7); BENCH_DATA (a recording to report on, instead
# of making one of a million samples), BENCH_DWARF_DATA (the same, of stacks);
# BENCH_FULL=1 (also what perf takes minutes for).
set -u
: "${top_builddir:?}"
: "${PERF:=}"
: "${PERF:=perf}"
: "${BENCH_RUNS:=7}"
: "${PERF_NEW:=}"
here=$(cd "$(dirname "$0")" && pwd)
measure=$top_builddir/bench/measure
workload=$top_builddir/tests/workload
kept=$top_builddir/bench/data
tmp=$(mktemp -d "${TMPDIR:-/tmp}/sprof-bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
chmod 711 "$tmp"

# The command itself, not libtool's wrapper, which takes longer than it.
if [ -x "$top_builddir/src/.libs/sprof" ]; then
	sprof=$top_builddir/src/.libs/sprof
	LD_LIBRARY_PATH=$top_builddir/lib/.libs
	export LD_LIBRARY_PATH
else
	sprof=$top_builddir/src/sprof
fi

if ! command -v "$PERF" >/dev/null; then
	echo "there is no perf to compare with (PERF=$PERF)" >&2
	exit 1
fi

# column LOG N: median of the N-th column.
column() {
	awk -v n="$2" '{ print $n }' "$1" 2>/dev/null | sort -g | awk '
		{ value[NR] = $1 }
		END {
			if (!NR) { print "nan"; exit }
			m = int((NR + 1) / 2)
			print NR % 2 ? value[m] : (value[m] + value[m + 1]) / 2
		}'
}

# ratio NAME UNIT SPROF PERF
row() {
	awk -v name="$1" -v unit="$2" -v ours="$3" -v theirs="$4" 'BEGIN {
		printf "  %-46s %10.2f %10.2f %-3s %7.3f\n", name, ours, theirs, unit, theirs ? ours / theirs : 0
	}'
}

# counts NAME SPROF PERF: what no ratio says anything about.
counts() {
	printf '  %-46s %10d %10d\n' "$@"
}

heading() {
	printf '\n%s\n  %-46s %10s %10s %-3s %7s\n' "$1" '' sprof perf '' ratio
}

# failures LOG NAME: says how often the command failed, and ends the section.
failures() {
	awk -v name="$2" '$4 { bad++; last = $4 }
		END { if (bad || !NR) { print "  " name ": " bad + 0 " of " NR " runs failed, status " last; exit 1 } }' \
		"$1"
}

# turns NAME A-COMMAND -- B-COMMAND…: both BENCH_RUNS times, by turns; logs in
# $tmp/NAME.sprof and $tmp/NAME.perf. The commands are functions that get the
# log to measure into.
turns() {
	rm -f "$tmp/$1.sprof" "$tmp/$1.perf"
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		"$2" "$tmp/$1.sprof"
		"$3" "$tmp/$1.perf"
		i=$((i + 1))
	done
	failures "$tmp/$1.sprof" "sprof $1" && failures "$tmp/$1.perf" "perf $1"
}

quiet() {
	"$@" >/dev/null 2>"$tmp/stderr" </dev/null
}

### start-up: record -- true

sprof_true() {
	quiet $as "$measure" "$1" "$sprof" record -o "$out/s.data" -- true
}

perf_true() {
	quiet $as "$measure" "$1" "$PERF" record -o "$out/p.data" -- true
}

perf_true_no_bpf() {
	quiet $as "$measure" "$1" "$PERF" record --no-bpf-event -o "$out/p.data" -- true
}

startup() {
	heading "Start-up: record -- true"
	as='' out=$tmp
	if turns startup sprof_true perf_true; then
		row "wall, as $(id -un)" ms "$(column "$tmp/startup.sprof" 1)" "$(column "$tmp/startup.perf" 1)"
		row "CPU, as $(id -un)" ms "$(column "$tmp/startup.sprof" 2)" "$(column "$tmp/startup.perf" 2)"
		row "peak memory, as $(id -un)" KiB "$(column "$tmp/startup.sprof" 3)" "$(column "$tmp/startup.perf" 3)"
	fi
	if turns startup_no_bpf sprof_true perf_true_no_bpf; then
		row "wall, perf with --no-bpf-event" ms "$(column "$tmp/startup_no_bpf.sprof" 1)" \
			"$(column "$tmp/startup_no_bpf.perf" 1)"
	fi
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
		as='setpriv --reuid=65534 --regid=65534 --clear-groups' out=$tmp/nobody
		mkdir -p "$out"
		chown 65534:65534 "$out"
		touch "$tmp/user.sprof" "$tmp/user.perf"
		if user_turns; then
			row "wall, as an ordinary user" ms "$(column "$out/user.sprof" 1)" "$(column "$out/user.perf" 1)"
			row "CPU, as an ordinary user" ms "$(column "$out/user.sprof" 2)" "$(column "$out/user.perf" 2)"
		fi
		as='' out=$tmp
	fi
}

user_turns() {
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		sprof_true "$out/user.sprof"
		perf_true "$out/user.perf"
		i=$((i + 1))
	done
	[ -f "$out/user.sprof" ] || {
		echo "  an ordinary user cannot run $sprof from here"
		return 1
	}
	failures "$out/user.sprof" "sprof as a user" && failures "$out/user.perf" "perf as a user"
}

### start-up: stat true

sprof_stat_true() {
	quiet "$measure" "$1" "$sprof" stat true
}

perf_stat_true() {
	quiet "$measure" "$1" "$PERF" stat true
}

stat() {
	heading "Start-up: stat true"
	if turns stat sprof_stat_true perf_stat_true; then
		row "wall" ms "$(column "$tmp/stat.sprof" 1)" "$(column "$tmp/stat.perf" 1)"
		row "CPU" ms "$(column "$tmp/stat.sprof" 2)" "$(column "$tmp/stat.perf" 2)"
		row "peak memory" KiB "$(column "$tmp/stat.sprof" 3)" "$(column "$tmp/stat.perf" 3)"
	fi
}

### what recording costs the workload, and the recorder itself

# A fixed number of descents, about a second, 20 calls deep.
alone() {
	"$workload/deep" 20 x12000 50 >"$tmp/work"
}

# recorded TOOL LOG ARG...: appends "WORK_CPU RECORDER_CPU" in ms to LOG.cpu.
recorded() {
	tool=$1 log=$2
	shift 2
	"$measure" "$log" "$tool" record "$@" -o "$tmp/o.$(basename "$tool")" -- \
		"$workload/deep" 20 x12000 50 >"$tmp/work" 2>"$tmp/stderr" </dev/null
	tail -n 1 "$log" | awk -v work="$(awk '{ print $1 / 1e6 }' "$tmp/work")" \
		'{ print work, $2 - work }' >>"$log.cpu"
}

# samples FILE: "SAMPLES LOST", by the count of records of the first perf that can read it.
samples() {
	for reader in "$PERF" $PERF_NEW; do
		counted=$("$reader" report -f --stats -i "$1" 2>/dev/null | awk '
			$1 == "SAMPLE" && $2 == "events:" { samples = $3 }
			$1 ~ /^LOST/ && $2 == "events:" { lost += $3 }
			END { print samples + 0, lost + 0 }')
		[ "${counted%% *}" = 0 ] || break
	done
	echo "$counted"
}

overhead() {
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null || echo 0)
	[ "$limit" -ge 20000 ] || echo "perf_event_max_sample_rate is $limit: higher frequencies are cut to it"
	for graph in '' -g; do
		for frequency in 99 997 4999 20000; do
			overhead_at "$frequency" $graph
		done
	done
}

overhead_at() {
	frequency=$1 graph=${2-}
	heading "Recording at $frequency Hz${graph:+ with $graph}"
	rm -f "$tmp"/none.cpu "$tmp"/over.*
	i=0
	while [ $i -lt "$BENCH_RUNS" ]; do
		alone
		awk '{ print $1 / 1e6 }' "$tmp/work" >>"$tmp/none.cpu"
		recorded "$sprof" "$tmp/over.sprof" -F "$frequency" $graph
		recorded "$PERF" "$tmp/over.perf" -F "$frequency" $graph
		i=$((i + 1))
	done
	failures "$tmp/over.sprof" sprof && failures "$tmp/over.perf" perf || return
	base=$(column "$tmp/none.cpu" 1)
	row "workload's CPU time, of that without recording" % "$(slowed "$tmp/over.sprof.cpu")" "$(slowed "$tmp/over.perf.cpu")"
	row "recorder's CPU per second of workload" ms \
		"$(own "$tmp/over.sprof.cpu")" "$(own "$tmp/over.perf.cpu")"
	row "recorder's peak memory" KiB "$(column "$tmp/over.sprof" 3)" "$(column "$tmp/over.perf" 3)"
	set -- $(samples "$tmp/o.$(basename "$sprof")") $(samples "$tmp/o.$(basename "$PERF")")
	counts "samples (last run)" "$1" "$3"
	counts "lost (last run)" "$2" "$4"
}

slowed() {
	awk -v work="$(column "$1" 1)" -v base="$base" 'BEGIN { print work / base * 100 }'
}

own() {
	awk -v own="$(column "$1" 2)" -v base="$base" 'BEGIN { print own / base * 1000 }'
}

### attaching to many threads

sprof_attach() {
	quiet "$measure" "$1" "$sprof" record -o "$tmp/s.data" -p "$target" --duration 0.001
}

perf_attach() {
	quiet "$measure" "$1" "$PERF" record -o "$tmp/p.data" -p "$target" -- true
}

perf_attach_no_bpf() {
	quiet "$measure" "$1" "$PERF" record --no-bpf-event -o "$tmp/p.data" -p "$target" -- true
}

attach() {
	heading "Attaching for a moment: record -p PID"
	for threads in 1 100 2000; do
		mkfifo "$tmp/ready"
		"$workload/idle" $threads 600 >"$tmp/ready" &
		target=$!
		read -r _ <"$tmp/ready"
		rm "$tmp/ready"
		if turns attach sprof_attach perf_attach; then
			row "wall, $threads threads" ms "$(column "$tmp/attach.sprof" 1)" "$(column "$tmp/attach.perf" 1)"
			row "CPU, $threads threads" ms "$(column "$tmp/attach.sprof" 2)" "$(column "$tmp/attach.perf" 2)"
		fi
		if turns attach_no_bpf sprof_attach perf_attach_no_bpf; then
			row "wall, perf with --no-bpf-event" ms "$(column "$tmp/attach_no_bpf.sprof" 1)" \
				"$(column "$tmp/attach_no_bpf.perf" 1)"
		fi
		kill "$target"
		wait "$target" 2>/dev/null
	done
}

### reporting on a million samples with call chains

# Made once, by perf, and kept in the build folder.
million() {
	data=${BENCH_DATA-$kept/million.data}
	[ ! -f "$data" ] || return 0
	mkdir -p "$kept"
	echo "recording a million samples (a minute or so)" >&2
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	if [ "$limit" -lt 25000 ] && [ -w /proc/sys/kernel/perf_event_max_sample_rate ]; then
		echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
	fi
	cpus=$(getconf _NPROCESSORS_ONLN)
	quiet "$PERF" record -F 20000 -g -m 4096 -o "$data.new" -- \
		"$workload/deep" 20 "$((52 / cpus))" 2000 "$cpus" || {
		cat "$tmp/stderr"
		return 1
	}
	mv "$data.new" "$data"
}

sprof_tree() {
	quiet "$measure" "$1" "$sprof" report -i "$data" --children -g caller
}

perf_tree() {
	quiet "$measure" "$1" "$PERF" report -i "$data" --stdio --no-inline --children -g caller
}

sprof_flat() {
	quiet "$measure" "$1" "$sprof" report -i "$data" --no-children -g none
}

perf_flat() {
	quiet "$measure" "$1" "$PERF" report -i "$data" --stdio --no-inline --no-children -g none
}

report() {
	million || return
	set -- $(samples "$data")
	heading "Reporting on $1 samples, $(($(wc -c <"$data") >> 20)) MiB"
	wanted=$BENCH_RUNS
	[ "$BENCH_RUNS" -le 3 ] || BENCH_RUNS=3
	if turns flat sprof_flat perf_flat; then
		row "flat table: wall" ms "$(column "$tmp/flat.sprof" 1)" "$(column "$tmp/flat.perf" 1)"
		row "flat table: CPU" ms "$(column "$tmp/flat.sprof" 2)" "$(column "$tmp/flat.perf" 2)"
		row "flat table: peak memory" KiB "$(column "$tmp/flat.sprof" 3)" "$(column "$tmp/flat.perf" 3)"
	fi
	if turns tree sprof_tree perf_tree; then
		row "call tree: wall" ms "$(column "$tmp/tree.sprof" 1)" "$(column "$tmp/tree.perf" 1)"
		row "call tree: CPU" ms "$(column "$tmp/tree.sprof" 2)" "$(column "$tmp/tree.perf" 2)"
		row "call tree: peak memory" KiB "$(column "$tmp/tree.sprof" 3)" "$(column "$tmp/tree.perf" 3)"
	fi
	BENCH_RUNS=$wanted
	rm -f "$tmp/cat"
	for i in 1 2 3; do
		"$measure" "$tmp/cat" cat "$data" >/dev/null
	done
	echo "  reading the file by cat: $(column "$tmp/cat" 1) ms"
}

### printing a million samples

sprof_script() {
	quiet "$measure" "$1" "$sprof" script -i "$data"
}

perf_script() {
	quiet "$measure" "$1" "${PERF_NEW:-$PERF}" script -i "$data"
}

script() {
	million || return
	set -- $(samples "$data")
	heading "Printing $1 samples, with perf ${PERF_NEW:-$PERF}"
	wanted=$BENCH_RUNS
	[ "$BENCH_RUNS" -le 3 ] || BENCH_RUNS=3
	if turns script sprof_script perf_script; then
		row "script: wall" ms "$(column "$tmp/script.sprof" 1)" "$(column "$tmp/script.perf" 1)"
		row "script: CPU" ms "$(column "$tmp/script.sprof" 2)" "$(column "$tmp/script.perf" 2)"
		row "script: peak memory" KiB "$(column "$tmp/script.sprof" 3)" \
			"$(column "$tmp/script.perf" 3)"
	fi
	BENCH_RUNS=$wanted
}

### the library's unwinder

unwinder() {
	printf '\nUnwinding in a program, by turns with libunwind\n'
	for depth in 10 40 200; do
		"$top_builddir/bench/unwinder" "$depth"
	done
}

. "$here/stacks.sh"
. "$here/exports.sh"
. "$here/off_cpu.sh"
. "$here/lock_in.sh"
. "$here/recorder.sh"
. "$here/symbolizer.sh"

echo "sprof: $("$sprof" --version); perf: $("$PERF" --version)"
echo "$(uname -srm), $(getconf _NPROCESSORS_ONLN) CPUs; medians of $BENCH_RUNS runs by turns"
sections="startup stat overhead recorder attach report script exports dwarf-report inlines live"
sections="$sections end-to-end complete symbolize symbolizer unwinder off-cpu lock-in"
[ $# != 0 ] || set -- $sections
for section; do
	case " $sections " in
	*" $section "*) $(echo "$section" | tr - _) ;;
	*)
		echo "there is no section '$section': $sections" >&2
		exit 1
		;;
	esac
done
exit 0

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kill.sh: SIGKILL at random moments of recording. KILLS (2) of them, each within the first
# SPAN_MS (600), over all modes in turn (or KILL_MODES) from a random one on; each file must open,
# in sprof and in each perf of $PERF, and hold all but at most the last second. That is measured
# twice: from the last sample to the kill, by the clock that both have; and where the workload is
# the recorder's, by its CPU time; the weight of the samples lacks less than a second of it.
# EARLY_KILLS (20) more, each within the first 60 ms, leave the older recording at its name or at
# FILE.old, and no other file.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/faults/lib.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
strike=$top_builddir/tests/faults/strike
file=$tmp/data
modes=${KILL_MODES:-"fp full zip later later-zip ending all attach pipe pipe-zip task ending-zip ending-later live threads sync sync-zip"}
if ! "$workload/probe" cpu >"$tmp/.probe"; then
	comment "not all CPUs: $(cat "$tmp/.probe")"
	modes=$(printf '%s' "$modes" | sed 's/\<all\>//')
fi

# A target for recorders of other processes: two busy threads that run long.
"$workload/threads" 2 100000 >"$tmp/busy" &
busy=$!
trap 'kill -KILL $busy; rm -rf "$tmp"' EXIT
until grep -q ready "$tmp/busy" 2>"$tmp/err"; do sleep 0.05; done
kill -STOP $busy

struck() { # DELAY_US [strike's options --] record's arguments
	struck_delay=$1
	shift
	struck_options=
	while [ "$1" != -- ]; do
		struck_options="$struck_options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	"$strike" $struck_options "$tmp/struck" "$struck_delay" "$SPROF" record -q "$@" 2>"$tmp/err"
}

# Asked to end, and killed up to 60 ms after that.
ending() {
	random 60000
	ending_us=$random_number
	random $((${SPAN_MS:-600} * 500))
	struck $((200000 + random_number)) -i $ending_us -- "$@"
}

strike_mode() { # MODE
	random $((${SPAN_MS:-600} * 1000))
	case $1 in
	fp) struck "$random_number" -- --call-graph fp -o "$file" -- "$workload/proportions" 30 ;;
	full) struck "$random_number" -- -o "$file" -- "$workload/deep" 40 30 2 2 ;;
	live) struck "$random_number" -- --call-graph dwarf -F 4000 -o "$file" -- "$workload/deep" 200 30 2 ;;
	zip) struck "$random_number" -- -z --call-graph fp -o "$file" -- "$workload/proportions" 30 ;;
	later) struck "$random_number" -- --call-graph dwarf --unwind later -o "$file" -- "$workload/deep" 40 30 2 ;;
	later-zip) struck "$random_number" -- -z --call-graph dwarf --unwind later -o "$file" -- "$workload/deep" 40 30 2 ;;
	task) struck "$random_number" -- --scope task -F 4000 -g -o "$file" -- "$workload/proportions" 30 ;;
	sync) struck "$random_number" -- --sync -g -o "$file" -- "$workload/proportions" 30 ;;
	sync-zip) struck "$random_number" -- --sync -z -g -o "$file" -- "$workload/proportions" 30 ;;
	threads) struck "$random_number" -- -g -o "$file" -- "$workload/threads" 4 30 5 >"$tmp/out" ;;
	ending) ending -g -o "$file" -- "$workload/proportions" 30 ;;
	ending-zip) ending -z -g -o "$file" -- "$workload/proportions" 30 ;;
	ending-later) ending --call-graph dwarf --unwind later -F 4000 -o "$file" -- "$workload/deep" 40 30 2 ;;
	pipe) struck "$random_number" -- -g -o - -- "$workload/proportions" 30 | cat >"$file" ;;
	pipe-zip) struck "$random_number" -- -z -g -o - -- "$workload/proportions" 30 | cat >"$file" ;;
	all | attach)
		kill -CONT $busy
		if [ "$1" = all ]; then
			struck "$random_number" -- -a -g -o "$file" -- sleep 30
		else
			struck "$random_number" -- -g -o "$file" -p $busy
		fi
		kill -STOP $busy
		;;
	esac
}

# The CPU time of one thread says what its weight must be: of these modes.
weighs() {
	case $1 in all | attach | full | threads) false ;; esac
}

fault() {
	faults="${faults:+$faults; }$*"
}

# A recorder killed before its first samples were in the file only has to leave a file that opens.
judge() { # MODE
	faults=
	read -r what begun_ns struck_ns cpu_ns <"$tmp/struck"
	if [ "$what" != killed ]; then
		return 1
	fi
	if [ ! -s "$file" ]; then
		[ $((struck_ns - begun_ns)) -lt 1000000000 ] || fault "there is no file after a second"
		return 1
	fi
	"$SPROF" info -i "$file" --format json >"$tmp/info" 2>"$tmp/err" || fault "info: $(cat "$tmp/err")"
	"$SPROF" report -i "$file" --format json >"$tmp/report" 2>"$tmp/err" || fault "report: $(cat "$tmp/err")"
	grep -q '"damage": *\[\]' "$tmp/info" || fault "damage"
	# A stream has no end; who is asked to end may have done so before the kill.
	case $1 in
	pipe* | ending*) ;;
	*) grep -q '"unfinished": true' "$tmp/info" || fault "not said to be unfinished" ;;
	esac
	samples=$(number "$tmp/info" SAMPLE)
	last_ns=$(number "$tmp/info" last_ns)
	: "${samples:=0}" "${last_ns:=$begun_ns}"
	[ "$samples" -gt 0 ] || last_ns=$begun_ns
	behind_ms=$(((struck_ns - last_ns) / 1000000))
	[ $behind_ms -lt 1000 ] || fault "the last $behind_ms ms are lost"
	lacks_ms=0
	if weighs "$1"; then
		weight=$(number "$tmp/report" weight)
		lacks_ms=$(((cpu_ns - ${weight:-0}) / 1000000))
		[ $lacks_ms -lt 1000 ] || fault "$lacks_ms ms of CPU time are lost"
	fi
	[ $behind_ms -le "$worst_ms" ] || worst_ms=$behind_ms
	[ $lacks_ms -le "$worst_ms" ] || worst_ms=$lacks_ms
	for perf in $(perfs); do
		got=$("$perf" script -i "$file" -F time,event 2>"$tmp/err" |
			grep -cE '^ *[0-9]+\.[0-9]+:')
		[ "$got" = "$samples" ] || fault "$perf reads $got of $samples samples: $(head -n 3 "$tmp/err")"
	done
	return 0
}

# shellcheck disable=SC2086
set -- $modes
random $#
while [ $random_number -gt 0 ]; do
	mode=$1
	shift
	set -- "$@" "$mode"
	random_number=$((random_number - 1))
done

worst_ms=0 wanted=${KILLS:-2} kills=0 early=0 good=0 over=0
comment "FAULTS_SEED=$FAULTS_SEED; read by sprof $(perfs | tr '\n' ' ')"
while [ $kills -lt "$wanted" ] && [ $((early + over)) -lt $((wanted + 50)) ]; do
	for mode; do
		[ $kills -lt "$wanted" ] || break
		rm -rf "$file" "$file".*
		strike_mode "$mode"
		if judge "$mode"; then
			kills=$((kills + 1))
			[ -n "$faults" ] || good=$((good + 1))
		elif [ "$what" = killed ]; then
			early=$((early + 1))
		else
			over=$((over + 1))
		fi
		if [ -n "$faults" ]; then
			comment "$mode, killed after $(((struck_ns - begun_ns) / 1000000)) ms: $faults"
			[ -z "$KEEP_FAULTS" ] || cp "$file" "$KEEP_FAULTS/$mode.$kills"
		fi
	done
done
comment "$early were killed before there was a file, $over had ended"
check "$good of $kills kills: the file opens, and lacks a second at most ($worst_ms ms)" \
	test $good = "$wanted"

wanted=${EARLY_KILLS:-20} kills=0 good=0
mkdir "$tmp/early"
file=$tmp/early/data
while [ $kills -lt "$wanted" ]; do
	echo older >"$file"
	rm -f "$file.old"
	random 60000
	struck "$random_number" -- -g -o "$file" -- "$workload/proportions" 30
	kills=$((kills + 1))
	found=$(grep -axl older "$file" "$file.old" 2>"$tmp/.grep" | wc -l)
	others=$(find "$tmp/early" -type f ! -name data ! -name data.old | wc -l)
	if [ "$found" = 1 ] && [ "$others" = 0 ]; then
		good=$((good + 1))
	else
		comment "killed after $random_number us: $(ls "$tmp/early")"
	fi
done
check "$good of $kills early kills: the older recording is at its name or at FILE.old" \
	test $good = "$wanted"
finish

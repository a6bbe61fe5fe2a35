#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Time of functions and threads by report --mode, compared with the program's own clocks, as root and as
# an ordinary user. kernel.perf_event_paranoid is changed only if SPROF_INVASIVE=1.
#
# Time of a function is as exact as the stacks: from context switches it is within a few percent of the
# thread's life, because short waits are thinned. Above 5,000 switches a second a part of them is sampled.
# Snapshots do not find woken threads that wait for a CPU: functions are not compared.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v python3 >/dev/null || skip_all "needs python3"
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --"

cat >"$tmp/compare.py" <<'END'
# compare.py TRUTH JSON functions|threads LOST: prints "ok|not_ok NAME". LOST: number of records of losses.
import json, sys

truth = {}
life = {}
for line in open(sys.argv[1]):
    part = line.split()
    if len(part) != 5 or part[0] == "join_all":
        continue
    name, wall, cpu, tid = part[0], int(part[1]), int(part[2]), part[4]
    if name == "run_role":
        life[tid] = (wall, cpu)
        continue
    old = truth.get(name, (0, 0, 0))
    truth[name] = (old[0] + wall, old[1] + cpu, old[2] + life[tid][0])

def times(row):
    part = row["total_times"]
    return part["running_ns"], part["runnable_ns"], part["blocked_ns"], part["unknown_ns"]

rows = {}
key = "symbol" if sys.argv[3] == "functions" else "tid"
for row in json.load(open(sys.argv[2]))["events"][0]["rows"]:
    name = str(row["keys"][key] if "keys" in row else row[key])
    rows[name] = tuple(map(sum, zip(rows.get(name, (0, 0, 0, 0)), times(row))))

runnable = sum(row[1] for row in rows.values())

def verdict(good, text):
    print(("ok " if good else "not_ok ") + text)

if sys.argv[3] == "functions":
    for name, (wall, cpu, lives) in sorted(truth.items()):
        if name not in rows:
            verdict(False, name + " has a row")
            continue
        error = (sum(rows[name]) - wall) / lives
        # A part of the preemptions is sampled. Spread by CPU time, busy_hold had 0.2 too little. The exact
        # time in which all threads waited for a CPU, small on an idle machine, bounds what is spread wrongly.
        most = 0.15 if name in ("preempted", "spin_peer", "busy_hold", "bursts") else \
            0.05 + 0.3 * runnable / sum(wall for wall, cpu in life.values())
        verdict(abs(error) < most, "%s: %.1f ms, by its clocks %.1f" % (name, sum(rows[name]) / 1e6, wall / 1e6))
else:
    for tid, (wall, cpu) in sorted(life.items()):
        got = next((value for name, value in rows.items() if name.split()[-1] == tid or name == tid), None)
        if got is None:
            verdict(False, "thread has a row")
            continue
        # A thread's life begins before its first and ends after its last reading of the clocks. States are
        # unknown only where records were lost.
        more = sum(got) - wall
        verdict(-0.001 * wall < more < 0.02 * wall + 2e7 and (got[3] == 0 or sys.argv[4] != "0"),
                "the states of a thread are its life: %.1f ms, %.1f" % (sum(got) / 1e6, wall / 1e6))
        verdict(abs(got[0] - cpu) < 0.03 * wall + got[3], "its CPU time: %.1f ms, %.1f" % (got[0] / 1e6, cpu / 1e6))
END

# truth NAME KINDS ARGUMENTS [COMMAND-PREFIX...]: ARGUMENTS are those of waits.
truth() {
	name=$1 kinds=$2 arguments=$3
	shift 3
	# shellcheck disable=SC2086 # arguments are words
	if ! "$@" "$SPROF" record --off-cpu -o "$tmp/dir/data" --no-summary -- "$workload/waits" $arguments \
		>"$tmp/truth" 2>"$tmp/err"; then
		not_ok "$name: recording" "$(cat "$tmp/err")"
		return
	fi
	comment "$name: $(grep 'stacks of waiting' "$tmp/err")"
	lost=$("$SPROF" info -i "$tmp/dir/data" | awk '$2 == "LOST" { n += $1 } END { print n + 0 }')
	for kind in $kinds; do
		key=symbol
		[ "$kind" = functions ] || key=tid
		if ! "$SPROF" report -i "$tmp/dir/data" --mode wall --all-threads -s "$key" --format json \
			>"$tmp/json" 2>"$tmp/err"; then
			not_ok "$name: reporting" "$(cat "$tmp/err")"
			continue
		fi
		python3 "$tmp/compare.py" "$tmp/truth" "$tmp/json" "$kind" "$lost" >"$tmp/verdicts" 2>&1
		while read -r verdict text; do
			case $verdict in
			ok | not_ok) $verdict "$name: $text" ;;
			*) not_ok "$name: $verdict $text" ;;
			esac
		done <"$tmp/verdicts"
	done
	rm -f "$tmp/dir/data"
}

# all_truths NAME KINDS [COMMAND-PREFIX...]
all_truths() {
	title=$1 wanted=$2
	shift 2
	case $wanted in
	*functions*)
		for groups in "sleep epoll" lock pipe cond; do
			noisy truth "$title, $groups" functions "1 $groups" "$@"
		done
		noisy truth "$title, spin" functions "4 spin" "$@"
		# More than 10,000 switches a second: snapshots alone were wrong by 10 % of a life and more.
		noisy truth "$title, many switches" functions "4 sleep lock pipe fsync cond epoll" "$@"
		;;
	esac
	noisy truth "$title" threads 2 "$@"
}

mkdir "$tmp/dir"
chmod 777 "$tmp/dir"
user=
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$tmp"
	command -v setpriv >/dev/null && publish_programs && $nobody "$workload/probe" >/dev/null 2>&1 && user=yes
	export TMPDIR="$tmp/dir"
	all_truths "root" "functions threads" env
elif [ "$paranoid" -le 1 ]; then
	all_truths "user, paranoid $paranoid" "functions threads" env
fi
if [ "$user" ]; then
	for level in 1 2; do
		if [ "$paranoid" != $level ] && [ "${SPROF_INVASIVE-}" != 1 ]; then
			skip "user, paranoid $level" "needs SPROF_INVASIVE=1, which may set it"
			continue
		fi
		if [ "$paranoid" != $level ]; then
			trap 'echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid; rm -rf "$tmp"' EXIT
			echo $level >/proc/sys/kernel/perf_event_paranoid
		fi
		kinds=threads
		[ $level = 2 ] || kinds="functions threads"
		all_truths "user, paranoid $level" "$kinds" $nobody
		[ "$paranoid" = $level ] || echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
	done
else
	skip "an ordinary user" "needs root and setpriv"
fi

# Latency: the shares of a serial and of a parallel part are those of elapsed time.
latency() {
	"$SPROF" record -q --off-cpu -o "$tmp/data" -- "$workload/serial_parallel" 0.3 0.3 >"$tmp/truth" \
		2>"$tmp/err"
	"$SPROF" report -i "$tmp/data" --mode latency -s symbol --format csv >"$tmp/csv" 2>"$tmp/err"
	check "latency: the serial part's share is that of elapsed time" awk -F '[ ,]' '
	NR == FNR { wall[$1] = $2; next }
	{ gsub(/"/, "") }
	FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	$column["symbol"] == "serial_work" { got = $column["total"] }
	END {
		wanted = wall["serial_work"] / (wall["serial_work"] + wall["parallel_work"])
		print got, wanted
		exit !(got - wanted < 0.03 && wanted - got < 0.03)
	}' "$tmp/truth" "$tmp/csv"
}
noisy latency
finish

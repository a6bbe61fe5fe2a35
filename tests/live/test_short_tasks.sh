#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Short tasks, recorded by events of tasks: context switches give the CPU time that their samples lack.
# The truth is the kernel's count for the shell and its children (times), and samples of whole CPUs.
. "$top_srcdir/tests/tap.sh"
need_sampling
[ "$(id -u)" = 0 ] && command -v setpriv >"$tmp/out" || skip_all "needs root and setpriv"
# Its times have ms.
command -v bash >"$tmp/out" || skip_all "needs bash"
mkdir "$tmp/work"
work=$tmp/work
user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --"
chmod 755 "$tmp"

cat >"$work/commands" <<'END'
i=0
while [ $i -lt 400 ]; do
	ls /usr/bin >"$1/out"
	i=$((i + 1))
done
END

cat >"$work/build" <<'END'
cd "$1" && make -s -j2 -B
END
{
	printf 'all:'
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		printf '#include <stdio.h>\nint f%d(char *b) { return printf("%%s", b); }\n' $i \
			>"$work/f$i.c"
		printf ' f%d.o' $i
	done
	printf '\n%%.o: %%.c\n\t@echo CC $< | sed s/CC/cc/ >$@.log; cc -O2 -c -o $@ $<\n'
} >"$work/Makefile"

cat >"$work/configure" <<'END'
cd "$1" || exit
for header in stdio stdlib string unistd fcntl errno sys/types sys/stat signal time math limits; do
	echo "#include <$header.h>" >conftest.c
	cc -E conftest.c >conftest.out 2>conftest.err && found=yes || found=no
	name=$(echo "$header" | sed 'y%/.%__%')
	grep -q "$name" conftest.out
	echo "HAVE_$name $found" | tr a-z A-Z >>config.h
	rm -f conftest.c conftest.out conftest.err
	for word in a b c d e f; do
		value=$(basename /x/$word | sed s/a/b/)
	done
done
END

# cpu_times: user and system time of the shell and its children, in s.
cpu_times() {
	tr 'm\n' '  ' <"$work/times" | tr -d 's' | awk '{ for (i = 1; i < 8; i += 2) s += 60 * $i + $(i + 1) } END { print s }'
}

# weigh FILE: "CPU_TIME SHARE LOW HIGH", the last three of the shell.
weigh() {
	"$SPROF" report -i "$1" --mode cpu -s comm --percent-limit 0 --format csv 2>"$tmp/err" | tr -d '"' |
		awk -F , '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			"event" in column && $column["event"] !~ /^cpu-clock/ { next }
			{ all += $column["self_weight"] }
			$column["comm"] ~ /^(sh|dash|bash)$/ {
				share += $column["self"]
				low += $column["self_low"]
				high += $column["self_high"]
			}
			END { print all / 1e9, share, low, high }'
}

# record JOB AS OPTION...: records the job into $work/data, as root (AS is empty) or as a user.
record() {
	job=$1 as=$2
	shift 2
	rm -f "$work/data" "$work/times" "$work/config.h"
	chmod -R 777 "$work"
	$as "$SPROF" record -q -e cpu-clock -o "$work/data" "$@" -- \
		bash -c '. "$1/$2"; times >"$1/times"' bash "$work" "$job" >"$tmp/out" 2>"$tmp/said"
}

# whole_time JOB TITLE AS OPTION...: the CPU time is the kernel's, and the shell has its share.
whole_time() {
	job=$1 title=$2 as=$3
	shift 3
	record "$job" "" --scope cpu
	set -- "$(weigh "$work/data")" "$@"
	cpus=$1
	shift
	record "$job" "$as" "$@"
	found="$(weigh "$work/data") $(cpu_times) $cpus"
	comment "$job $title: $found"
	check "$job $title: CPU time is user and system time" awk -v found="$found" 'BEGIN {
		split(found, v, " "); exit !(v[5] && v[1] > 0.97 * v[5] && v[1] < 1.03 * v[5]) }' </dev/null
	# Events of tasks make each fork of the shell dearer.
	check "$job $title: the shell has its share" awk -v found="$found" 'BEGIN {
		split(found, v, " "); exit !(v[4] > v[8] && v[3] < v[9] + 0.05) }' </dev/null
}

# Numbers of an event in JSON: its weight, and the weight that is missing.
number_of() {
	"$SPROF" report -i "$work/data" -e cpu-clock -s comm --format json 2>"$tmp/err" |
		sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}$/\1/p" | head -n 1
}

# bounds JOB: without context switches, what is missing is half a period for each fork and exec at most, or
# the rest of the time that the kernel counted for the command. The shell's share and the CPU time are
# within that.
bounds() {
	job=$1
	record "$job" "" --scope cpu
	cpus=$(weigh "$work/data")
	record "$job" "" --scope task --no-switch-events -F 1000
	found="$(weigh "$work/data") $(cpu_times) $cpus $(number_of missing_weight)"
	parts=$("$SPROF" script -i "$work/data" --show-task-events -F event,comm 2>"$tmp/err" |
		grep -c 'PERF_RECORD_FORK\|PERF_RECORD_COMM exec')
	comment "$job without context switches: $found, $parts forks and execs"
	check "$job without context switches: the CPU time is within what is missing" awk -v found="$found" \
		-v parts="$parts" 'BEGIN {
			split(found, v, " ")
			missing = v[10] / 1e9
			most = 1.005e-3 * parts / 2
			if (most < 1.02 * v[5] - v[1]) most = 1.02 * v[5] - v[1]
			exit !(v[1] < 1.03 * v[5] && v[1] + missing > 0.995 * v[5] && missing <= most)
		}' </dev/null
	check "$job without context switches: the shell has its share" awk -v found="$found" 'BEGIN {
		split(found, v, " "); exit !(v[3] < v[7] && v[4] > v[7]) }' </dev/null
	"$SPROF" report -i "$work/data" -s comm >"$tmp/text" 2>"$tmp/err"
	check "$job without context switches: no line says that none is lost" sh -c \
		'! grep -q "none lost" "$1"' sh "$tmp/text"
	tr -s '\n ' '  ' <"$tmp/text" >"$tmp/line"
	check "$job without context switches: the remedy is to record them" grep -q \
		'of the total is missing .* record context switches (--switch-events)' "$tmp/line"
}

for job in commands build configure; do
	if [ $job != commands ] && ! { command -v make && command -v cc; } >"$tmp/out"; then
		skip "$job" "needs make and cc"
		continue
	fi
	noisy whole_time $job "of root" "" --scope task
	noisy whole_time $job "of root, with waits" "" --scope task --off-cpu
	# A user who may sample CPUs has another default.
	noisy whole_time $job "of a user" "$user" --scope task
	noisy whole_time $job "of a user, with waits" "$user" --scope task --off-cpu
done
noisy bounds commands

# All threads of this program do the same, so that their samples are at the same places, and no
# sample shows where the work changes: the intervals have room for that, and the report says why.
# The kernel's time for threads, interrupts and clocks is left out: a third for a user with slow page faults.
# early_row: "SHARE LOW HIGH" of early_part() in the time of both parts.
early_row() {
	"$SPROF" report -i "$work/data" --no-children -s symbol --percent-limit 0 --format csv \
		2>"$tmp/err" | tr -d '"' | awk -F , '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			$column["symbol"] ~ /^(early|late)_part$/ { both += $column["self"] }
			$column["symbol"] == "early_part" {
				share = $column["self"]
				low = $column["self_low"]
				high = $column["self_high"]
			}
			END { if (share) print share / both, low / both, high / both }'
}
brief() {
	us=$1 as=$2
	shift 2
	rm -f "$work/data"
	chmod 777 "$work"
	$as "$SPROF" record -q -e cpu-clock --scope task --call-graph none "$@" -o "$work/data" -- \
		"$workload/brief" 500 "$us" >"$work/truth" 2>"$tmp/said"
	found="$(cut -d ' ' -f 2 "$work/truth") $(early_row)"
	comment "threads of $us us $*: $found"
	check "threads of $us us $*: the interval has the function's share" awk -v found="$found" 'BEGIN {
		n = split(found, v, " "); exit !(n == 4 && v[3] <= v[1] && v[1] <= v[4]) }' </dev/null
	"$SPROF" report -i "$work/data" >"$tmp/text" 2>"$tmp/err"
	tr -s '\n ' '  ' <"$tmp/text" >"$tmp/line"
}
for us in 1600 2600; do
	noisy brief $us "$user"
	check "threads of $us us: the report says that rows may change" grep -q \
		'of the total may belong to other rows' "$tmp/line"
	noisy brief $us "" --no-switch-events
done
# The remedies: a higher rate and whole CPUs.
noisy brief 2600 "$user" -F 20000
check "at a higher rate, it does not" sh -c '! grep -q "may belong to other rows" "$1"' sh "$tmp/line"

# All views have the weights of the text.
record commands "" --scope task
"$SPROF" report -i "$work/data" --format folded >"$tmp/folded" 2>"$tmp/err"
number_of weight >"$tmp/weight"
awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/folded" >"$tmp/sum"
same "folded stacks sum to the CPU time" "$tmp/weight" "$tmp/sum"
"$SPROF" report -i "$work/data" --format speedscope 2>"$tmp/err" |
	tr -d ' \n' | grep -o '"weights":\[[^]]*' | tr -c '0-9\n' '\n' |
	awk 'NF { sum += $1 } END { printf "%.0f\n", sum }' >"$tmp/sum"
same "so does speedscope" "$tmp/weight" "$tmp/sum"
"$SPROF" report -i "$work/data" -s comm --format csv 2>"$tmp/err" | tr -d '"' | awk -F , '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ sum += $column["self_weight"] } END { printf "%.0f\n", sum }' >"$tmp/sum"
same "so do the rows" "$tmp/weight" "$tmp/sum"

# More than 10,000 switches a second are not recorded by default: notes say since when.
record_pairs() {
	"$SPROF" record -q --scope task "$@" -o "$work/data" -- "$workload/ping_pong" 100000 \
		>"$tmp/out" 2>"$tmp/said"
	"$SPROF" info -i "$work/data" >"$tmp/info" 2>"$tmp/err"
	awk '$2 == "SWITCH" { print $1 }' "$tmp/info"
}
limited() {
	few=$(record_pairs)
	check "many context switches are not recorded by default ($few records)" \
		test "${few:-0}" -lt 40000
	check "a note says so" grep -q 'context switches were not recorded from here' "$tmp/info"
	"$SPROF" report -i "$work/data" --threads --format csv >"$tmp/threads" 2>"$tmp/err"
	check "states are unknown from there" grep -q '\[unknown state\]' "$tmp/threads"
}
noisy limited
all=$(record_pairs --switch-events)
check "--switch-events records all ($all records)" test "${all:-0}" -gt 200000
none=$(record_pairs --no-switch-events)
check "--no-switch-events records none" test "${none:-0}" -eq 0
finish

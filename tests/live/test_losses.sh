#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More samples than can be kept: what is recorded and what is said to be lost make up all.
. "$top_srcdir/tests/tap.sh"
need_sampling
busy=$workload/busy

hz=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
[ "$hz" -gt 20000 ] && hz=20000
"$SPROF" record -q -F "$hz" --call-graph dwarf -o "$tmp/data" true 2>"$tmp/err" ||
	skip_all "$(tail -n 1 "$tmp/err")"

# Prints that number of the first event of the recording.
of() {
	"$SPROF" info -i "$tmp/data" --format json | tr -d ' \n' | sed 's/.*"events":\[{//; s/}.*//' |
		tr ',' '\n' | sed -n "s/\"$1\"://p"
}

# Prints the samples of a run without copies, in parts of its CPU time: late timers skip their ticks.
ticks() {
	"$SPROF" record -q --no-adapt -F "$hz" -m 1M --call-graph none -o "$tmp/data" -- \
		"$busy" 8 0.2 >"$tmp/out" 2>"$tmp/err"
	awk -v all=$(($(of samples) + $(of lost))) -v s="$(sed -n 's/^cpu //p' "$tmp/err")" -v hz="$hz" \
		'BEGIN { print all / (s * hz) }'
}

# The highest rate at which this machine's timer keeps its pace, and its part of the ticks.
pace() {
	for hz in $hz 10000 5000; do
		part=$(ticks)
		comment "$hz Hz: $part of the ticks"
		[ "$(echo "$part" | awk '{ print ($1 > 0.99) }')" = 0 ] || break
	done
	# Copies of stacks make the timer's interrupts longer.
	[ "$hz" = 20000 ] || hz=$((hz / 2))
}

# adds_up NAME OPTION...: samples and losses are CPU time times rate. What a whole CPU loses is
# also others', so that it is no more than what is missing; an event of the tasks alone loses what
# is theirs. The event's timer counts the time that interrupts and the hypervisor take from a task,
# its CPU time does not: 4 to 8 % on a loaded virtual machine. The command does not count its own
# start and end. Dithered periods and the ends of threads change a count by less than its root.
# A suspended virtual machine misses its samples: each run may fail.
adds_up() {
	name=$1
	shift
	"$SPROF" record --no-adapt -F "$hz" -m 32 --call-graph dwarf,8192,fixed "$@" -o "$tmp/data" -- \
		"$busy" 8 0.4 >"$tmp/out" 2>"$tmp/err" || {
		not_ok "$name" "$(cat "$tmp/err")"
		return
	}
	samples=$(of samples) lost=$(of lost)
	cpu=$(sed -n 's/^cpu //p' "$tmp/err")
	comment "$name: $samples samples, $lost lost, $cpu s: $(awk -v s="$samples" -v l="$lost" -v c="$cpu" \
		-v hz="$hz" 'BEGIN { printf "%.2f %% and %.2f %%", 100 * s / (c * hz), 100 * (s + l) / (c * hz) }')"
	case " $*" in
	*" task"*) most=$((samples + lost)) ;;
	*) most=$samples ;;
	esac
	check "$name" awk -v most="$most" -v all=$((samples + lost)) -v full="$cpu" -v hz="$hz" \
		-v part="$part" 'BEGIN {
			full *= hz
			least = 0.98 * full * (part < 1 ? part : 1)
			exit !(all >= least - sqrt(full) && most <= 1.1 * full + sqrt(full))
		}'
}

most_hz=$hz part=1
[ "$hz" = 20000 ] && pace
# Without rights the kernel is left out of it, which has its part of the CPU time.
if [ "$(id -u)" = 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
	noisy adds_up "an overload adds up" --unwind live
	noisy adds_up "so it does where copies are kept" --unwind later
	noisy adds_up "and where one thread does all" --threads=none
	noisy adds_up "and of tasks alone" --scope task
else
	skip "an overload adds up" "the kernel cannot be sampled"
fi

# A recorder that stands still for a while loses what rings have no room for. LOST records, which
# come when there is room again, and the kernel's count of each event, read at the end, say the same.
stopped() {
	rm -f "$tmp/began"
	"$SPROF" record --no-adapt -F 4999 --scope task --call-graph fp -m 4 -o "$tmp/data" -- \
		sh -c ': >"$1"; exec "$2" 4 0.5' sh "$tmp/began" "$busy" >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	until [ -e "$tmp/began" ] || ! kill -0 $recorder; do sleep 0.05; done
	sleep 0.1
	kill -STOP $recorder
	sleep 0.1
	kill -CONT $recorder
	wait $recorder
	"$SPROF" info -i "$tmp/data" --losses --format json >"$tmp/json"
	untold=$(sed -n 's/^.*"untold": \(-\{0,1\}[0-9]*\).*/\1/p' "$tmp/json")
	comment "$(of samples) samples, $(of lost) lost, $untold of them without a LOST record"
	# The last ones have none if nothing comes after them.
	if ! grep -q '"LOST_SAMPLES"' "$tmp/json"; then
		skip "LOST records add up to what the kernel counted" "this kernel does not count"
	else
		check "LOST records add up to what the kernel counted" \
			test "$(of lost)" -gt 20 -a "$untold" = 0
	fi
	check "they are all of one time" awk '
	/"cpu":/ { next }
	/"slices": \[\{/ {
		for (n = split($0, slices, "at_ns"); n > 1; n--) {
			sub(/.*"lost": /, "", slices[n])
			all++
			with += slices[n] + 0 > 0
		}
		print with " of " all " times"
		exit !(with > 0 && with < all / 2)
	}' "$tmp/json"
}
noisy stopped

# A recorder of CPUs that others keep busy is killed. Its idle target lost next to nothing.
killed() {
	"$busy" 2 2 >"$tmp/out" 2>&1 &
	others=$!
	"$SPROF" record --no-adapt -F 4999 --scope cpu --call-graph fp -m 4 -o "$tmp/data" -- \
		sleep 5 >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	sleep 0.4
	kill -STOP $recorder
	sleep 0.2
	kill -CONT $recorder
	sleep 0.6
	kill -KILL $recorder $others
	wait $recorder $others 2>"$tmp/out"
	comment "$(of samples) samples, $(of lost) lost, $(of lost_own) of them of the target"
	check "a killed recorder has noted whose losses they were" \
		test "$(of lost)" -gt 20 -a $(($(of lost_own) * 4)) -lt "$(of lost)" -a -z "$(of lost_unknown)"
}
if "$SPROF" record -q --scope cpu -o "$tmp/data" true 2>"$tmp/err"; then
	noisy killed
else
	skip "a killed recorder has noted whose losses they were" "$(tail -n 1 "$tmp/err")"
fi

# The end of record and the report propose one size of ring buffers.
one_size() { # NAME OPTION...
	name=$1
	shift
	"$SPROF" record --no-adapt -F 4999 --scope task "$@" -o "$tmp/data" -- \
		"$busy" 4 0.3 >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	sleep 0.15
	kill -STOP $recorder
	sleep 0.1
	kill -CONT $recorder
	wait $recorder
	sed -n 's/.*lost: use larger ring buffers: \(-m [0-9]*M\)$/\1/p' "$tmp/err" >"$tmp/at_end"
	"$SPROF" report -i "$tmp/data" --format json | tr '{' '\n' |
		sed -n 's/.*larger ring buffers: \(-m [0-9]*M\)".*"cause": "lost".*/\1/p' \
			>"$tmp/in_report"
	comment "$(tail -n 2 "$tmp/err")"
	check "one larger size, $name ($(cat "$tmp/at_end"))" test -s "$tmp/at_end"
	same "record and report propose it" "$tmp/at_end" "$tmp/in_report"
}
noisy one_size "call chains" --call-graph fp -m 4
noisy one_size "copies of stacks" --call-graph dwarf,8192,fixed -m 32
noisy one_size "copies in the file" --call-graph dwarf,8192,fixed --unwind later -m 32

# A recorder that is always late reduces the rate with larger periods, and notes it.
hz=$most_hz
late() {
	"$SPROF" record "$@" $rate --scope task --call-graph fp -m 1 -o "$tmp/data" -- \
		"$busy" 4 1.8 >"$tmp/out" 2>"$tmp/err" &
	recorder=$!
	for turn in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.03
		kill -STOP $recorder
		sleep 0.12
		kill -CONT $recorder
	done
	wait $recorder
	"$SPROF" script -i "$tmp/data" -F period 2>/dev/null | tr -d ' ' | sort -n | uniq -c |
		awk '$1 > 10 { printf "%s ", $2 }' >"$tmp/periods"
}
lower_rate() {
	rate="-F $hz"
	late
	says "the rate is lowered, and said to be" 'of samples were lost: now sampling at [0-9]* Hz instead of'
	printf '%d %d ' $((1000000000 / hz)) $((1000000000 / (hz / 4))) >"$tmp/wanted"
	same "each sample says what it stands for" "$tmp/wanted" "$tmp/periods"
	"$SPROF" info -i "$tmp/data" >"$tmp/info"
	check "the change is in the file, with its time" \
		grep -q 'now sampling at [0-9]* Hz.*(at +[0-9.]* s)' "$tmp/info"
}
noisy lower_rate
longer_period() {
	rate="-c $((1000000000 / hz))"
	late
	says "so is it with a fixed period" \
		"of samples were lost: now sampling every $((4 * (1000000000 / hz))) events"
	printf '%d %d ' $((1000000000 / hz)) $((4 * (1000000000 / hz))) >"$tmp/wanted"
	same "of which each sample says how many it stands for" "$tmp/wanted" "$tmp/periods"
}
noisy longer_period
rate="-F $hz"
late --no-adapt
printf '%d ' $((1000000000 / hz)) >"$tmp/wanted"
same "--no-adapt keeps the rate" "$tmp/wanted" "$tmp/periods"

# Per-task events sample none of 100 processes of 2 ms each at 99 Hz: the missing time is the CPU
# time that they used, not a period of each.
never_sampled() {
	"$SPROF" record --scope task --no-switch-events -e cpu-clock:u -F 99 -o "$tmp/data" -- \
		"$workload/forks" 100 2 >"$tmp/out" 2>"$tmp/err"
	missing=$(sed -n 's/.*up to \([0-9.]*\) s CPU time of 100 .*/\1/p' "$tmp/err")
	used=$(awk '{ sum += $2 } END { print sum / 1e9 }' "$tmp/out")
	check "CPU time that was never sampled is what was used" awk -v missing="$missing" -v used="$used" '
		BEGIN { print missing " of " used " s"; exit !(missing > 0.6 * used && missing < 1.6 * used) }'
}
noisy never_sampled

# The same with each kind of drain: no duplicate, nothing missing.
drained() { # HOW
	"$SPROF" record -q -F 997 "--threads=$1" --call-graph fp -o "$tmp/data" -- \
		"$busy" 2 0.2 >"$tmp/out" 2>"$tmp/err"
	cpu=$(sed -n 's/^cpu //p' "$tmp/err")
	check "drained by: $1" awk -v s="$(of samples)" -v l="$(of lost)" -v c="$cpu" 'BEGIN {
		print s " samples and " l " lost of " c " s"
		exit !(l == 0 && s > 0.85 * c * 997 - 10 && s < 1.6 * c * 997 + 40) }'
}
for how in cpu core package numa 1 none auto; do
	noisy drained $how
done

finish

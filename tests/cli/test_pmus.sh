#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Events of hybrid CPUs: cpu_core/cycles/ and cpu_atom/cycles/ are one event, "cycles". In each view,
# the recording of both equals a recording of the same samples by one event.
. "$top_srcdir/tests/cli/lib.sh"
export SPROF

cd "$tmp" || exit 99

# records ATOM CORE: two programs. One ran on both kinds of CPU, the other only on cpu_core's. The
# arguments are the numbers of the events.
records() {
	cat <<END
comm 1 1 main
comm 2 2 other
mmap 1 0x400000 0x1000 0 /nowhere/main
mmap 2 0x400000 0x1000 0 /nowhere/other
END
	i=0
	while [ $i -lt 60 ]; do
		i=$((i + 1))
		event=$2 cpu=1 period=1000
		if [ $((i % 3)) = 0 ]; then
			event=$1 cpu=5 period=700
		fi
		pid=$((1 + (i % 4 == 1)))
		[ $pid = 2 ] && event=$2 cpu=2
		ip=$((0x400010 + i % 5 * 16))
		echo "sample $event $pid $pid $cpu $((i * 1000000)) $period $ip $ip 0x400100"
	done
	for i in 1 5 21 33; do
		echo "switch 1 1 1 $((i * 1000000 - 1000)) in"
		echo "switch 1 1 1 $((i * 1000000 + 2000000)) out"
	done
	cat <<END
full $2 7 30000000 1
full $1 2 31000000 5
throttle $1 40000000
unthrottle $1 40500000
throttle $2 41000000
unthrottle $2 41700000
END
}

sum='cycles:u (cpu_core + cpu_atom)'
mkdir one
{
	echo 'event cpu_atom/cycles/u chain'
	echo 'event cpu_core/cycles/u chain'
	records 0 1
} | recording both
{
	echo 'event cycles chain user'
	echo 'rename cycles:u\x20(cpu_core\x20+\x20cpu_atom)'
	records 0 0
} | recording one/both

equal() {
	equal_name=$1
	shift
	"$@" 2>both.err | grep -v '"added_up"' >both.out
	(cd one && "$@") 2>one.err >one.out
	[ -s one.out ] || echo "nothing" >>both.out
	cat one.err >>one.out
	cat both.err >>both.out
	same "$equal_name: as by one event" one.out both.out
}
equal text "$SPROF" report -i both
equal "call tree" "$SPROF" report -i both --call-graph caller
for format in json csv folded callgrind speedscope firefox html; do
	equal $format "$SPROF" report -i both --format $format
done
equal "wall time" "$SPROF" report -i both --mode wall -s comm,state,symbol
equal "wall time of -e" "$SPROF" report -i both --mode wall -e 'cycles*'
equal threads "$SPROF" report -i both -s comm,tid,cpu
equal "two recordings" "$SPROF" report both both
equal "a time span" "$SPROF" report -i both --time +0.01,+0.03
equal pprof sh -c '"$SPROF" report -i both --format pprof | gzip -dc | cksum' sh
equal findings sh -c '"$SPROF" info -i both --findings | sed -n "/^Findings/,\$p"' sh

"$SPROF" report -i both >text
check "the head names the PMUs" grep -q "^60 samples of $sum, 54,000 events" text
check "JSON names the parts" sh -c '"$1" report -i both --format json |
	tr -d "\n " |
	grep -q "\"added_up\":..cpu_core/cycles/u\",\"cpu_atom/cycles/u\".,"' sh "$SPROF"
"$SPROF" info -i both >info
check "the file's events are apart" sh -c 'grep -q " 15 .*cpu_atom/cycles/u" info &&
	grep -q " 45 .*cpu_core/cycles/u" info'
check "the header has the file's events" sh -c '"$1" report -i both --header |
	grep -c "^# event : name = cpu_.*/cycles/u" | grep -qx 2' sh "$SPROF"

heads() {
	"$SPROF" report -i both "$@" 2>/dev/null | grep -o '^[0-9,]* samples of [^,]*'
}
prints "--per-pmu keeps them apart" heads --per-pmu <<'END'
15 samples of cpu_atom/cycles/u
45 samples of cpu_core/cycles/u
END
prints "-e selects one of them" heads -e cpu_core/cycles/u <<'END'
45 samples of cpu_core/cycles/u
END
for pattern in '*cycles*' 'cpu_*/cycles/u' cycles:u "$sum" cpu_atom/cycles/u,cpu_core/cycles/u; do
	prints "-e $pattern selects both" heads -e "$pattern" <<END
60 samples of $sum
END
done
prints "-e '*atom*'" heads -e '*atom*' <<'END'
15 samples of cpu_atom/cycles/u
END
fails "a pattern that matches no event" 1 "$SPROF" report -i both -e '*clock*' <<'END'
sprof: both has no event '*clock*'; 'sprof info -i both' lists its events
END
fails "in no recording" 1 "$SPROF" report both one/both -e '*clock*' <<'END'
sprof: no recording has an event '*clock*'; 'sprof info -i FILE' lists a recording's events
END
lines() {
	"$SPROF" script -i both -F event "$@" 2>/dev/null | sort | uniq -c | sed 's/^ *//; s/: *$//'
}
prints "script: patterns of events" lines -e '*cycles*' <<'END'
15 cpu_atom/cycles/u
45 cpu_core/cycles/u
END
prints "script: one of them" lines -e 'cpu_at*' <<'END'
15 cpu_atom/cycles/u
END

# Outputs with one event have that with the most samples.
samples() {
	"$SPROF" report "$@" 2>err | awk '{ sum += $NF } END { print sum }'
	sed 's/^/(stderr) /' err
}
prints "folded has the heaviest" samples -i both --per-pmu --format folded <<'END'
45
(stderr) sprof: format folded has one event: cpu_core/cycles/u (--events chooses another)
END

# An event of a kind of CPU on which nothing ran.
{
	echo 'event cpu_atom/cycles/u'
	echo 'event cpu_core/cycles/u'
	records 1 1 | grep -v 'full\|throttle' | sed 's/^\(sample.*\) 0x400100$/\1/; s/ [0-9]*$//'
} | recording idle
check "a kind of CPU without samples needs no remedy" sh -c \
	'"$1" report -i idle | grep -c "No samples\|Record for longer" | grep -qx 0' sh "$SPROF"
"$SPROF" report --per-pmu -i idle | sed -n '/^no samples/,/^$/p' >apart
same "apart, it says why there are none" - apart <<'END'
no samples of cpu_atom/cycles/u
  No samples: the target did not run on the CPUs that count cpu_atom/cycles/u, or for less than one
  sampling period.
  -> 'sprof report -i idle' without -e and --per-pmu adds up all kinds of CPU.

END

# IPC is that of all CPUs, unless some of them lack one of the events.
group() {
	for event in "$@"; do
		echo "event $event counters"
	done
	cat <<'END'
comm 1 1 main
mmap 1 0x400000 0x1000 0 /nowhere/main
END
}
{
	group cpu_core/cycles/ cpu_core/instructions/ cpu_atom/cycles/ cpu_atom/instructions/
	cat <<'END'
with count 100 count 300 count 0 count 0
sample 0 1 1 0 100 100 0x400010
with count 300 count 900 count 0 count 0
sample 0 1 1 0 200 100 0x400010
with count 0 count 0 count 50 count 50
sample 2 1 1 1 100 100 0x400010
with count 0 count 0 count 250 count 250
sample 2 1 1 1 200 100 0x400010
END
} | recording group
"$SPROF" report --group --format json -i group >group.json
check "a ratio of the sums" sh -c 'tr -d "\n " <group.json |
	grep -q "\"name\":\"IPC\",\"value\":2\.0"' || tail -n 40 group.json >&2
{
	group cpu_core/cycles/ cpu_core/instructions/ cpu_atom/cycles/
	echo 'with count 100 count 300 count 0'
	echo 'sample 0 1 1 0 100 100 0x400010'
} | recording partly
check "no ratio of other CPUs' events" sh -c '"$1" report --group --format json -i partly |
	grep -c IPC | grep -qx 0' sh "$SPROF"

# A recording of an Intel laptop, and one of the corpus.
file=$SPROF_CORPUS/../recordings/hybrid-cpus.data
if [ -r "$file" ]; then
	"$SPROF" report -i "$file" --format folded 2>/dev/null |
		awk '{ sum += $NF } END { print sum }' >got
	echo 3203 >wanted
	same "a laptop's recording: all samples" wanted got
else
	skip "a laptop's recording: all samples" "no $file"
fi
file=$SPROF_CORPUS/quipper/perf.data.hybrid_topology
if [ -r "$file" ]; then
	"$SPROF" report -i "$file" 2>/dev/null | grep -o '^[0-9]* samples of [^,]*' >got
	echo '7 samples of cycles:ppp (cpu_core + cpu_atom)' >wanted
	same "Chromium's recording" wanted got
else
	skip "Chromium's recording" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
fi
finish

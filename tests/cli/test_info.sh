#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof info on recordings made to order: what it shows, as text and JSON, of what
# is whole and of what is damaged.
. "$top_srcdir/tests/cli/lib.sh"
tests=$(cd "$top_srcdir/tests/cli" && pwd)
cd "$tmp" || exit 99
export TZ=UTC

info() {
	"$SPROF" info "$@"
}

recording perf.data <<'END'
event cpu-clock
event page-faults
hostname testhost
osrelease 6.1.0-test
arch x86_64
cmdline ./demo --fast
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
fork 7 7 8 900000000
sample 0 7 7 0 1000000000 1000000 0x400010
sample 0 7 7 0 1001000000 1000000 0x400010
sample 1 7 7 1 1002500000 1 0x400010
lost 0 5
lost 0 2
throttle 0 1001500000
unthrottle 0 1001600000
END

prints "a recording is described" info <<'END'
perf.data: file, little-endian
  host       testhost
  kernel     6.1.0-test
  arch       x86_64
  command    ./demo --fast
  time       0.002500 s, from 1.000000 s to 1.002500 s of the recording's clock
  features   HOSTNAME OSRELEASE ARCH CMDLINE EVENT_DESC SAMPLE_TIME

Events
       samples        lost
             2           7  cpu-clock, 997 Hz
             1           0  page-faults, 997 Hz
  The kernel throttled events 1 time.

Records
             1  MMAP
             1  COMM
             1  THROTTLE
             1  UNTHROTTLE
             1  FORK
             3  SAMPLE
             2  LOST_SAMPLES
             2  EVENT_UPDATE
             4  HEADER_FEATURE
END

prints "JSON has what is promised" info --format json <<'END'
{
 "sprof": 1,
 "path": "perf.data",
 "byte_order": "little",
 "mode": "file",
 "compressed": false,
 "unfinished": false,
 "records": {
  "MMAP": 1,
  "COMM": 1,
  "THROTTLE": 1,
  "UNTHROTTLE": 1,
  "FORK": 1,
  "SAMPLE": 3,
  "LOST_SAMPLES": 2,
  "EVENT_UPDATE": 2,
  "HEADER_FEATURE": 4
 },
 "events": [
  {"name": "cpu-clock", "samples": 2, "lost": 7, "lost_own": 7, "freq_hz": 997},
  {"name": "page-faults", "samples": 1, "lost": 0, "lost_own": 0, "freq_hz": 997}
 ],
 "features": {
  "hostname": "testhost",
  "osrelease": "6.1.0-test",
  "arch": "x86_64",
  "cmdline": ["./demo", "--fast"],
  "present": ["HOSTNAME", "OSRELEASE", "ARCH", "CMDLINE", "EVENT_DESC", "SAMPLE_TIME"]
 },
 "time": {"first_ns": 1000000000, "last_ns": 1002500000},
 "throttled": 1,
 "notes": [],
 "damage": []
}
END

cp perf.data sprof.data
prints "sprof.data is taken before perf.data" sh -c '"$SPROF" info | head -n 1' <<'END'
sprof.data: file, little-endian
END
rm sprof.data
prints "-i - reads standard input" sh -c '"$SPROF" info -i - <perf.data | head -n 1' <<'END'
-: file, little-endian
END
prints "-i - reads a pipe" sh -c 'cat perf.data | "$SPROF" info -i - | grep -c "cpu-clock"' <<'END'
1
END

# A pipe's recording, and one that is damaged in its middle and at its end.
recording whole <<'END'
event cpu-clock
sample 0 7 7 0 1000000000 1000000 0x400010
sample 0 7 7 0 1001000000 1000000 0x400010
bytes 0900000002000000
sample 0 7 7 0 1002000000 1000000 0x400010
sample 0 7 7 0 1003000000 1000000 0x400010
sample 0 7 7 0 1004000000 1000000 0x400010
sample 0 7 7 0 1005000000 1000000 0x400010
END
"$SPROF" info -i whole >out
echo "status $?" >>out
sed -n 's/0x[0-9a-f]*/0xN/; /Events/,/Records/p; /^Damage/,$p' out >got
cat >wanted <<'END'
Events
       samples        lost
             6           0  cpu-clock, 997 Hz

Records
Damage
  offset 0xN: a record of 0 bytes (its header alone takes 8); 8 bytes are skipped (records between 1.001000 s and 1.002000 s are missing)
status 1
END
same "damage is shown, and is a status of 1" wanted got
"$SPROF" info -i whole --format json >out
[ $? = 1 ] && grep -q '{"offset": [0-9]*, "what": "a record of 0 bytes.*, "after_ns": 1001000000, "before_ns": 1002000000}' out &&
	ok "damage is in the JSON" || not_ok "damage is in the JSON" "$(cat out)"

# A record with a size that includes the next one, a mapping with the name of the code.
recording whole <<'END'
event cpu-clock
comm 7 7 demo
sample 0 7 7 0 1000000000 1000000 0x400010
mmap 7 0x400000 0x10000 0 /nowhere/demo
sample 0 7 7 0 1001000000 1000000 0x400010
sample 0 7 7 0 1002000000 1000000 0x400010
sample 0 7 7 0 1003000000 1000000 0x400010
sample 0 7 7 0 1004000000 1000000 0x400010
END
"$SPROF" script -D -i whole >dump 2>err
"$SPROF" script -q -i whole >wanted
"$SPROF" report -q -i whole | sed '/^whole/d' >wanted.report
for type in SAMPLE COMM; do
	at=$(sed -n "s/^[-0-9. ]*\(0x[0-9a-f]*\) \[0x[0-9a-f]*\]: PERF_RECORD_$type.*/\1/p" dump |
		head -n 1)
	cp whole swallowed
	printf '\001' | dd of=swallowed bs=1 seek=$((at + 7)) conv=notrunc 2>err
	"$SPROF" script -q -i swallowed >got 2>err
	same "a $type that swallows others: all are read" wanted got
	check "a $type: it is said" grep -q "a record ($type) has size" err
	"$SPROF" report -q -i swallowed 2>err | sed '/^swallowed/d' >got
	same "a $type: so is the mapping among them" wanted.report got
	"$SPROF" info -i swallowed >got
	check "a $type: info says so, and that nothing is missing" \
		grep -q "a record ($type) has size [0-9]*, but .* after the contents\$" got
done

# A file of a killed perf record: no data size, and no features. Each command reports that once,
# in the same words, with the time of the last record; it is damage.
number() { # FILE OFFSET
	od -A n -t d8 -j "$2" -N 8 "$1" | tr -d ' '
}
not_ended='the recording was not ended: its recorder was killed, or is still at work'
at_end="$not_ended; reading continues to the last complete record (records after 1.004000 s are missing)"
head -c $(($(number whole 40) + $(number whole 48))) whole >killed
dd if=/dev/zero of=killed bs=1 seek=48 count=8 conv=notrunc 2>err
for command in report script; do
	"$SPROF" $command --format json -i killed >out 2>err
	status=$?
	grep 'not ended' err >got
	echo "sprof: killed: offset 0x30: $at_end" >wanted
	same "$command: a killed recorder is said once" wanted got
	check "$command: and is a status of 1" test $status = 1
done
"$SPROF" report -i killed --format json >out 2>err
grep 'not ended\|is damaged' out >got
cat >wanted <<END
  {"kind": "damage", "text": "$not_ended; reading continues to the last complete record — last sample after 4 ms", "cause": "unfinished"},
END
sed -i 's/},*$//' wanted got
same "report: it is one finding, of damage" wanted got
"$SPROF" info -i killed >out 2>err
status=$?
grep 'not ended' out >got
echo "  offset 0x30: $at_end" >wanted
same "info: a killed recorder is said once" wanted got
check "info: and is a status of 1" test $status = 1
"$SPROF" info -i killed --format json >out 2>err
grep 'unfinished\|not ended' out >got
cat >wanted <<END
 "unfinished": true,
  {"offset": 48, "what": "$not_ended; reading continues to the last complete record", "after_ns": 1004000000}
END
same "info: and is in the JSON" wanted got

# A hole in it, where the COMM was, is another place.
cp killed holed
dd if=/dev/zero of=holed bs=1 seek=$((at)) count=8 conv=notrunc 2>err
"$SPROF" report -i holed --format json >out 2>err
grep -q '"kind": "damage", "text": "the recording was not ended' out &&
	grep -q 'is damaged in 1 place; .*skipped' out &&
	ok "a hole in it is a place by itself" || not_ok "a hole in it is a place by itself" "$(cat out)"

# Notes of the recorder.
recording noted <<'END'
event cpu-clock
note 0 cycles: no hardware counters; "cpu-clock" instead
sample 0 7 7 0 1000000000 1000000 0x400010
note 3500000000 records of\x1b[1m mappings were lost
END
prints "notes are shown, with their time" sh -c '"$SPROF" info -i noted | sed -n "/^Recorder notes/,\$p"' <<'END'
Recorder notes
  cycles: no hardware counters; "cpu-clock" instead
  records of?[1m mappings were lost (at +2.500 s)
END
prints "notes are in the JSON" sh -c '"$SPROF" info -i noted --format json | sed -n "/\"notes/,/]/p"' <<'END'
 "notes": [
  {"text": "cycles: no hardware counters; \"cpu-clock\" instead"},
  {"text": "records of\u001b[1m mappings were lost", "time_ns": 3500000000}
 ],
END

# A sentence is composed from kind and values, not from the text.
recording kinds <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
sample 0 7 7 0 1000000000 1000000 0x400010
note 2000000000 #3:120:249:997 an older sentence
note 0 #3:120 too few values
note 0 #30:17:1:2:3 too many
note 0 #4711:1 a later kind
END
prints "findings and notes are listed" "$SPROF" info -i kinds --findings <<'END'
Findings
  ! 100% of samples have no symbols (file not found): demo (/nowhere/demo: No such file or
    directory)
    -> use --symfs DIR with the recorded machine's files

Recorder notes
  12 % of samples were lost: now sampling at 249 Hz instead of 997 Hz (to keep the rate: larger -m, or --no-adapt) (at +1.000 s)
  too few values
  cannot read the memory maps of process 17: code it has already mapped will have no symbols
  a later kind
END
printf 'event cpu-clock\nnote 0 #4711:1 a later kind\n' | recording alone
prints "notes alone are no findings" "$SPROF" info -i alone --findings <<'END'
Findings
  none; the recorder's notes are below

Recorder notes
  a later kind
END
echo event cpu-clock | recording bare
prints "no findings" "$SPROF" info -i bare --findings <<'END'
Findings
  Nothing limits the data.
END
prints "findings and values of notes are in the JSON" sh -c '
	"$SPROF" info -i kinds --findings --format json | grep -e "^ \"findings" -e cause -e "\"kind\": [34]"' <<'END'
 "findings": [
  {"kind": "missing_file", "text": "100% of samples have no symbols (file not found): demo (/nowhere/demo: No such file or directory)", "remedy": "use --symfs DIR with the recorded machine's files", "samples": 1, "share": 1, "cause": "missing_file", "object": "demo"},
  {"kind": "note", "text": "12 % of samples were lost: now sampling at 249 Hz instead of 997 Hz (to keep the rate: larger -m, or --no-adapt) — after 1.00 s", "cause": "recorder"},
  {"kind": "note", "text": "too few values", "cause": "recorder"},
  {"kind": "note", "text": "cannot read the memory maps of process 17: code it has already mapped will have no symbols", "cause": "recorder"},
  {"kind": "note", "text": "a later kind", "cause": "recorder"}
  {"text": "12 % of samples were lost: now sampling at 249 Hz instead of 997 Hz (to keep the rate: larger -m, or --no-adapt)", "time_ns": 2000000000, "kind": 3, "values": [120, 249, 997]},
  {"text": "too few values", "kind": 3, "values": [120]},
  {"text": "cannot read the memory maps of process 17: code it has already mapped will have no symbols", "kind": 30, "values": [17, 1, 2, 3]},
  {"text": "a later kind", "kind": 4711, "values": [1]}
END

# The losses of info are those of report: LOST counts records of all kinds, the sum at the
# end samples, and what the hardware lost is in neither.
recording lossy <<'END'
event cpu-clock
event page-faults
sample 0 7 7 0 1000000000 1000000 0x400010
full 0 10 1000000500
full 1 3 1000000600
lost 1 2 1000000700
sample 1 7 7 0 1000500000 1000000 0x400010
END
{ sed '/^#/d' | recording summed; } <<'END'
event cpu-clock
event page-faults
sample 0 7 7 0 1000000000 1000000 0x400010
full 0 10 1000000500
full 1 3 1000000600
lost 1 2 1000000700
sample 1 7 7 0 1000500000 1000000 0x400010
lost 0 8
END
lost_of() {
	"$SPROF" info -i "$1" --format json | sed -n 's/.*"samples": 1, "lost": \([0-9]*\), .*/\1/p'
	"$SPROF" report -i "$1" --format json | sed -n 's/^   "lost": \([0-9]*\),$/\1/p'
}
lost_of lossy | tr '\n' ' ' >got
lost_of summed | tr '\n' ' ' >>got
printf '10 5 10 5 8 2 8 2 ' >wanted
same "losses are those of report, by each way in which they are told" wanted got

# Losses of other processes on the CPUs are not the target's, in any output.
recording shared <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
sample 0 7 7 0 1000000000 1000000 0x400010
lost 0 60
note 0 #44:60:15 about a quarter of them are the target's
END
{
	"$SPROF" info -i shared --format json | sed -n 's/.*"lost_own": \([0-9]*\).*/info \1/p'
	"$SPROF" info -i shared | sed -n 's/^ *1 *\([0-9]*\)  cpu-clock, 997 Hz$/info table \1/p'
	"$SPROF" report -i shared --format json | sed -n 's/^   "lost_own": \([0-9]*\),$/report \1/p'
	"$SPROF" report -i shared | grep -o 'about 15 of them'
	"$SPROF" report -i shared -o callgrind.shared && grep -o 'cpu-clock: .* samples lost' callgrind.shared
	"$SPROF" report -i shared -o shared.firefox.json &&
		grep -oE '"Lost samples", "format": "integer", "value": [0-9]*|"chartLabel": "[^"]*' \
			shared.firefox.json
	"$SPROF" report -i shared -o shared.speedscope.json &&
		grep -o '[0-9]* samples lost' shared.speedscope.json
	"$SPROF" script -i shared 2>&1 >out | grep -o '[0-9]* samples.* lost'
} >got 2>&1
cat >wanted <<'END'
info 15
info table 15
report 15
about 15 of them
cpu-clock: 1 samples, 15 samples lost
"chartLabel": "{marker.data.lost} samples lost across all processes on these CPUs
"Lost samples", "format": "integer", "value": 15
15 samples lost
15 samples were lost
END
same "losses of other processes are not the target's" wanted got
if command -v gzip >.which && command -v python3 >.which; then
	"$SPROF" report -i shared -o shared.pb.gz
	check "nor in pprof's comment" sh -c 'gzip -dc shared.pb.gz | grep -aq "1 samples, 15 samples lost"'
	"$SPROF" report -i shared -o shared.html
	"$SPROF" report -q -i shared -s dso,function --format json >shared.json
	check "nor in the page" env PYTHONDONTWRITEBYTECODE=1 python3 "$tests/html.py" shared.html shared.json
else
	skip "nor in pprof's comment, nor in the page" "needs gzip and python3"
fi

# Time and CPU of losses. Times have a step that divides the recording into 32, a power of two:
# the sample of 1.0005 s makes it 2^14 ns. Losses without a time are reported, too.
recording placed <<'END'
event cpu-clock
sample 0 7 7 0 1000000000 1000000 0x400010
sample 0 7 7 1 1000000100 1000000 0x400010
full 0 10 1000000500
throttle 0 1000100000
unthrottle 0 1000140000
sample 0 7 7 1 1000500000 1000000 0x400010
lost 0 15
END
"$SPROF" info -i placed --losses --format json | sed -n '/"losses"/,/"untold"/p' |
	sed 's/^ *//' >got
cat >wanted <<'END'
"losses": {
END
sed -n '1p' got >first
same "losses have a part of their own" wanted first
"$SPROF" info -i placed --losses | sed -n '/^Losses/,$p' >got.txt
check "losses are by CPU and time" grep -q '^ *all  *3  *10  *76.92%  *0.040 ms' got.txt
check "and what was not told of when is said" grep -q '^  5 more were lost' got.txt
sed -n '/"cpus"/,/]/s/.*"lost": \([0-9]*\), "throttled": {"count": 1, "ns": 40000}.*/\1/p' got |
	tr '\n' ' ' >sums
check "throttling is of a CPU" grep -q '^10 ' sums
check "times add up to all that was throttled" awk '
	/^ *[+][0-9.]+ s / { times++; throttled += $6 }
	END { print times " times, " throttled " ms"
	      exit !(times == 31 && throttled > 0.038 && throttled < 0.042) }' got.txt

# Names are bytes: they must not reach the terminal as they are.
recording names <<'END'
event cpu-clock
hostname e\x1b[31mvil
comm 7 7 demo
END
"$SPROF" info -i names | grep -q "$(printf '\033')" &&
	not_ok "control characters are not shown" || ok "control characters are not shown"

fails "what is absent is said" 1 "$SPROF" info -i absent <<'END'
sprof: cannot open absent: No such file or directory
       To make a recording: sprof record -o FILE -- COMMAND
END
echo "this is text" >text
fails "what is no recording is said" 1 "$SPROF" info -i text <<'END'
sprof: text: offset 0x0: not a perf.data file: it does not begin with PERFILE2
END
fails "an unknown format is a mistake" 129 "$SPROF" info --format xml <<'END'
sprof: --format: 'xml' is not text or json
       'sprof info --help' lists the options.
END
fails "two recordings are a mistake" 129 "$SPROF" info -i perf.data other.data <<'END'
sprof: more than one recording: 'perf.data' and 'other.data'
END

finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exports of reports of threads' time: each has the sums of --format json by state and stack, in ns.
. "$top_srcdir/tests/cli/lib.sh"
for tool in python3 gzip; do
	command -v $tool >"$tmp/.which" || skip_all "needs $tool"
done
tests=$(cd "$top_srcdir/tests/cli" && pwd)
. "$tests/waits_recording.sh"
cd "$tmp" || exit 99
export PYTHONDONTWRITEBYTECODE=1
stacks() { python3 "$tests/exports.py" "$@"; }
waits_recording

# The truth of the recording, by state.
"$SPROF" report -q -i waits --format json -g caller >json.json
stacks json json.json >want
sed -n 's/^\([0-9]*\) \(\[[^]]*\]\).*/\2 \1/p' want |
	awk '{ n = $NF; sub(/ [0-9]*$/, ""); sum[$0] += n } END { for (i in sum) print i, sum[i] }' | sort >got
cat >wanted <<'END'
[blocked: futex] 500000000
[blocked: sleep] 400000000
[blocked: unknown] 380000000
[on CPU] 1070000000
[waiting for CPU] 50000000
END
sort wanted -o wanted
same "JSON has the recording's times" wanted got

# same_stacks NAME KIND FILE [TYPE]: the file has the stacks of `want`, apart from the number of samples.
same_stacks() {
	stacks "$2" "$3" $4 | sed '$d' >got
	sed '$d' want >wanted
	same "$1" wanted got
}

for mode in wall off-cpu latency; do
	for options in "" "--all-threads" "--tid 7,8" "--time +0.1,+300ms" "--time 5%-34%,50%-70%"; do
		[ "$mode" != latency ] || [ "$options" != --all-threads ] || continue
		set -- -q -i waits --mode $mode $options
		"$SPROF" report "$@" --format json -g caller >json.json
		stacks json json.json >want
		check "$mode $options has stacks" test "$(wc -l <want)" -gt 2
		"$SPROF" report "$@" -o one.speedscope.json
		same_stacks "$mode $options: speedscope" speedscope one.speedscope.json
		"$SPROF" report "$@" --format folded >stacks.folded
		awk '{ sum += $NF } END { printf "%d\n", sum }' stacks.folded >got
		sed '$d' want | awk '{ sum += $1 } END { printf "%d\n", sum }' >wanted
		same "$mode $options: folded stacks have the sum" wanted got
		"$SPROF" report "$@" -o one.json.gz
		"$SPROF" report "$@" -s dso,function --format json >report.json
		check "$mode $options: Firefox has complete tables" python3 "$tests/firefox.py" structure one.json.gz
		check "$mode $options: Firefox has the weights" python3 "$tests/firefox.py" report one.json.gz report.json
		"$SPROF" report "$@" -o one.html
		check "$mode $options: the page has the report's data" \
			python3 "$tests/html.py" one.html report.json stacks.folded
		"$SPROF" report "$@" -o one.callgrind
		awk '/^fn=/ { self = 1; next } /^calls=/ { getline; next }
			/^[0-9+*-]/ && self { sum += $2 } END { printf "%d\n", sum }' one.callgrind >got
		same "$mode $options: callgrind has the sum" wanted got
		"$SPROF" report "$@" -o one.pb.gz
		"$SPROF" report "$@" -s comm,tid -o labels.pb.gz
		command -v go >.which || continue
		type=$mode
		for file in one labels; do
			go tool pprof -raw $file.pb.gz 2>messages | grep -v '^ *\(comm\|thread\|tid\):\[' >raw
			same_stacks "$mode $options: pprof, $file" pprof raw $type
		done
	done
done

# pprof has three types for wall time, and two of them are parts.
if command -v go >.which; then
	"$SPROF" report -q -i waits -o wall.pb.gz
	go tool pprof -raw wall.pb.gz >raw 2>messages
	check "pprof has the types cpu, wall and off-cpu" grep -q \
		"^cpu/nanoseconds wall/nanoseconds\[dflt\] off-cpu/nanoseconds" raw
	"$SPROF" report -q -i waits --format json -g caller >json.json
	stacks json json.json >all
	grep '^[0-9]* \[on CPU\]' all >want
	echo - >>want
	same_stacks "cpu is the time on a CPU" pprof raw cpu
	grep '^[0-9]* \[\(blocked\|waiting\)' all >want
	echo - >>want
	same_stacks "off-cpu is blocked and runnable time" pprof raw off-cpu
else
	skip "pprof has the types cpu, wall and off-cpu" "needs go"
fi

# Waits are at their times, in parts of 2 ms: main waits from 0.1 s to 0.6 s.
"$SPROF" report -q -i waits -o one.json.gz
python3 -c '
import collections, gzip, json
profile = json.load(gzip.open("one.json.gz"))
tables = profile["shared"]
names = [tables["stringArray"][i] for i in tables["funcTable"]["name"]]
categories = [one["name"] for one in profile["meta"]["categories"]]
for thread in profile["threads"]:
    samples, sums = thread["samples"], collections.Counter()
    for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"]):
        frame = tables["stackTable"]["frame"][stack]
        sums[categories[tables["frameTable"]["category"][frame]], int(time // 100)] += weight
    for (category, tenth), weight in sorted(sums.items()):
        if category != "User":
            print(thread["tid"], category, tenth, round(weight, -1))
' >got
cat >wanted <<'END'
7 Blocked 1 100.0
7 Blocked 2 100.0
7 Blocked 3 100.0
7 Blocked 4 100.0
7 Blocked 5 100.0
END
grep '^7 ' got >main
same "Firefox has a wait at its times" wanted main
check "a thread waits for a CPU" grep -q "^8 Waiting for CPU" got

# Lanes of the page have the states of threads, also of one without samples.
"$SPROF" report -q -i waits -o one.html
python3 "$tests/html.py" one.html states | sort >got
cat >wanted <<'END'
7 blocked 500.0
7 running 500.0
8 blocked 400.0
8 runnable 50.0
8 running 550.0
9 blocked 380.0
9 running 20.0
END
same "the page's lanes have the times of states" wanted got
"$SPROF" report -q -i waits --symbols nothing -o none.html 2>err
check "a filter that no sample passes makes an empty page" python3 "$tests/html.py" none.html
"$SPROF" report -q -i waits --mode cpu -o one.html
check "pages of samples have no states" sh -c '[ -z "$(python3 "$1" one.html states)" ]' sh "$tests/html.py"

# A clock with random rates: 2 samples in a have 0.7 ms, 2 in b 4.3 ms. Exports have times, not samples.
recording dithered <<'END'
event cpu-clock chain
comm 7 7 prog
mmap 7 0x10000 0x10000 0 //anon
note 0 #74:500:1500 clocks are dithered
sample 0 7 7 0 1000000000 300000 0x10110 0x10110 0x10010
sample 0 7 7 0 1000300000 400000 0x10110 0x10110 0x10010
sample 0 7 7 0 1002000000 2300000 0x10210 0x10210 0x10010
sample 0 7 7 0 1004000000 2000000 0x10210 0x10210 0x10010
END
set -- -q -i dithered
"$SPROF" report "$@" --format json -g caller | sed -n 's/^ *"weight": \([0-9]*\),$/\1/p' >wanted
check "the report has their sum" test "$(cat wanted)" = 5000000
"$SPROF" report "$@" --format folded | awk '{ sum += $NF } END { print sum }' >got
same "dithered: folded has the sum" wanted got
"$SPROF" report "$@" --format csv --interval within | awk -F, 'NR == 1 {
	for (i = 1; i <= NF; i++) at[$i] = i; next } { sum += $at["self_weight"] } END { print sum }' >got
same "dithered: CSV has the sum" wanted got
"$SPROF" report "$@" -o one.speedscope.json
python3 "$tests/exports.py" speedscope one.speedscope.json |
	awk 'NF > 1 { sum += $1 } END { print sum }' >got
same "dithered: speedscope has the sum" wanted got
"$SPROF" report "$@" --format callgrind | sed -n 's/^totals: //p' >got
same "dithered: callgrind has the sum" wanted got
"$SPROF" report "$@" -o one.json.gz
"$SPROF" report "$@" -s dso,function --format json >report.json
check "dithered: Firefox has the weights" python3 "$tests/firefox.py" report one.json.gz report.json
"$SPROF" report "$@" -o one.html
check "dithered: the page has the report's data" python3 "$tests/html.py" one.html report.json
if command -v go >.which; then
	"$SPROF" report "$@" -o one.pb.gz
	go tool pprof -raw one.pb.gz >raw 2>messages
	python3 "$tests/exports.py" pprof raw cpu | awk 'NF > 1 { sum += $1 } END { print sum }' >got
	same "dithered: pprof has the sum" wanted got
fi
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording is readable whatever becomes of the recorder or the disk.
#
# Parallel: the file is judged, not its samples' number.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data

field() { # FILE KEY: a number of sprof info
	"$SPROF" info -i "$1" --format json | sed -n "s/.*\"$2\": *\\([0-9]*\\).*/\\1/p"
}

# readable FILE NAME: by sprof without damage, and by perf.
readable() {
	"$SPROF" info -i "$1" --format json >"$tmp/info" 2>"$tmp/err"
	check "$2: no damage is found" grep -q '"damage": *\[\]' "$tmp/info"
	if command -v perf >/dev/null; then
		perf report -i "$1" --stdio --no-children -g none >"$tmp/report" 2>"$tmp/err"
		check "$2: perf reads it" grep -q proportions "$tmp/report"
	else
		skip "$2: perf reads it" "there is no perf"
	fi
}

# starved: the most ms that a thread of the recorder has waited for a CPU.
starved() {
	cat "/proc/$recorder/task/"*/schedstat 2>"$tmp/err" |
		awk '$2 > most { most = $2 } END { printf "%d\n", most / 1e6 }'
}
uptime_ns() {
	echo "$(sed 's/\([0-9]*\)\.\([0-9]*\) .*/\1\2/' /proc/uptime)0000000"
}

# Killed a few times, at moments that no round knows of. A recorder that waits for a CPU writes nothing:
# the second is of the time in which it could run.
for delay in 0.7 1.3 2.1; do
	"$SPROF" record -q -g -F 4000 -o "$file" -- "$workload/proportions" 30 >"$tmp/out" 2>&1 &
	# The script that libtool makes of an uninstalled program replaces itself.
	recorder=$!
	until command=$(pgrep -P $recorder -x proportions) || ! kill -0 $recorder; do sleep 0.05; done
	begin_ns=$(uptime_ns)
	sleep $delay
	starved_ms=$(starved)
	kill -KILL $recorder
	killed_ns=$(uptime_ns)
	wait $recorder 2>"$tmp/err"
	kill -KILL $command
	last_ns=$(field "$file" last_ns)
	# Without a sample, all since the begin is lost.
	[ -z "$last_ns" ] || readable "$file" "killed after $delay s"
	behind_ms=$(((killed_ns - ${last_ns:-$begin_ns}) / 1000000))
	check "killed after $delay s: the last second at most is lost ($behind_ms ms, $starved_ms ms without a CPU)" \
		test $behind_ms -lt $((1000 + starved_ms))
done

# Synced: it says what that cost. (What a loss of power leaves: tests/unit/test_durable.c)
"$SPROF" record --sync -g -o "$file" -- "$workload/proportions" 0.3 >"$tmp/out" 2>"$tmp/err"
check "--sync: the status is the command's" test $? = 0
says "--sync: what it cost is said" '[0-9]* syncs took [0-9.]* ms, the longest'
readable "$file" "--sync"
"$SPROF" record --sync -o - -- true >"$tmp/out" 2>"$tmp/err"
check "--sync: no stream can be" test $? = 129

# counted NAME: $tmp/err says how many samples are in $file.
counted() {
	said=$(sed -n 's/^sprof: \([0-9]*\) samples, [0-9]* lost, .*/\1/p' "$tmp/err")
	check "$1: the count printed is the file's ($said)" test "$said" = "$(field "$file" SAMPLE)"
	unwritten=$(sed -n 's/^sprof: \([0-9]*\) more samples could not be written/\1/p' "$tmp/err")
	check "$1: the file has the count of samples that are missing ($unwritten)" sh -c \
		'"$1" info -i "$2" | tr -d , | grep -q "; $3 later samples* missing"' sh "$SPROF" "$file" "$unwritten"
}

# The file's size limit. The unit of ulimit -f is 512 bytes or 1 KiB.
(
	ulimit -f 200
	exec "$SPROF" record -g -F 10000 -o "$file" -- "$workload/proportions" 2
) >"$tmp/out" 2>"$tmp/err"
status=$?
check "the file size limit: the status says so ($status)" test $status = 125
check "the file size limit: so does a message" grep -q 'File too large' "$tmp/err"
counted "the file size limit"
readable "$file" "the file size limit"
check "the file size limit: the file says that there is more" sh -c \
	'"$1" info -i "$2" | tr -d , | grep -q "writing stopped: .*; [0-9,]* later samples\\? missing"' sh "$SPROF" "$file"
check "the file size limit: what fitted is there" test "$(field "$file" SAMPLE)" -gt 300
limit=$(sh -c 'ulimit -f 200; dd if=/dev/zero bs=512 count=500 of="$1"' sh "$tmp/dd" 2>"$tmp/.dd"; stat -c %s "$tmp/dd")
size=$(stat -c %s "$file")
check "the file size limit: nine tenths of it are used ($size of $limit)" test $((size * 10)) -ge $((limit * 9))

mkdir "$tmp/small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=256k none "$tmp/small" 2>"$tmp/err"; then
	"$SPROF" record -g -F 10000 -o "$tmp/small/data" -- "$workload/proportions" 2 \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	cp "$tmp/small/data" "$file"
	umount "$tmp/small"
	check "a full disk: the status says so ($status)" test $status = 125
	check "a full disk: so does a message" grep -q 'No space left' "$tmp/err"
	counted "a full disk"
	readable "$file" "a full disk"
	check "a full disk: what fitted is there" test "$(field "$file" SAMPLE)" -gt 300

	# In several files; the last one does not fit.
	mount -t tmpfs -o size=1500k none "$tmp/small"
	"$SPROF" record --call-graph dwarf -F 20000 --switch-output=300K -o "$tmp/small/data" \
		-- "$workload/deep" 60 2 1 >"$tmp/out" 2>"$tmp/err"
	sed -n 's/^sprof: \(.*\): \([0-9]*\) samples, .*MB$/\1 \2/p' "$tmp/err" >"$tmp/said"
	while read -r name count; do
		samples=$(field "$name" SAMPLE)
		echo "$name ${samples:-0}"
	done <"$tmp/said" >"$tmp/counted"
	all=$(awk '{ n += $2 } END { print n + 0 }' "$tmp/counted")
	umount "$tmp/small"
	same "a full disk, several files: the counts printed are the files'" "$tmp/counted" "$tmp/said"
	check "a full disk, several files: so is their sum ($all)" grep -q "^sprof: $all samples, " "$tmp/err"
else
	skip "a full disk" "a small file system can only be mounted by root"
fi

# A reader that goes away.
{
	"$SPROF" record -g -F 10000 -o - -- "$workload/proportions" 1 2>"$tmp/err"
	echo $? >"$tmp/status"
} | head -c 5000 >"$tmp/pipe"
check "a pipe that is closed: the status says so" test "$(cat "$tmp/status")" = 125
check "a pipe that is closed: so does a message" grep -q 'Broken pipe' "$tmp/err"

# A reader that takes its time is not waited for: what has no room meanwhile is left out,
# counted, and the rest is there.
"$SPROF" record -F 20000 --call-graph dwarf --unwind later -o - -- "$workload/deep" 20 2 1 4 \
	2>"$tmp/err" | (sleep 5 && cat) >"$file"
shed=$(sed -n 's/^sprof: \([0-9,]*\) of [0-9,]* samples dropped: .*/\1/p' "$tmp/err" | tr -d ,)
written=$(sed -n 's/^sprof: \([0-9]*\) samples, [0-9]* lost, .*/\1/p' "$tmp/err")
if [ -n "$shed" ]; then
	ok "a slow reader: what is left out is said ($shed)"
	check "a slow reader: all else is there ($written)" test "$(field "$file" SAMPLE)" = "$written"
	"$SPROF" report -i "$file" --format json >"$tmp/json" 2>"$tmp/out"
	check "a slow reader: the report knows what is missing" sh -c \
		'test "$(sed -n "s/.*\"lost\": *\([0-9]*\).*/\1/p" "$1" | head -n 1)" -ge "$2"' \
		sh "$tmp/json" "$shed"
	check "a slow reader: and what would help" grep -q 'faster disk' "$tmp/json"
else
	skip "a slow reader" "fewer than 64 MB were recorded ($written samples)"
fi

# A recorder that is stopped for a while loses metadata records. A process created meanwhile is
# found in /proc later.
if ! "$workload/probe" cpu >"$tmp/.probe"; then
	skip "lost records of tasks" "$(cat "$tmp/.probe")"
else
	cat >"$tmp/forks.sh" <<-END
		sleep 1
		i=0
		while [ \$i -lt 5000 ]; do /bin/true; i=\$((i + 1)); done
		$workload/proportions 4 >/dev/null &
		sleep 0.2
		: >"$tmp/made"
		wait
	END
	"$SPROF" record --scope cpu -o "$file" -- sh "$tmp/forks.sh" 2>"$tmp/err" &
	recorder=$!
	sleep 0.5
	kill -STOP $recorder
	until [ -e "$tmp/made" ]; do sleep 0.1; done
	kill -CONT $recorder
	wait $recorder
	check "lost records of tasks are said" \
		grep -q '[0-9]* metadata records (mmap, comm, fork) were lost' "$tmp/err"
	"$SPROF" report -i "$file" -s comm --format csv >"$tmp/csv" 2>"$tmp/err"
	check "a process made meanwhile is recorded from then on" grep -q proportions "$tmp/csv"

	# Earlier children of a process that is attached to are not followed; later ones are.
	cat >"$tmp/attached.sh" <<-END
		$workload/threads 1 20 >/dev/null &
		echo \$! >"$tmp/before"
		until [ -e "$tmp/go" ]; do sleep 0.1; done
		. "$tmp/forks.sh"
		kill \$(cat "$tmp/before")
	END
	sed -i 's/^wait$/wait $!/' "$tmp/forks.sh"
	rm -f "$tmp/made" "$tmp/go"
	sh "$tmp/attached.sh" &
	attached=$!
	until [ -s "$tmp/before" ]; do sleep 0.1; done
	"$SPROF" record --scope cpu -o "$file" -p $attached 2>"$tmp/err" &
	recorder=$!
	sleep 1
	kill -STOP $recorder
	: >"$tmp/go"
	until [ -e "$tmp/made" ]; do sleep 0.1; done
	kill -CONT $recorder
	wait $attached
	wait $recorder
	"$SPROF" report -i "$file" -s comm --format csv >"$tmp/csv" 2>>"$tmp/err"
	check "so it is where a process was attached to" grep -q proportions "$tmp/csv"
	check "whose older children are not" sh -c 'grep -q "metadata records .* were lost" "$1" && ! grep -q threads "$2"' \
		sh "$tmp/err" "$tmp/csv"
fi

# Rings that are too small: what is lost is counted, and said with the remedy.
losses() { # NAME, then record's arguments
	name=$1
	shift
	"$SPROF" record --scope task -F 20000 -o "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	lost=$(sed -n 's/^sprof: \([0-9]*\) samples (.*were lost for want of room.*-m .*/\1/p' "$tmp/err")
	if [ -z "$lost" ]; then
		skip "$name: losses are said with the remedy" "this machine loses nothing"
		return
	fi
	ok "$name: losses are said with the remedy ($lost)"
	got=$("$SPROF" info -i "$file" --format json | tr '{' '\n' |
		sed -n 's/.*"lost": *\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	check "$name: and are in the recording ($got)" test "$got" = "$lost"
	got=$("$SPROF" report -i "$file" --format json |
		sed -n 's/.*"lost": *\([0-9]*\).*/\1/p' | head -n 1)
	check "$name: and in the report ($got)" test "$got" = "$lost"
}
losses "chains" --call-graph fp -m 1 -- "$workload/proportions" 1
# Helper samples share the rings with the samples: they do not count.
losses "copies of stacks" --call-graph dwarf -m 256K -- "$workload/deep" 200 1 1 8
finish

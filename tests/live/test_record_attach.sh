#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching: while threads come and go, each must be sampled for the CPU time that
# it used, no thread missed and none counted twice; as root on whole CPUs and task
# by task, and as an ordinary user. (perf record -p fails this: it misses the
# threads made while it attaches, and those that these make.)
#
# perf script lists the samples, since it is not of this project.
. "$top_srcdir/tests/tap.sh"
need_sampling
command -v perf >/dev/null || skip_all "needs perf, to list the samples"
export XDG_CACHE_HOME="$tmp/cache"
freq=4999
chmod 755 "$tmp"
mkdir -m 777 "$tmp/open"

# Prefix of a command that runs without rights; it keeps its pid.
as_this=
as_user='setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --'

# Samples of the file as "TID SECONDS ADDRESS".
list_samples() {
	perf script -f -i "$1" -F tid,time,ip 2>"$tmp/perf.err" | tr -d :
}

# Compares what each thread used after the mark with its samples since. Threads of a number used
# twice are taken together. An event begins with a whole period on each CPU, so a little is
# missing of each thread. A thread that was not attached to has no samples at all; a thread may
# lack most if the host stopped its virtual CPU meanwhile. Too many samples are looked for among
# those of the program (kernel addresses have 16 digits): what the kernel does to end a thread,
# the thread does not see.
compare() { # TRUTH SAMPLES
	awk -v period_ms="$(awk "BEGIN { print 1000 / $freq }")" -v cpus="$(nproc)" '
		FILENAME == ARGV[1] && $1 == "mark" { mark = $2 / 1e9; seen = $3 / 1e9; next }
		FILENAME == ARGV[1] && NF == 2 { cpu[$1] += $2 / 1e6; lives[$1]++; next }
		FILENAME == ARGV[1] { next }
		$2 >= mark { samples[$1]++ }
		$2 >= seen && length($3) < 16 { own[$1]++ }
		END {
			for (tid in cpu) {
				sampled = samples[tid] * period_ms
				slack = lives[tid] * (cpus + 1) * period_ms
				used += cpu[tid]
				all += sampled
				threads++
				if (sampled < 0.1 * cpu[tid] - slack) {
					missed++
					print "missed", tid, cpu[tid], sampled >"/dev/stderr"
				}
				if (own[tid] * period_ms > 1.7 * cpu[tid] + slack) {
					doubled++
					print "doubled", tid, cpu[tid], sampled, own[tid] >"/dev/stderr"
				}
			}
			printf "%d %d %d %.1f\n", threads, missed, doubled, used ? 100 * all / used : 0
		}' "$1" "$2"
}

# storm WHO SCOPE NAME ARGUMENTS...
storm() {
	eval "as=\$as_$1"
	scope=$2 name="$3, $1, --scope $2"
	shift 3
	$as "$workload/storm" "$@" >"$tmp/truth" &
	storm=$!
	sleep 0.4
	$as "$SPROF" record --call-graph none -F $freq --scope "$scope" -o "$tmp/open/data" -p $storm \
		2>"$tmp/err" &
	recorder=$!
	# The file is made when everything has been attached to.
	until [ -e "$tmp/open/data" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	kill -USR1 $storm
	wait $storm
	wait $recorder
	status=$?
	check "$name: ends with the process (status $status)" test $status = 0
	list_samples "$tmp/open/data" >"$tmp/samples"
	compare "$tmp/truth" "$tmp/samples" >"$tmp/result" 2>"$tmp/wrong"
	read -r threads missed doubled percent <"$tmp/result"
	[ -s "$tmp/wrong" ] && comment "$(head -20 "$tmp/wrong")" && comment "$(cat "$tmp/err")"
	check "$name: $threads threads, none missed ($missed)" test "$threads" -gt 8 -a "$missed" = 0
	check "$name: none counted twice ($doubled)" test "$doubled" = 0
	whole=${percent%.*}
	check "$name: the samples are the CPU time ($percent %)" test "$whole" -ge 85 -a "$whole" -le 110
	rm -f "$tmp/open/data" "$tmp/open/data.old"
}

# many WHO SCOPE: all of 2,000 threads, which hardly ever run.
many() {
	eval "as=\$as_$1"
	who=$1 scope=$2
	: >"$tmp/ready" # or it may say so of the last one
	$as "$workload/idle" 2000 20 >"$tmp/ready" &
	idle=$!
	while ! grep -q ready "$tmp/ready"; do sleep 0.05; done
	$as "$SPROF" record --call-graph none --scope "$scope" --duration 0.1 -o "$tmp/open/data" -p $idle 2>"$tmp/err"
	status=$?
	kill $idle
	wait $idle 2>/dev/null
	found=$(perf script -f -i "$tmp/open/data" --show-task-events 2>/dev/null |
		grep -c 'PERF_RECORD_COMM.*idle:')
	check "2,000 threads, $who, --scope $scope: attached (status $status), all there ($found)" \
		test $status = 0 -a "$found" = 2000
	[ $status = 0 ] || comment "$(cat "$tmp/err")"
	rm -f "$tmp/open/data" "$tmp/open/data.old"
}

all() {
	who=$1 scope=$2
	noisy storm "$who" "$scope" "threads made by main" 8 1 20
	noisy storm "$who" "$scope" "threads made by threads" 8 1 10 chain
	noisy storm "$who" "$scope" "many threads" 100 1.5 5
	many "$who" "$scope"
}

if "$workload/probe" cpu >"$tmp/.probe"; then
	all this cpu
else
	skip "attaching on whole CPUs" "$(cat "$tmp/.probe")"
fi
all this task
if [ "$(id -u)" != 0 ]; then
	skip "attaching as an ordinary user" "this is one"
elif ! $as_user "$SPROF" --version >"$tmp/out" 2>&1; then
	skip "attaching as an ordinary user" "one cannot run what was built here"
elif ! $as_user "$workload/probe" >"$tmp/.probe" 2>&1; then
	skip "attaching as an ordinary user" "$(cat "$tmp/.probe")"
else
	all user auto
fi

# A process that ends while it is attached to: an error or a recording, never a hang.
for try in 1 2 3 4 5; do
	: >"$tmp/ready"
	"$workload/idle" 500 20 >"$tmp/ready" &
	idle=$!
	while ! grep -q ready "$tmp/ready"; do sleep 0.02; done
	timeout -s KILL 10 "$SPROF" record --scope task -o "$tmp/open/data" -p $idle 2>"$tmp/err" &
	recorder=$!
	sleep 0.0$try
	kill -KILL $idle
	wait $idle 2>/dev/null
	wait $recorder
	status=$?
	check "a process killed while it is attached to (status $status)" \
		test $status = 0 -o $status = 125
done
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# system.sh: what becomes of a recording when the system around it fails: disks, pipes, limits, clocks,
# and the strangest workloads. Each ends in time, says what failed, and leaves what can be read.
# FAULTS_FORKS (none) is how many processes a workload makes; without it, only half of this is
# done. (More of it: test_record_safety.sh.)
#
# Parallel: a slower workload has fewer samples, and each is judged by its file and its messages.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/faults/lib.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
file=$tmp/data

# recorded NAME WANTED-STATUS: of $status, $file and $tmp/err; samples must be there, undamaged.
recorded() {
	check "$1: status $status" test "$status" = "$2"
	"$SPROF" info -i "$file" --format json >"$tmp/info" 2>&1
	samples=$(number "$tmp/info" SAMPLE)
	check "$1: what was recorded is readable ($samples samples)" \
		sh -c 'grep -q "\"damage\": *\[\]" "$1" && test "$2" -gt 0' sh "$tmp/info" "${samples:-0}"
}
record() { # record's arguments
	rm -f "$file"
	timeout 30 "$SPROF" record -g -o "$file" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

# Its directory vanishes, after the file has its name there.
mkdir "$tmp/gone"
timeout 30 "$SPROF" record -g -o "$tmp/gone/data" -- sh -c "sleep 0.2; rm -r '$tmp/gone'; $workload/proportions 0.1" \
	>"$tmp/out" 2>"$tmp/err"
status=$?
check "a directory that vanishes: status $status" test $status = 125
says "a directory that vanishes: is said" 'was removed during recording'

# A full pipe without a reader: the recorder waits until it is interrupted.
mkfifo "$tmp/full"
exec 9<>"$tmp/full"
timeout 30 "$SPROF" record -F 9000 -o "$tmp/full" -- "$workload/proportions" 0.3 >"$tmp/out" 2>"$tmp/err" 9>&- &
recorder=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.3
	! grep -q 'waiting for the reader' "$tmp/err" || break
done
says "a reader that takes nothing: is said" 'waiting for the reader of .*full; Ctrl-C or SIGTERM'
kill -TERM $recorder
wait $recorder 2>"$tmp/.wait"
status=$?
exec 9>&-
check "a reader that takes nothing: SIGTERM gives it up (status $status)" test $status = 143
says "a reader that takes nothing: what is lost is said" 'gave up: data that the reader of .* has not read is lost'

# A recorder that is stopped for a moment goes on.
"$SPROF" record -q -g -o "$file" -- "$workload/proportions" 0.5 >"$tmp/out" 2>"$tmp/err" &
recorder=$!
sleep 0.2
kill -STOP $recorder
sleep 0.3
kill -CONT $recorder
wait $recorder
status=$?
recorded "stopped and continued" 0

# A program that dies, and one that is over at once.
# shellcheck disable=SC2016
record -- sh -c "$workload/proportions 0.1; kill -SEGV \$\$"
recorded "a workload that crashes" 139
# (At 100,000 Hz a machine that needs 10 us for a sample gets nowhere, with perf, too.)
record -F 20000 -- true
check "a workload that ends at once: status $status" test "$status" = 0
check "a workload that ends at once: the file is whole" sh -c \
	'"$SPROF" info -i "$1" --format json | grep -q "\"damage\": *\[\]"' sh "$file"

# A program that one of its threads replaces.
cat >"$tmp/execs.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *replace(void *argument)
{
	char **argv = argument;
	execv(argv[1], argv + 1);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	pthread_create(&thread, 0, replace, argv);
	for (;;)
		;
}
END
if $CC -pthread -o "$tmp/execs" "$tmp/execs.c" 2>"$tmp/err"; then
	record -F 4000 -- "$tmp/execs" "$workload/proportions" 0.1
	recorded "exec in a thread" 0
	"$SPROF" report -q -i "$file" -s comm --format csv >"$tmp/csv" 2>"$tmp/err"
	check "exec in a thread: the program has its samples" grep -q proportions "$tmp/csv"
else
	skip "exec in a thread" "there is no compiler"
fi

[ -n "$FAULTS_FORKS" ] || finish

# Descriptors: as few as it gets, it says which limit.
for limit in 8 16; do
	rm -f "$file"
	(
		ulimit -n $limit
		exec timeout 30 "$SPROF" record -g -o "$file" -- "$workload/proportions" 0.1
	) >"$tmp/out" 2>"$tmp/err"
	status=$?
	if [ $status = 0 ]; then
		recorded "$limit descriptors" 0
	else
		check "$limit descriptors: status $status" test $status = 125
		says "$limit descriptors: the limit is said" 'Too many open files\|have to be open'
	fi
done

# Memory: from none that suffices to some.
if grep -qE '__(a|t)san_init' "$top_builddir"/src/.libs/sprof "$top_builddir"/src/sprof 2>"$tmp/.grep"; then
	skip "address space that is limited" "sanitizers reserve all of it"
else
	bad=
	for kb in 20000 40000 80000 160000; do
		rm -f "$file"
		(
			ulimit -v $kb
			exec timeout 30 "$SPROF" record -g -o "$file" -- "$workload/proportions" 0.02
		) >"$tmp/out" 2>"$tmp/err"
		status=$?
		case $status in
		0) "$SPROF" report -q -i "$file" >"$tmp/out" 2>&1 || bad="$bad $kb KB: no report;" ;;
		125 | 126 | 127) [ -s "$tmp/err" ] || bad="$bad $kb KB: not a word;" ;;
		*) bad="$bad $kb KB: status $status: $(tail -n 1 "$tmp/err");" ;;
		esac
	done
	check "address space that is limited:$bad" test -z "$bad"
fi

# A process that goes while it is attached to, or is not there.
"$workload/proportions" 0.4 >"$tmp/out" &
record -p $!
recorded "a process that ends" 0
record -p 999999999
check "a process that is not there: status $status" test "$status" = 125 -o "$status" = 129

# Processes without number.
record -F 997 -- "$workload/forks" "$FAULTS_FORKS" 0
check "$FAULTS_FORKS processes: status $status" test "$status" = 0
check "$FAULTS_FORKS processes: the file is whole" sh -c \
	'"$SPROF" info -i "$1" --format json | grep -q "\"damage\": *\[\]"' sh "$file"

# Disks; where a file system may be mounted for us alone.
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>"$tmp/err"; then
	skip "a full disk" "no file system may be mounted"
else
	mkdir "$tmp/disk"
	for size in 4k 64k 200k; do
		unshare -m sh -c '
			mount -t tmpfs -o size=$2 none "$1/disk" || exit 99
			"$SPROF" record -q -F 10000 -g -o "$1/disk/data" -- "$3/proportions" 0.5 >"$1/out" 2>"$1/err"
			status=$?
			rm -f "$1/data"
			[ ! -e "$1/disk/data" ] || cp "$1/disk/data" "$1/data"
			ls "$1/disk" >"$1/left"
			exit $status' sh "$tmp" $size "$workload"
		status=$?
		if [ -e "$file" ]; then
			[ $size = 4k ] || recorded "a disk of $size" 125
		else
			check "a disk of $size: status $status, and nothing is left" \
				sh -c 'test "$1" = 125 && ! test -s "$2"' sh $status "$tmp/left"
		fi
		says "a disk of $size: is said" 'No space left'
	done
fi
finish

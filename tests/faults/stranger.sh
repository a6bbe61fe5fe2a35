#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the report of an untrusted recording, and of one with files that other users may have
# planted. It opens nothing that blocks or never ends, writes nothing, queries no server, and uses
# no file other than the recorded one. Also processes in namespaces of their own, and the rights
# that recording needs.
#
# Parallel: opened files and messages are compared, not times.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/lib.sh"
export XDG_CACHE_HOME="$tmp/cache"
cd "$tmp" || exit 99

# Paths that a recording may have as files of its code.
mkfifo "$tmp/fifo"
mkdir "$tmp/folder"
ln -s loop "$tmp/loop"
ln -s /dev/zero "$tmp/link"
truncate -s 1T "$tmp/sparse" 2>"$tmp/err" || : >"$tmp/sparse"
printf '\177ELF\002\001\001\000' | dd of="$tmp/sparse" conv=notrunc 2>"$tmp/.dd"
hostile="$tmp/fifo /dev/zero /dev/random /dev/tty /proc/kmsg /dev/stdin /proc/self/fd/0
	/proc/self/mem $tmp/folder $tmp/loop $tmp/link $tmp/sparse /dev/full
	../../../../../../../../etc/passwd /etc/shadow"
{
	echo 'event cpu-clock chain'
	echo 'comm 7 7 demo'
	start=$((0x10000000))
	for path in $hostile; do
		echo "mmap 7 $start 0x100000 0 $path"
		start=$((start + 0x100000))
	done
	# Perf maps and JIT code are looked for under the process's number.
	echo "mmap 7 $start 0x100000 0 //anon"
	at=$((0x10000000))
	while [ $at -le $start ]; do
		echo "sample 0 7 7 0 $((1000 + at / 4096)) 1 $((at + 0x100)) $((at + 0x100))"
		at=$((at + 0x100000))
	done
} >"$tmp/lines"
"$top_builddir/tests/cli/recording" "$tmp/stranger" <"$tmp/lines"
samples=$(grep -c ^sample "$tmp/lines")

# All files, except those that the report itself writes.
listing() {
	find "$tmp" -path "$tmp/cache" -prune -o -type f -newer "$tmp/lines" -print | grep -v '/list\|/got\|/err\|/trace\|/\.' | sort
}
listing >"$tmp/list.before"
for format in text json; do
	timeout 10 "$SPROF" report -i "$tmp/stranger" -s comm,dso,srcline --format $format \
		</dev/zero >"$tmp/got" 2>"$tmp/err"
	status=$?
	check "report ($format) of files that are none: status $status" test $status = 0
done
check "all samples are there" grep -q "\"samples\": $samples" "$tmp/got"
timeout 10 "$SPROF" script -i "$tmp/stranger" </dev/zero >"$tmp/got" 2>"$tmp/err"
status=$?
check "script of files that are none: status $status" test $status = 0
listing >"$tmp/list.after"
same "nothing is written" "$tmp/list.before" "$tmp/list.after"

if command -v strace >/dev/null && strace -o "$tmp/trace" true 2>"$tmp/err"; then
	DEBUGINFOD_URLS=http://127.0.0.1:9 DEBUGINFOD_PROGRESS=1 strace -f -o "$tmp/trace" \
		-e trace=openat,open,socket,connect,execve "$SPROF" report -i "$tmp/stranger" \
		</dev/null >"$tmp/got" 2>"$tmp/err"
	check "no server is asked" sh -c '! grep -q "AF_INET" "$1"' sh "$tmp/trace"
	check "nothing is opened for writing, but in the cache" sh -c '! grep -E "O_(WRONLY|RDWR|CREAT)" "$1" |
		grep -v "$2/cache\|/dev/tty\|/dev/null\|/proc/self/\|ENOENT"' sh "$tmp/trace" "$tmp"
	check "what is no regular file is found, but never opened" sh -c '
		grep "\"$2/fifo\"" "$1" && ! grep -E "\"($2/(fifo|link)|/dev/(zero|random|full)|/proc/(kmsg|self/mem))\"" "$1" |
			grep -v O_PATH' sh "$tmp/trace" "$tmp"
else
	skip "what is opened" "strace is not here, or may not trace"
fi

# A file that is not the one recorded, by its build-id, gives no names.
"$top_builddir/tests/cli/recording" "$tmp/other" <<END
event cpu-clock
comm 7 7 demo
mmap 7 0x400000 0x100000 0 $workload/proportions
sample 0 7 7 0 1000 1 0x401600
END
"$SPROF" report -i "$tmp/other" >"$tmp/got" 2>"$tmp/err"
check "a recording without build-ids is read" test $? = 0

# Nor does one that was written to since, and has none.
echo 'volatile long x; int main(void) { for (long i = 0; i < 60000000; i++) x += i; return 0; }' >"$tmp/changed.c"
if "$workload/probe" >"$tmp/.probe" 2>&1 && $CC -Wl,--build-id=none -o "$tmp/changed" "$tmp/changed.c" 2>"$tmp/err"; then
	"$SPROF" record -q --no-names --call-graph none -o "$tmp/recorded" -- "$tmp/changed" >"$tmp/got" 2>"$tmp/err"
	"$SPROF" report -q -i "$tmp/recorded" -s symbol --format csv >"$tmp/got" 2>&1
	check "a file without a build-id has names as long as it is the same" grep -q ',main' "$tmp/got"
	# A byte of the ELF header's padding.
	printf x | dd of="$tmp/changed" bs=1 seek=15 conv=notrunc 2>/dev/null
	"$SPROF" report -i "$tmp/recorded" -s symbol --format json >"$tmp/got" 2>&1
	check "a file that was written to since gives none" sh -c '! grep -q "\"symbol\": \"main\"" "$1"' sh "$tmp/got"
	check "and that is said" grep -q 'is not the recorded file: its content differs' "$tmp/got"
	"$SPROF" report -q -i "$tmp/recorded" --symfs / -s symbol --format csv >"$tmp/got" 2>&1
	check "unless it is named by --symfs" grep -q ',main' "$tmp/got"
else
	skip "a file that was written to since" "$(cat "$tmp/.probe")"
fi

# claim RECORDING PROGRAM...: a recording with a sample in the function `compress` of each.
claim() {
	claim_to=$1 claim_start=$((0x10000000))
	shift
	{
		echo 'event cpu-clock'
		echo 'comm 7 7 demo'
		for program in "$@"; do
			echo "mmap 7 $claim_start 0x100000 0 $program"
			echo "sample 0 7 7 0 $claim_start 1 $((claim_start + 0x$hot))"
			claim_start=$((claim_start + 0x100000))
		done
	} | "$top_builddir/tests/cli/recording" "$claim_to"
}
stored() { # RECORDING: number of files whose code is in it
	"$SPROF" info -i "$1" --format json | tr -d ' \n' |
		sed -n 's/.*"binaries":\([0-9]*\).*/\1/p'
}
hot=$(nm "$workload/proportions" | sed -n 's/^0*\([0-9a-f]*\) [tT] compress$/\1/p')
hot=${hot#40}

# A core dump may have secrets. It is no code, whatever a recording says.
cp "$workload/proportions" "$tmp/program"
cp "$workload/proportions" "$tmp/core"
printf '\004' | dd of="$tmp/core" bs=1 seek=16 conv=notrunc 2>"$tmp/.dd"
claim "$tmp/claims" "$tmp/program" "$tmp/core"
"$SPROF" archive -q --with-binaries -i "$tmp/claims" >"$tmp/got" 2>"$tmp/err"
check "a program is stored, and a core dump is not" test "$(stored "$tmp/claims")" = 1

[ "$(id -u)" = 0 ] && "$workload/probe" >"$tmp/.probe" 2>&1 && command -v setpriv >/dev/null || {
	skip "what others planted" "only root can be somebody else"
	finish
}
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
publish_programs

# A file that others may not read.
"$SPROF" record -q -o "$tmp/mine" -- "$workload/proportions" 0.05 >"$tmp/got" 2>"$tmp/err"
check "a recording is its owner's alone" test "$(stat -c %a "$tmp/mine")" = 600
$nobody "$SPROF" report -i "$tmp/mine" >"$tmp/got" 2>"$tmp/err"
check "who may not read it is told so" grep -q 'Permission denied' "$tmp/err"

# Root stores in another user's recording what that user may read, and nothing else.
mkdir -m 711 "$tmp/secret"
mkdir -m 700 "$tmp/closed"
for place in secret closed .; do
	cp "$workload/proportions" "$tmp/$place/tool"
done
chmod 600 "$tmp/secret/tool"
chmod 755 "$tmp" "$tmp/closed/tool" "$tmp/tool"
claim "$tmp/claims" "$tmp/secret/tool" "$tmp/closed/tool" "$tmp/tool"
for copy in own all group hidden; do
	cp "$tmp/claims" "$tmp/$copy"
done
chown 65534 "$tmp/claims"
"$SPROF" archive --with-binaries -i "$tmp/claims" >"$tmp/got" 2>"$tmp/err"
check "root archives a user's recording" test $? = 0
check "it gets the file that its owner may read, and no other" test "$(stored "$tmp/claims")" = 1
check "and that is said" grep -q '2 files were left out: user 65534' "$tmp/err"
chmod 600 "$tmp/own"
"$SPROF" archive --with-binaries -i "$tmp/own" >"$tmp/got" 2>"$tmp/err"
check "root's own recording gets all" test "$(stored "$tmp/own")" = 3

# Root's recording has names for all who may read it: a copy of a user's recording is no trap.
chmod 644 "$tmp/all"
"$SPROF" archive --with-binaries -i "$tmp/all" >"$tmp/got" 2>"$tmp/err"
check "root archives its recording that all may read" test $? = 0
check "it gets the file that all may read" test "$(stored "$tmp/all")" = 1
check "the message gives the remedy" grep -q "install -m 600 $tmp/all " "$tmp/err"
remedy=$(sed -n 's/.*for all names: //p' "$tmp/err")
(
	sprof() { "$SPROF" "$@" --with-binaries; }
	cd "$tmp/closed" && eval "$remedy"
) >"$tmp/got" 2>"$tmp/err"
check "the remedy helps" test "$(stored "$tmp/closed/private.data")" = 3
chgrp 1 "$tmp/group" "$tmp/secret/tool"
chmod 640 "$tmp/group" "$tmp/secret/tool"
"$SPROF" archive --with-binaries -i "$tmp/group" >"$tmp/got" 2>"$tmp/err"
check "a recording for a group gets the files of the group" test "$(stored "$tmp/group")" = 2
mv "$tmp/hidden" "$tmp/closed/hidden"
"$SPROF" archive --with-binaries -i "$tmp/closed/hidden" >"$tmp/got" 2>"$tmp/err"
check "a recording in a closed directory gets all" test "$(stored "$tmp/closed/hidden")" = 3

# Names go to the file that was recorded, whatever has its name at the end.
mkdir "$tmp/swapped"
cp "$tmp/claims" "$tmp/planted"
chown 65534 "$tmp/swapped" "$tmp/planted"
cp "$workload/proportions" "$tmp/swapped/tool"
"$SPROF" record -q --call-graph none -o "$tmp/swapped/data" -- $nobody sh -c '
	until [ -e "$1/data" ]; do sleep 0.1; done
	mv "$1/data" "$1/ours" && cp "$2" "$1/data" && exec "$1/tool" 0.2' \
	sh "$tmp/swapped" "$tmp/planted" >"$tmp/got" 2>"$tmp/err"
await_names "$tmp/swapped/ours"
check "the file that was renamed while recording gets the names" sh -c \
	'"$1" info -i "$2" | grep -q "^  stored "' sh "$SPROF" "$tmp/swapped/ours"
check "the file that was put in its place is as it was" cmp "$tmp/planted" "$tmp/swapped/data"

# In a world-writable directory, links and pipes of others are traps.
mkdir "$tmp/sticky"
chmod 1777 "$tmp/sticky"
echo precious >"$tmp/precious"
$nobody ln -s "$tmp/precious" "$tmp/sticky/link"
$nobody mkfifo "$tmp/sticky/pipe"
for trap in link pipe; do
	timeout 20 "$SPROF" record -o "$tmp/sticky/$trap" -- true >"$tmp/got" 2>"$tmp/err"
	status=$?
	check "a $trap of another user's is refused (status $status)" test $status = 125 -o $status = 129
done
check "what it led to is as it was" grep -q precious "$tmp/precious"

# In a directory of theirs, too: a pipe would give them the report, or block.
mkdir "$tmp/home"
chown 65534 "$tmp/home"
mkfifo "$tmp/target"
$nobody ln -s "$tmp/target" "$tmp/home/link"
$nobody mkfifo -m 666 "$tmp/home/pipe"
refused() { # NAME STATUS ARGUMENT...
	refused_name=$1 refused_status=$2
	shift 2
	timeout 20 "$SPROF" "$@" >"$tmp/got" 2>"$tmp/err"
	status=$?
	check "$refused_name is refused (status $status)" test $status = "$refused_status"
}
for trap in link pipe; do
	refused "a $trap for the report" 1 report -i "$tmp/mine" --format csv -o "$tmp/home/$trap"
	refused "a $trap for the counts" 129 stat -o "$tmp/home/$trap" true
done
refused "a pipe as a recording" 1 report -i "$tmp/home/pipe"
check "the message names its user" grep -q 'home/pipe: the FIFO belongs to user 65534' "$tmp/err"
refused "a pipe for the recording" 129 record -o "$tmp/home/pipe" -- true
$nobody touch "$tmp/home/counts"
refused "another user's file for the counts" 129 stat -o "$tmp/home/counts" true
check "the message names its user" grep -q 'home/counts belongs to user 65534' "$tmp/err"
"$SPROF" report -i "$tmp/mine" -q --format csv -o "$tmp/home/counts" >"$tmp/got" 2>"$tmp/err"
check "a report replaces it by a file that only root may read" \
	test "$(stat -c '%u %a' "$tmp/home/counts")" = '0 600'

# Opening a file on which its owner has a lease waits up to 45 s, unless it is opened by O_NONBLOCK.
# The lease ends when "held" is removed.
leased() { # FILE
	chown 65534 "$1"
	rm -f "$tmp/home/held"
	$nobody "$python" -c 'if True:
		import fcntl, os, signal, sys, time
		signal.signal(signal.SIGIO, signal.SIG_IGN)
		fd = os.open(sys.argv[1], os.O_RDWR)
		fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
		open(sys.argv[2], "w").close()
		for _ in range(300):
			if not os.path.exists(sys.argv[2]):
				break
			time.sleep(0.1)' "$1" "$tmp/home/held" 2>"$tmp/.lease" &
	until [ -e "$tmp/home/held" ] || ! kill -0 $! 2>"$tmp/.kill"; do sleep 0.1; done
	[ -e "$tmp/home/held" ]
}
python=$(command -v /usr/bin/python3)
cp "$tmp/mine" "$tmp/leased"
if [ "$python" ] && leased "$tmp/leased"; then
	refused "a recording with a lease" 1 report -i "$tmp/leased"
	check "the message has the remedy" grep -q 'grep LEASE /proc/locks' "$tmp/err"
	refused "archive of a recording with a lease" 1 archive "$tmp/leased"
	rm "$tmp/home/held"
	wait
	cp "$workload/proportions" "$tmp/home/tool"
	claim "$tmp/claims" "$tmp/home/tool"
	leased "$tmp/home/tool"
	timeout 20 "$SPROF" report -i "$tmp/claims" >"$tmp/got" 2>"$tmp/err"
	status=$?
	check "report of a program with a lease (status $status)" test $status = 0
	rm "$tmp/home/held"
	wait
else
	skip "files with leases" "no python3, or no leases on this file system"
fi

# They could stop the recording by --control. The remedy changes the owner of `trusted`.
controlled() {
	timeout 20 "$SPROF" record -q --control "fifo:$1" -o "$tmp/mine" -- true \
		>"$tmp/got" 2>"$tmp/err"
}
$nobody mkfifo "$tmp/sticky/control" "$tmp/sticky/trusted"
controlled "$tmp/sticky/control"
status=$?
check "--control with a FIFO of another user's is refused (status $status)" test $status = 129
check "the message names its user" \
	grep -q 'sticky/control: the FIFO belongs to user 65534' "$tmp/err"
controlled "$tmp/fifo,$tmp/sticky/control"
status=$?
check "and so is one for the answers (status $status)" test $status = 129
chown root "$tmp/sticky/trusted"
controlled "$tmp/sticky/trusted"
status=$?
check "one's own FIFO is accepted (status $status)" test $status = 0

# Their cache is not root's, their perf map not believed.
$nobody mkdir "$tmp/sticky/cache"
XDG_CACHE_HOME="$tmp/sticky/cache" timeout 20 "$SPROF" record -q -o "$tmp/mine" -- "$workload/proportions" 0.05 \
	>"$tmp/got" 2>"$tmp/err"
status=$?
check "a cache that belongs to another user does no harm (status $status)" test $status = 0
check "and nothing is put there" test -z "$(find "$tmp/sticky/cache" -user 0)"

# Programs that exist in namespaces of their own alone.
if unshare -m -p -u -i -f true 2>"$tmp/err"; then
	mkdir "$tmp/hidden"
	timeout 30 unshare -m -p -u -i -f sh -c '
		mount -t tmpfs none "$1/hidden" && cp "$2/proportions" "$1/hidden/only_here" || exit 99
		exec "$1/hidden/only_here" 30' sh "$tmp" "$workload" >"$tmp/got" 2>"$tmp/err" &
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		hidden=$(pgrep -n -x only_here) && break
	done
	"$SPROF" record -q --duration 0.4 -o "$tmp/mine" -p "$hidden" >"$tmp/got" 2>"$tmp/err"
	"$SPROF" report -q -i "$tmp/mine" -s symbol --format csv >"$tmp/got" 2>"$tmp/err"
	check "a program in namespaces of its own has names while it runs" grep -q compress "$tmp/got"
	kill "$hidden"
	check "its file is in none of ours" test ! -e "$tmp/hidden/only_here"
else
	skip "namespaces" "none may be made"
fi

# Rights to record: a user by perf_event_paranoid (unchanged), or by CAP_PERFMON alone.
mkdir "$tmp/theirs"
chown 65534:65534 "$tmp/theirs"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
as() { # NAME, then the command before sprof
	as_name=$1
	shift
	XDG_CACHE_HOME="$tmp/theirs/cache" "$@" "$SPROF" record -o "$tmp/theirs/data" -- "$workload/proportions" 0.1 \
		>"$tmp/got" 2>"$tmp/err"
	status=$?
	if [ $status = 0 ]; then
		"$SPROF" report -i "$tmp/theirs/data" -q -s symbol --format csv >"$tmp/got" 2>&1
		check "$as_name: is recorded" grep -q compress "$tmp/got"
	else
		check "$as_name: status $status, and the remedy is said" sh -c \
			'test "$1" = 125 && grep -q "perf_event_paranoid\|CAP_PERFMON" "$2"' sh $status "$tmp/err"
	fi
}
# shellcheck disable=SC2086
as "a user, with paranoid at $paranoid" $nobody
# shellcheck disable=SC2086
as "a user with CAP_PERFMON alone" $nobody --inh-caps +perfmon --ambient-caps +perfmon
finish

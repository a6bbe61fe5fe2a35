#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# devices.sh: files that a recording names, a process maps or a link leads to, and that are no
# regular files: none is opened. Opening can block (a FIFO) or act on a device (a watchdog).
# tests/faults/opened counts what was opened; devices are nodes of this test's own.
#
# Parallel: opened files are listed, not times.
. "$top_srcdir/tests/tap.sh"
export XDG_CACHE_HOME="$tmp/cache"
cd "$tmp" || exit 99
opened=$top_builddir/tests/faults/opened

# closed NAME STATUS PATH... -- COMMAND [ARG]...: ends so, and none of the paths was opened.
closed() {
	closed_name=$1 closed_wanted=$2
	shift 2
	timeout 30 "$opened" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	closed_status=$?
	closed_count=$(sed -n 's/^opened: //p' "$tmp/err")
	if [ "$closed_status" = "$closed_wanted" ] && [ "$closed_count" = 0 ]; then
		ok "$closed_name"
	else
		not_ok "$closed_name" "status $closed_status, opened: $closed_count; $(cat "$tmp/err")"
	fi
}

mkfifo fifo watched
nodes=$tmp/fifo
mknod "$tmp/zero" c 1 5 2>"$tmp/err" && nodes="$nodes $tmp/zero"
ln -s "$tmp/fifo" link

# The counter itself: an open is counted, O_PATH is not.
timeout 30 "$opened" watched -- sh -c ': <>watched' 2>"$tmp/err"
check "an opened FIFO is counted" grep -q 'opened: [1-9]' "$tmp/err"

# forge FILE LINE...: a recording with a sample in each of the mappings that the lines name.
forge() {
	forge_file=$1
	shift
	{
		echo 'event cpu-clock'
		echo 'comm 7 7 demo'
		printf '%s\n' "$@"
		forge_time=1000
		printf '%s\n' "$@" | sed -n 's/^mmap [-0-9]* \([^ ]*\) .*/\1/p' | while read -r start; do
			forge_time=$((forge_time + 1000))
			echo "sample 0 7 7 0 $forge_time 1 $((start + 0x100))"
		done
	} | "$top_builddir/tests/cli/recording" "$forge_file" || exit 99
}

# shellcheck disable=SC2086
{
	forge mapped "mmap 7 0x10000000 0x1000 0 $tmp/fifo" "mmap 7 0x20000000 0x1000 0 $tmp/zero" \
		"mmap 7 0x30000000 0x1000 0 $tmp/link"
	closed "report of mapped nodes" 0 $nodes -- "$SPROF" report -s symbol,srcline -i mapped
	closed "script of mapped nodes" 0 $nodes -- "$SPROF" script -i mapped
	mkdir -p root/dev
	cp -a fifo root/dev/fifo
	forge below "mmap 7 0x10000000 0x1000 0 /dev/fifo"
	closed "report of nodes below --symfs" 0 root/dev/fifo -- "$SPROF" report -i below --symfs root
}
mkfifo jit-7.dump module.ko module.ko.xz
closed_start=$(date +%s)
timeout 30 "$SPROF" report -i fifo >"$tmp/out" 2>"$tmp/err"
closed_status=$?
check "report of a FIFO without a writer ends" test $closed_status = 1
check "within the time for writers to come" test $(($(date +%s) - closed_start)) -lt 25
check "the reason is reported" grep -q "no program writes to this FIFO" "$tmp/err"
forge jitted "mmap 7 0x10000000 0x1000 0 $tmp/jit-7.dump"
closed "report of a jitdump that is a FIFO" 0 jit-7.dump -- "$SPROF" report -i jitted
map=/tmp/perf-4194399.map # above any pid
rm -f $map
mkfifo $map
cat >"$tmp/lines" <<END
event cpu-clock
comm 4194399 4194399 demo
mmap 4194399 0x10000000 0x1000 0 //anon
sample 0 4194399 4194399 0 1000 1 0x10000100
END
"$top_builddir/tests/cli/recording" anonymous <"$tmp/lines"
closed "report of a perf map that is a FIFO" 0 $map -- "$SPROF" report -i anonymous
rm -f $map

# A debug file in the binary's folder.
if command -v objcopy >"$tmp/out"; then
	objcopy --strip-all "$workload/proportions" stripped && : >stripped.debug
	objcopy --add-gnu-debuglink=stripped.debug stripped
	rm stripped.debug
	mkfifo stripped.debug
	forge linked "mmap 7 0x400000 0x100000 0 $tmp/stripped"
	closed "report of a debug link to a FIFO" 0 stripped.debug -- \
		"$SPROF" report -s srcline -i linked
else
	skip "report of a debug link to a FIFO" "there is no objcopy"
fi

# A recording that another user made: its directory, or the default name.
mkdir parts
mkfifo parts/data
closed "a recording's directory with a FIFO in it" 1 parts/data -- "$SPROF" report -i parts
check "the message names it" grep -q 'parts/data: not a regular file' "$tmp/err"
if [ -e zero ]; then
	mkdir other
	ln -s ../zero other/sprof.data
	closed "sprof.data that is a link to a device" 1 zero -- sh -c 'cd other && "$SPROF" report'
else
	skip "sprof.data that is a link to a device" "no device node can be made here"
fi

# Output: a link to a device, in a directory that another user can change, and --control.
if [ -e zero ]; then
	closed "--control with a device" 129 zero -- \
		"$SPROF" record --control "fifo:$tmp/zero" -o controlled -- true
	mkdir open && chmod 777 open && ln -s ../zero open/sprof.data
	closed "record beside a link to a device" 129 zero -- sh -c 'cd open && "$SPROF" record true'
	check "the message names the link" grep -q 'is a symbolic link that another' "$tmp/err"
	chmod 755 open
	check "one's own link is followed" sh -c 'cd open && "$SPROF" record -q true'
else
	skip "record beside a link to a device" "no device node can be made here"
fi

# Any user can bind a program over a device's path in a namespace of their own.
as_user=
if [ "$(id -u)" = 0 ] && command -v setpriv >"$tmp/out"; then
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
	chmod 755 "$tmp"
fi
if ! "$workload/probe" cpu >"$tmp/.probe"; then
	skip "record -a beside a program that is mapped over a FIFO" "$(cat "$tmp/.probe")"
	finish
elif ! $as_user unshare -Urm true 2>"$tmp/err"; then
	skip "record -a beside a program that is mapped over a FIFO" "no user namespaces here"
	finish
fi
mkdir bin
cp "$workload/proportions" bin/program
chmod 755 bin bin/program
mkfifo mapped.fifo
chmod 666 mapped.fifo
# shellcheck disable=SC2086
timeout 60 $as_user unshare -Urm sh -c 'mount --bind "$1/bin/program" "$1/mapped.fifo" &&
	exec "$1/mapped.fifo" 60' sh "$tmp" >"$tmp/.program" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.2
	program=$(pgrep -n -x mapped.fifo) && break
done
for graph in dwarf fp; do
	closed "record -a, $graph, beside a program that is mapped over a FIFO" 0 mapped.fifo -- \
		"$SPROF" record -a --call-graph $graph --duration 0.5 -o whole
	closed "record -p, $graph, of it" 0 mapped.fifo -- \
		"$SPROF" record -p "$program" --call-graph $graph --duration 0.5 -o one
	closed "report while it runs" 0 mapped.fifo -- "$SPROF" report -i one -s symbol
	check "its functions have names" grep -q compress "$tmp/out"
done
kill "$program"
wait
closed "report when it has ended" 0 mapped.fifo -- "$SPROF" report -i whole -s symbol
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hostile neighbour: root records all CPUs, or a command, while another user's programs cost it time,
# memory and files. doc/decisions/bounds.md has the tables. The recorder ends in time, its memory and its
# open files are bounded, and its command has all of its samples.
#
# NEIGHBOUR_CASES="names maps" runs some of the cases.
# NEIGHBOUR_PEERS="perf ..." shows the time, memory and samples of these under the same storms.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/faults/lib.sh"
need_sampling cpu
[ "$(id -u)" = 0 ] || skip_all "only root records processes of other users"
faults=$top_builddir/tests/faults
uid=65534
user() { setpriv --reuid $uid --regid $uid --clear-groups "$@"; }
user true 2>"$tmp/err" || skip_all "setpriv cannot become another user: $(cat "$tmp/err")"

# Bounds of doc/decisions/bounds.md.
END_MS=3000
MEMORY_KIB=262144
FILES_PER_CPU=64
SECONDS_RECORDED=2

export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"
chmod 755 "$tmp"
mkdir "$tmp/user" "$tmp/mount"
mkdir -m 700 "$tmp/root"
chown $uid "$tmp/user"
cp "$faults/storms" "$faults/stall" "$tmp/user/"
file=$tmp/root/data

# Programs of the user: `storm` in the background, until `calm`. Storms that prepare something say "ready".
wait_ready() {
	for _ in $(seq 100); do
		! grep -q ready "$tmp/ready" || return 0
		sleep 0.1
	done
	return 1
}
storm() { # STORM [NUMBER]...; $program is another program that runs it
	: >"$tmp/ready"
	(cd "$tmp/user" && exec setpriv --reuid $uid --regid $uid --clear-groups \
		./"${program:-storms}" "$@") \
		>"$tmp/ready" 2>"$tmp/.storm" &
	storms="$storms $!"
	case $1 in
	mappings | maps) wait_ready ;;
	*) sleep 0.3 ;;
	esac
}
stall() {
	: >"$tmp/ready"
	(cd "$tmp/user" && exec unshare -m ./stall "$tmp/mount" "$1" $uid) >"$tmp/ready" 2>"$tmp/.storm" &
	storms="$storms $!"
	wait_ready
	# The server has stopped by then.
	[ "$1" != text ] || sleep 1.2
}
calm() {
	for one in $storms; do
		kill -s KILL -- "-$one" "$one" 2>"$tmp/.calm"
		wait "$one" 2>"$tmp/.calm"
	done
	storms=
	find /tmp -maxdepth 1 -user $uid -name 'perf-*.map' -delete
	rm -rf "$tmp"/user/one.map "$tmp"/user/jit-*.dump
}
storms=
chosen=${NEIGHBOUR_CASES-FUSE names memfd comm anonymous threads forks mappings maps jitdump elf python}
wants() {
	case " $chosen " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}
trap 'calm; rm -rf "$tmp"' EXIT

# watched NAME COMMAND...: the recorder with these arguments; then $ms, $kib, $files and $child_kib are known.
watched() {
	rm -f "$file"
	"$faults/storms" watch 20 "$@" >"$tmp/watched" 2>"$tmp/err"
	read -r _ kib files threads ms cpu_ms status <<END
$(grep '^recorder' "$tmp/watched")
END
	child_kib=$(awk '$1 == "child" && $2 > kib { kib = $2 } END { print kib + 0 }' "$tmp/watched")
}
# bounds NAME MS: the recording was to take that long.
bounds() {
	comment "$1: $ms ms, $cpu_ms ms of CPU, $kib KiB, $files files, $threads threads; child $child_kib KiB; $(
		sed -n 's/^sprof: \([0-9]* samples, [0-9]* lost\).*/\1/p' "$tmp/err")"
	check "$1: the recorder ends in time ($ms ms for $2, status $status)" \
		test "$status" = 0 -a "$ms" -le $(($2 + END_MS))
	check "$1: memory is bounded ($kib and $child_kib KiB)" \
		test "$kib" -le $MEMORY_KIB -a "$child_kib" -le $MEMORY_KIB
	check "$1: open files are bounded ($files)" test "$files" -le $((FILES_PER_CPU * $(nproc) + 64))
	"$SPROF" info -i "$file" --format json >"$tmp/info" 2>&1
	check "$1: the recording is whole" grep -q '"damage": *\[\]' "$tmp/info"
}
peers() { # NAME
	for peer in $NEIGHBOUR_PEERS; do
		watched "$peer" record -q -F 997 -g -a -o "$file" -- sleep $SECONDS_RECORDED
		comment "$1: $peer: $ms ms, $kib KiB, status $status, $(wc -c <"$file") bytes"
	done
}
all() { # NAME OPTION...
	all_name=$1
	shift
	watched "$SPROF" record -a --duration $SECONDS_RECORDED -o "$file" "$@"
	bounds "$all_name" $((SECONDS_RECORDED * 1000))
	peers "$all_name"
}
# The command's samples of 1 ms are within 5 % of the CPU time that it measured.
a_command() { # NAME
	watched "$SPROF" record -e cpu-clock -c 1000000 -o "$file" -- "$workload/proportions" $SECONDS_RECORDED
	bounds "$1" "$(sed -n 's/.*; \([0-9]*\)\.\([0-9]\).* s elapsed.*/\1\200/p' "$tmp/err")"
	"$SPROF" report -i "$file" --no-children -s comm --format csv 2>"$tmp/.report" | tr -d '"' >"$tmp/csv"
	check "$1: the command's samples are those of its CPU time" awk -F , -v run="$(
		awk '$1 == "total" { print $4 / 1e6 }' "$tmp/watched")" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$column["comm"] == "proportions" { samples = $column["self_samples"] }
		END { print samples, run; exit !(samples > 0.9 * run && samples < 1.1 * run) }' "$tmp/csv"
	check "$1: its code has names" awk -F '"' '
		/without a recorded mapping/ { unmapped = 1 } END { exit unmapped }' "$tmp/.report"
}

# A file system without answers.
# It stops the recorder at once or never.
SECONDS_RECORDED=1
if ! wants FUSE; then
	comment "no FUSE"
elif ! (unshare -m true) 2>"$tmp/.fuse" || [ ! -w /dev/fuse ]; then
	skip "a file system that does not answer" "/dev/fuse or unshare(1) is missing"
else
	for kind in spin sleep text dies; do
		stall $kind
		if ! grep -q ready "$tmp/ready"; then
			skip "FUSE, $kind" "$(cat "$tmp/.storm")"
			continue
		fi
		all "FUSE, $kind" --call-graph dwarf
		all "FUSE, $kind, --off-cpu" --off-cpu
		a_command "FUSE, $kind, a command"
		calm
	done
fi

# Storms of records, which grow with time.
SECONDS_RECORDED=2
for kind in names memfd comm anonymous threads forks; do
	wants $kind || continue
	storm $kind
	noisy all "$kind"
	noisy a_command "$kind, a command"
	calm
done
if wants mappings; then
	storm mappings 100
	noisy all "60,000 mappings in 100 processes"
	noisy a_command "60,000 mappings in 100 processes, a command"
	calm
fi

# Names of generated code.
if wants maps; then
	storm maps 100 6
	noisy all "perf maps that are links"
	calm
fi
if wants jitdump; then
	storm jitdump
	noisy all "a growing jitdump"
	calm
fi

# A program of 250 MB: a recording of stack copies stores program files.
if wants elf && command -v "${CC%% *}" >"$tmp/.cc"; then
	head -c 250M /dev/urandom >"$tmp/user/pad"
	cat >"$tmp/user/large.c" <<'END'
__asm__(".section .rodata\n.incbin \"pad\"\n");
int main(void) { for (volatile unsigned long i = 0;; i++); }
END
	(cd "$tmp/user" && $CC -O1 large.c -o large && rm pad)
	program=large
	storm busy
	noisy all "a program of 250 MB" --call-graph dwarf --unwind later
	check "a program of 250 MB: it does not fill the recording" \
		test "$(wc -c <"$file")" -lt 100000000
	calm
fi

# An interpreter that leads anywhere.
if wants python; then
	cp "$tmp/user/storms" "$tmp/user/python3.11"
	program=python3.11
	storm python
	storm python
	noisy all "a hostile interpreter" -F 997
	check "a hostile interpreter: most samples are not looked at" \
		test "$cpu_ms" -lt $((SECONDS_RECORDED * 1000 / 3))
	calm
fi
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# recovery.sh: recordings that are cut, changed, or have holes, and records that say to be longer
# than they are: what can be read is read, and what cannot is said. DAMAGE_STEP (0: few places) is how
# far apart the places are that are damaged; of 1, each byte and record of each recording. Recordings
# of perf, whole and killed, among them.
#
# Parallel: it judges files; perf records only with DAMAGE_STEP.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/faults/lib.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"
damage=$top_builddir/tests/faults/damage
step=${DAMAGE_STEP:-0}

# For the many copies; /tmp may be a disk.
fast=$tmp
if [ -w /dev/shm ]; then
	fast=$(mktemp -d /dev/shm/sprof-test.XXXXXX) || exit 99
	trap 'rm -rf "$tmp" "$fast"' EXIT
fi
record() { # FILE, then record's arguments
	record_file=$1
	shift
	"$SPROF" record -q --no-names "$@" -- "$workload/proportions" 0.2 >"$record_file.out" 2>"$tmp/err"
}
record "$fast/plain" -F 250 -g -o "$fast/plain"

damaged() { # FILE HOW STEP
	damaged_step=$3
	[ "$step" = 0 ] || damaged_step=$step
	if "$damage" "$2" "$1" "$damaged_step" >"$tmp/said" 2>&1; then
		ok "$(basename "$1"), $(tail -n 1 "$tmp/said")"
	else
		not_ok "$(basename "$1"), $2" "$(cat "$tmp/said")"
	fi
}
damaged "$fast/plain" cut 151
damaged "$fast/plain" flip 331
damaged "$fast/plain" zero 1024
damaged "$fast/plain" drop 1024
damaged "$fast/plain" grow 2

# put_u64 FILE OFFSET VALUE
put_u64() {
	put_value=$3
	for put_byte in 0 1 2 3 4 5 6 7; do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o $((put_value & 255)))"
		put_value=$((put_value >> 8))
	done | dd of="$1" bs=1 seek="$2" conv=notrunc 2>"$tmp/.dd"
}

# Stored names that are cut are reported.
"$SPROF" record -q -o "$fast/named" -- "$workload/proportions" 0.2 >"$tmp/out" 2>"$tmp/err"
await_names "$fast/named"
size=$(stat -c %s "$fast/named")
names=$(tail -c 8 "$fast/named" | od -A n -t d8 | tr -d ' ')
for less in 1 31 $((names / 2)) $((names - 17)) $((names - 3)); do
	head -c $((size - less)) "$fast/named" >"$tmp/cut"
	status "stored names without their last $less bytes: status 1" 1 "$SPROF" info -i "$tmp/cut"
	check "this is reported" grep -q 'the stored names are incomplete' "$tmp/out" "$tmp/err"
done

# The header's size of the data is wrong: the samples are all there, and it is said, with 1.
"$SPROF" info -i "$fast/plain" --format json >"$tmp/info"
samples=$(number "$tmp/info" SAMPLE)
size=$(od -A n -t d8 -j 48 -N 8 "$fast/plain" | tr -d ' ')
for wrong in 0 8 72 $(seq 136 1000 "$size") $((size - 4)) $((size / 2)) $((size + 104)) \
	$((size * 100)) -1; do
	cp "$fast/plain" "$tmp/sized"
	put_u64 "$tmp/sized" 48 $wrong
	"$SPROF" report -i "$tmp/sized" --format json >"$tmp/report" 2>"$tmp/err"
	status=$?
	got=$(number "$tmp/report" samples)
	check "data.size $wrong of $size: all samples ($got), status $status" \
		test "$got,$status" = "$samples,1"
	says "data.size $wrong: is said with its offset" 'sized: offset 0x'
done

# A killed recorder of perf's, and a hole in what it left: what lies behind is read.
put_u64 "$tmp/sized" 48 0
begin=$(od -A n -t d8 -j 40 -N 8 "$fast/plain" | tr -d ' ')
dd if=/dev/zero of="$tmp/sized" bs=1 seek=$((begin + size / 4 * 3)) count=200 \
	conv=notrunc 2>"$tmp/.dd"
"$SPROF" report -i "$tmp/sized" --format json >"$tmp/report" 2>"$tmp/err"
got=$(number "$tmp/report" samples)
check "no data.size, and a hole: what is behind it is read ($got of $samples)" \
	test "$got" -ge $((samples - 6))
says "no data.size, and a hole: the hole is said" 'bytes are skipped'
says "no data.size, and a hole: so is its time" 'records between [0-9.]* s and [0-9.]* s are missing'
head -c $((begin + size / 10 * 9)) "$fast/plain" >"$tmp/short"
"$SPROF" report -i "$tmp/short" --format json >"$tmp/report" 2>"$tmp/err"
says "the last tenth is missing: so is said, by offset and time" \
	'offset 0x30: .*(records after [0-9.]* s are missing)'
[ "$step" = 0 ] && finish

record "$fast/zip" -z -F 500 -g -o "$fast/zip"
record "$fast/later" -F 100 --call-graph dwarf --unwind later -o "$fast/later"
"$SPROF" record -q -F 500 -g -o - -- "$workload/proportions" 0.2 2>"$tmp/err" >"$fast/pipe"
recordings="zip later pipe"
if command -v perf >/dev/null; then
	perf record -q -F 500 -g -o "$fast/perf" -- "$workload/proportions" 0.2 >"$tmp/out" 2>&1
	perf record -q -z -F 500 -g -o "$fast/perf-zip" -- "$workload/proportions" 0.2 >"$tmp/out" 2>&1
	recordings="$recordings perf perf-zip"
fi
for name in $recordings; do
	for how in cut flip zero drop grow; do
		damaged "$fast/$name" $how 1
	done
done
finish

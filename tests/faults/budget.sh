#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that cost their writer a few kilobytes and their reader gigabytes, or minutes.
#
# Parallel: nothing is recorded, memory is measured.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/lib.sh"

faults=$top_builddir/tests/faults
made=$tmp/made

# ASan keeps freed memory for a while.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=8"

# report FILE: of a program that ran there; the memory that it took becomes $peak (KiB).
report() {
	recording "$tmp/data" <<END
event cpu-clock
comm 100 100 made
mmap 100 0x401000 0x1000 0x1000 $1
sample 0 100 100 0 1000000 1000000 0x401010
END
	timeout 60 "$faults/peak" "$SPROF" report -i "$tmp/data" \
		--sort symbol,srcline --no-debuginfod >"$tmp/out" 2>"$tmp/err"
	status=$?
	peak=$(tail -n 1 "$tmp/out")
}

"$faults/hostile" code "$made"
report "$made"
check "a small file" [ "$status" = 0 ]
# Sanitizers take several times as much.
most=$((peak * 4 + 64 * 1024))

# costs_little KIND COUNT [WORDS]: reported like any other file, and with WORDS.
costs_little() {
	rm -f "$made" "$tmp/hole"
	"$faults/hostile" "$1" "$made" "$2"
	[ "$1" != debuglink ] || "$faults/hostile" hole "$tmp/hole" "$2"
	report "$made"
	check "$1 $2: little memory and time" [ "$status" = 0 -a "$peak" -le $most ]
	comment "$peak KiB, at most $most"
	[ -z "${3:-}" ] || reported "$1 $2: the report has the reason" "$3"
}

# reported NAME WORDS [OPTION]...
reported() {
	reported_name=$1 reported_words=$2
	shift 2
	timeout 60 "$SPROF" report -i "$tmp/data" --sort symbol,srcline --no-debuginfod --format json "$@" \
		>"$tmp/words" 2>"$tmp/err"
	check "$reported_name" grep -q "$reported_words" "$tmp/words"
}

costs_little zeros 1600 '.debug_info: offset 0x0: cannot be read, or unpacked'
costs_little zeros 8 '.debug_info: offset 0x0: a unit of impossible length'
costs_little units 20000 'too many units share line tables'
costs_little info 60000 'on the disk'
costs_little symtab 1000 'on the disk'
costs_little strings 1000 'on the disk'
costs_little names 1000 'on the disk'
costs_little headers 3000 'section headers'
costs_little headers 15 'on the disk'
costs_little relocations 4000 'on the disk'
costs_little notes 4000 'on the disk'
costs_little debuglink 60000

# map NAME: the same of code without a file, which a perf map names.
map() {
	mkdir -p "$tmp/root/tmp"
	recording "$tmp/data" <<END
event cpu-clock
comm 100 100 made
mmap 100 0x1000 0x10000 0 //anon
sample 0 100 100 0 1000000 1000000 0x1010
END
	timeout 60 "$faults/peak" "$SPROF" report -i "$tmp/data" \
		--symfs "$tmp/root" --sort symbol >"$tmp/out" 2>"$tmp/err"
	status=$?
	peak=$(tail -n 1 "$tmp/out")
	check "$1: little memory and time" [ "$status" = 0 -a "$peak" -le $(($2 + most)) ]
	comment "$peak KiB, at most $(($2 + most))"
}

perf_map=$tmp/root/tmp/perf-100.map
mkdir -p "$tmp/root/tmp"
# 60 bytes for each line: its own 10, its name, its entry and its piece.
"$faults/hostile" perfmap "$perf_map" 4000000
map "perf map of short lines" $((4000000 / 1024 * 60))
truncate -s 500M "$perf_map.hole" && mv "$perf_map.hole" "$perf_map"
map "perf map with a hole" 0
reported "perf map with a hole: the report has the reason" 'is a sparse file' --symfs "$tmp/root"

# A recording with a hole of 200 GiB after the first records as its data (little-endian files).
truncate -s 200G "$tmp/data" &&
	printf '\000\000\000\000\062\000\000\000' |
	dd of="$tmp/data" bs=1 seek=48 conv=notrunc 2>"$tmp/err"
timeout 60 "$faults/peak" "$SPROF" report -i "$tmp/data" --sort comm >"$tmp/out" 2>"$tmp/err"
status=$?
check "recording with a hole: damaged, in little time" [ $status = 1 ]
check "recording with a hole: the samples are there" grep -q '100.00%.*made' "$tmp/out"
check "recording with a hole: little memory" [ "$(tail -n 1 "$tmp/out")" -le $most ]
finish

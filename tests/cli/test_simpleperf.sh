#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Symbols that simpleperf keeps in its recordings: each frame has the name that simpleperf's own
# formula leads to, where the recording has file offsets and where it is too old for them, in DEX
# files and in JIT code.
. "$top_srcdir/tests/cli/lib.sh"

corpus=$SPROF_CORPUS/simpleperf
[ -d "$corpus" ] || skip_all "no recordings at $corpus (SPROF_CORPUS)"
for tool in python3 c++filt; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done

# Frames of each in files with symbols.
while read -r file frames; do
	"$SPROF" script --symfs /nonexistent --show-mmap-events \
		-F comm,pid,tid,time,ip,sym,dso -i "$corpus/$file" >"$tmp/script" 2>"$tmp/err"
	python3 "$top_srcdir/tests/cli/simpleperf.py" "$corpus/$file" <"$tmp/script" \
		>"$tmp/got" 2>&1
	echo "$frames" >"$tmp/wanted"
	same "$file: $frames frames" "$tmp/wanted" "$tmp/got"
done <<END_OF_FILES
perf_display_bitmaps.data 26076
perf_merge1.data 360
perf_need_proguard_mapping.data 2
perf_with_callchain_record.data 274
perf_with_jit_symbol.data 2988
perf_with_trace_offcpu.data 13307
runtest_two_functions_arm64_perf.data 6
two_process_perf.data 577
END_OF_FILES

finish

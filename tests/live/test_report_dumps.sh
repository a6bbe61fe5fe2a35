#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `sprof report` makes of the copies of stacks in perf's own recordings: perf's call
# chains, and the same ones however the file is read.
. "$top_srcdir/tests/tap.sh"
need_sampling
perf=$(command -v perf) || skip_all "needs perf, to record without us"
data=$tmp/perf.data

# The program's own part of folded chains, but of the few samples where perf 6.1 goes wrong
# between two instructions.
own_part() {
	awk '{
		count = $NF
		sub(/ [0-9]+$/, "")
		fields = split($0, frames, ";")
		chain = ""
		for (i = 1; i <= fields; i++)
			if (frames[i] ~ /^level_[0-9]$/)
				chain = chain ";" frames[i]
		sums[chain] += count
	}
	END { for (chain in sums) if (sums[chain] > 4) print chain }' | sort
}

folded() {
	"$SPROF" report --format folded --no-inline "$@" 2>"$tmp/err"
}

"$perf" record -q -B -e cpu-clock -F 1999 --call-graph dwarf,4096 -o "$data" -- \
	"$workload/deep" 25 0.5 6 >"$tmp/out" 2>&1 || skip_all "$(cat "$tmp/out")"
"$perf" script --no-inline -F comm,ip,sym -i "$data" 2>"$tmp/err" | awk '
	function flush() {
		if (depth)
			print "deep" chain, 1
		depth = 0
		chain = ""
	}
	/^$/ { flush(); next }
	/^[^ \t]/ { next }
	{ chain = ";" $2 chain; depth++ }
	END { flush() }' | own_part >"$tmp/wanted"
cp "$tmp/err" "$tmp/perf.err"
folded -i "$data" | own_part >"$tmp/got"
if [ -s "$tmp/wanted" ]; then
	same "the call chains are perf's" "$tmp/wanted" "$tmp/got"
else
	skip "the call chains are perf's" "perf printed none: $(head -n 1 "$tmp/perf.err")"
fi
deep=$(awk -F ';' 'NF == 27 { n++ } END { print n + 0 }' "$tmp/got")
check "and as deep as the program" test "$deep" -ge 3

folded -i "$data" | sort >"$tmp/wanted"
folded -j 1 -i "$data" | sort >"$tmp/got"
same "one thread makes the same of them" "$tmp/wanted" "$tmp/got"
folded -i - <"$data" | sort >"$tmp/got"
same "and so they are from standard input" "$tmp/wanted" "$tmp/got"
cat "$data" | folded -i - | sort >"$tmp/got"
same "and from a pipe" "$tmp/wanted" "$tmp/got"

# 60 calls of this are more than 1 KB: all are cut, and say so.
"$perf" record -q -B -e cpu-clock -F 1999 --call-graph dwarf,1024 -o "$data" -- \
	"$workload/deep" 60 0.3 >"$tmp/out" 2>&1
"$SPROF" report --format csv --no-inline -s symbol -i "$data" >"$tmp/table" 2>"$tmp/err"
folded -i "$data" | awk -F ';' '
	/level_[0-9].*level_[0-9]/ {
		all++
		whole += /;_start;|;\[truncated/
	}
	END { exit !(all && whole == all) }'
check "what is cut is shown as cut" test $? = 0
# If one whole stack was taken at the right moment, it completes all others: 1 run in 30.
"$SPROF" report -i "$data" >"$tmp/out" 2>&1
whole=$(sed -n 's/.*stacks:* >*\([0-9]*\)[.0-9]*% complete.*/\1/p' "$tmp/out")
if [ "${whole:-0}" -ge 99 ]; then
	skip "a size is told that would do" "all stacks could be completed"
else
	check "a size is told that would do ($whole % are whole)" \
		grep -q 'larger stack copy: --call-graph dwarf,[0-9]' "$tmp/out"
fi
"$SPROF" report --unwinder none -i "$data" 2>&1 | grep -q '^stacks: 100% missing'
check "--unwinder none unwinds nothing" test $? = 0
"$SPROF" report --unwinder nobody -i "$data" >"$tmp/out" 2>&1
check "an unwinder must be one" grep -q "unknown unwinder 'nobody'" "$tmp/out"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The judge of call chains, tests/workload/chains, sees what is wrong with them.
. "${top_srcdir:-.}/tests/tap.sh"

cat >"$tmp/truth" <<'END'
main run outer leaf!
main run! quick!
main sort * compare!
thread work
END

# judged NAME VERDICT CHAIN...: all of the chains are that.
judged() {
	name=$1 verdict=$2
	shift 2
	for chain; do
		echo "comm;$chain 3"
	done | "$workload/chains" "$tmp/truth" >"$tmp/got" 2>"$tmp/shown"
	wanted=$(awk -v verdict="$verdict" -v n=$(($# * 3)) 'BEGIN {
		count = split("complete truncated wrong foreign unmarked", all, " ")
		line = "samples " n
		for (i = 1; i <= count; i++) {
			is = all[i] == verdict || (verdict == "unmarked" && all[i] == "truncated")
			line = line " " all[i] " " (is ? n : 0)
		}
		print line
	}')
	if [ "$(cat "$tmp/got")" = "$wanted" ]; then
		ok "$name"
	else
		not_ok "$name" "wanted: $wanted
got:    $(cat "$tmp/got")"
	fi
}

judged "whole chains" complete '_start;main;run;outer;leaf' '_start;[libc.so.6];main;run;outer' \
	'clone3;thread;work' '_start;main;run;quick'
judged "the kernel behind them" complete '_start;main;run;outer;leaf;irq_[k];tick_[k]' \
	'_start;main;run;irq_[k];leaf_[k]'
judged "other code where it may be" complete '_start;main;memcpy' '_start;main;sort;qsort;merge;compare' \
	'_start;main;sort;compare' '_start;main;run;outer;memcpy;[libc.so.6]'
judged "what compilers append to names" complete '_start;main;run.cold;outer.part.0;leaf.isra.1'
judged "a frame left out" wrong '_start;main;run;leaf' '_start;main;outer;leaf' '_start;main;run;compare' \
	'_start;main;leaf'
judged "a frame too many" wrong '_start;main;run;run;outer;leaf' '_start;main;run;outer;leaf;leaf' \
	'_start;main;main;run'
judged "other code where it cannot be" wrong '_start;main;run;memcpy' '_start;main;run;outer;leaf;memcpy' \
	'_start;main;run;outer;memcpy;leaf' '_start;main;memcpy;run;outer;leaf' \
	'_start;main;sort;qsort;compare;memcpy'
judged "too much before main" wrong '_start;a;b;c;d;main;run;outer;leaf'
judged "chains of two callers" wrong '_start;main;sort;outer;leaf' 'clone3;thread;run;outer'
judged "chains that say they are cut" truncated '[truncated stacks];outer;leaf' \
	'[truncated: unreadable memory];leaf' '[truncated: no unwind information for x];run;outer' \
	'[truncated: recorder overloaded];memcpy;compare' '[truncated stacks];qsort;compare'
judged "cut chains that are wrong" wrong '[truncated stacks];run;leaf' '[truncated stacks];leaf;outer'
judged "chains that do not say that they are cut" unmarked 'outer;leaf' '_start;run;outer;leaf' 'main;run' 'leaf'
judged "nothing of the program" foreign '_start;[ld.so]' '' 'exec_[k]' '[truncated stacks];memcpy'
judged "frames left out" complete '_start;main;run;[frames omitted];leaf' \
	'_start;main;[frames omitted];outer;leaf;irq_[k]'
judged "wrong ones beside those left out" wrong '_start;main;leaf;[frames omitted];leaf' \
	'_start;main;run;[frames omitted];run;leaf'
echo 'comm;_start;main;leaf 7' | "$workload/chains" "$tmp/truth" >/dev/null 2>"$tmp/shown"
echo '7 wrong: _start;main;leaf' >"$tmp/wanted"
same "wrong chains are shown" "$tmp/wanted" "$tmp/shown"
finish

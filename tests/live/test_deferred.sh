#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Deferred call chains: the kernel records the user part when the thread returns to user space.
# Report and script join them with their samples; they equal chains recorded at once.
#
# Parallel: sets of stacks are compared, not times.
. "$top_srcdir/tests/tap.sh"
need_sampling
export XDG_CACHE_HOME="$tmp/cache"

# If the kernel does not support it, a note reports that, and chains are recorded at once.
if ! "$SPROF" record -o "$tmp/data" --call-graph fp,defer -e cpu-clock -F 997 -- \
	"$workload/deep" 20 0.1 >"$tmp/out" 2>"$tmp/err"; then
	not_ok "--call-graph fp,defer is taken by any kernel" "$(cat "$tmp/err")"
	finish
fi
ok "--call-graph fp,defer is taken by any kernel"
if grep -q 'needs Linux 6.19 or later' "$tmp/err"; then
	"$SPROF" report -i "$tmp/data" --format folded --no-inline 2>"$tmp/out" >"$tmp/folded"
	check "user frames are read at once then, which is said" \
		grep -q 'level_[0-9];level_[0-9];level_[0-9]' "$tmp/folded"
	skip "deferred chains" "$(sed -n 's/^sprof: //; /6\.19/p' "$tmp/err" | head -n 1)"
	finish
fi

# recorded NAME OPTION...: to $tmp/NAME
recorded() {
	name=$1
	shift
	"$SPROF" record -q -o "$tmp/$name" "$@" >"$tmp/out" 2>"$tmp/err" && return 0
	not_ok "$name is recorded" "$(cat "$tmp/err")"
	finish
}

# How many records of that type there are.
records() { # NAME TYPE
	"$SPROF" info -i "$tmp/$1" --format json | sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p"
}

# The stacks of the workload, with how many samples each has, by report. A chain that is read at
# once may end in a word that is no address, so the reasons for its end differ.
stacks() { # NAME COMM
	"$SPROF" report -i "$tmp/$1" --format folded --no-inline 2>"$tmp/err" | grep "^$2;" |
		sed 's/;\[truncated[^]]*\]/;[truncated]/' | sort
}

# Each by its own chain, innermost first on a line, by script. What is read at once may end in a word
# that is no address.
chains() { # NAME COMM
	"$SPROF" script -i "$tmp/$1" -F comm,ip,sym --no-inline 2>"$tmp/err" | awk -v comm="$2" '
		NF && !/^[ \t]/ { stack = $1; next }
		NF && $2 != "[unknown]" { stack = stack ";" $2 }
		NF { next }
		stack { if (index(stack, comm ";") == 1) print stack; stack = "" }' | sort | uniq -c
}

# Samples in the kernel: of each system call of known number, chains are equal one by one.
event=syscalls:sys_enter_openat
if "$SPROF" record -q -e $event -o "$tmp/probe" true >"$tmp/out" 2>"$tmp/err"; then
	for how in fp fp,defer; do
		recorded "$how" --call-graph $how -e $event -- "$workload/occurrences" 0 0 200
	done
	check "user frames of $(records fp,defer CALLCHAIN_DEFERRED) samples come in records of their own" \
		test "$(records fp,defer CALLCHAIN_DEFERRED)" -ge 200
	stacks fp occurrences >"$tmp/wanted"
	stacks fp,defer occurrences >"$tmp/got"
	check "each call is there" grep -q ' 20[0-9]$' "$tmp/got"
	same "report has the stacks of system calls that it has without" "$tmp/wanted" "$tmp/got"
	chains fp occurrences >"$tmp/wanted"
	chains fp,defer occurrences >"$tmp/got"
	same "so does script" "$tmp/wanted" "$tmp/got"
else
	skip "stacks of system calls" "$(head -n 1 "$tmp/err")"
fi

# Samples in user space: the stacks are few, so that both recordings have all of them.
for how in fp fp,defer; do
	recorded "$how" --call-graph $how -e cpu-clock:u -F 997 -- "$workload/deep" 30 0.7 4
	stacks "$how" deep >"$tmp/$how.stacks"
	awk '/;level_[0-9];.*;level_[0-9](;[^;]*)? [0-9]*$/ { sub(/ [0-9]*$/, ""); sub(/.*;main;/, "main;")
		if (split($0, call, ";") > 31) print }' "$tmp/$how.stacks" | sort -u >"$tmp/$how.deep"
	"$SPROF" report -i "$tmp/$how" --format json 2>"$tmp/err" | grep -o '"stacks": {[^}]*}' |
		head -n 1 >"$tmp/$how.ends"
	comment "$how: $(cat "$tmp/$how.ends")"
done
check "the program's stacks are there ($(wc -l <"$tmp/fp.deep"))" test -s "$tmp/fp.deep"
same "they are those that are taken at once" "$tmp/fp.deep" "$tmp/fp,defer.deep"
# The program's last system call may have no return.
check "hardly one is without its part in the program" awk '
	match($0, /"deferred": [0-9]*/) { missing = substr($0, RSTART + 12, RLENGTH - 12) }
	match($0, /"complete": [0-9]*/) { whole = substr($0, RSTART + 12, RLENGTH - 12) }
	END { exit !(whole > 50 && missing * 50 <= whole) }' "$tmp/fp,defer.ends"
finish

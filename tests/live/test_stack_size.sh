#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# More is copied of stacks while they need it, and no sample counts twice for that, or not at all.
. "$top_srcdir/tests/tap.sh"
need_sampling
: "${CXX:=c++}"
export CC CXX

"$SPROF" record -q -F 999 --call-graph dwarf -o "$tmp/data" true 2>"$tmp/err" ||
	skip_all "$(tail -n 1 "$tmp/err")"
sh "$top_srcdir/tests/workload/stacks/build.sh" "$tmp/stacks" omit >"$tmp/err" 2>&1 ||
	skip_all "$(tail -n 1 "$tmp/err")"
stacks=$tmp/stacks/stacks

# Prints number NAME of the recording; `alone`: whole stacks by the copies alone, of 1,000.
of() {
	"$SPROF" report -i "$tmp/data" --format json 2>/dev/null | tr -d ' \n' |
		sed 's/"rows".*//; s/.*"name"/"name"/' | tr ',{}' '\n\n\n' | sed 's/"//g' |
		awk -F : -v name="$1" '
			{ value[$1] = $2 }
			/^(complete|truncated|no_unwind_info|bad_memory|depth_limit|skipped|switched|none):/ { all += $2 }
			END {
				value["all"] = all
				value["alone"] = all ? int((value["complete"] - value["repaired"]) * 1000 / all) : 0
				printf "%.0f\n", value[name]
			}'
}

# recorded NAME COMMAND...: into $tmp/data
recorded() {
	name=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" && return 0
	not_ok "$name" "$(cat "$tmp/err")"
	return 1
}

# Frames of 36 KB in all: hardly any is whole in a copy of 8 KB.
fixed_copy() {
	if recorded "the copy may be fixed" "$SPROF" record -F 997 --call-graph dwarf,8192,fixed \
		-o "$tmp/data" -- "$stacks" large 1; then
		comment "fixed: $(of alone) of 1,000 of $(of all) are whole by the copy alone"
		check "the copy may be fixed" test "$(of alone)" -le 100
		"$SPROF" info --findings -i "$tmp/data" >"$tmp/out"
		if [ "$(of truncated)" = 0 ]; then
			skip "it is said what would do" "all stacks could be completed"
		else
			check "it is said what would do" grep -q -e '--call-graph dwarf,[1-9]' "$tmp/out"
		fi
	fi
}
noisy fixed_copy
copies_by_need() {
	for scope in cpu task; do
		if recorded "more is copied by need, by $scope" "$SPROF" record -F 997 --scope $scope \
			--call-graph dwarf -o "$tmp/data" -- "$stacks" large 1.5; then
			comment "by $scope: $(of alone) of 1,000 of $(of all) are whole by the copy alone"
			check "more is copied by need, by $scope" test "$(of alone)" -ge 900
		fi
	done
}
noisy copies_by_need

# Up, down, which takes a second at least, and up again.
cat >"$tmp/phases" <<END
"$stacks" large 1
"$stacks" alloca 3
"$stacks" large 1
times >"$tmp/times"
END
phases() {
	if recorded "samples stand for the time" "$SPROF" record -F 997 --call-graph dwarf \
		-o "$tmp/data" -- sh "$tmp/phases"; then
		used=$(tail -n 1 "$tmp/times" | tr 'ms' '  ' |
			awk '{ printf "%.0f\n", (60 * ($1 + $3) + $2 + $4) * 1e9 }')
		weight=$(of weight)
		comment "weight $weight ns of $used ns of CPU time, $(of alone) of 1,000 whole"
		check "none counts twice" test "$((weight / 1000))" -le $((used / 1000 * 120 / 100))
		check "none is missing" test "$((weight / 1000))" -ge $((used / 1000 * 88 / 100))
		"$SPROF" info -i "$tmp/data" >"$tmp/info" 2>&1
		check "all are of events that the file lists" sh -c \
			"! grep -i 'unknown\|damage\|cannot' \"$tmp/info\""
	fi
}
noisy phases
finish

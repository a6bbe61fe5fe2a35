#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report of several recordings: rows and stacks are the sums of those of each, added up here by awk.
. "$top_srcdir/tests/cli/lib.sh"
export LC_ALL=C
cd "$tmp" || exit 99
report() { "$SPROF" report -q "$@"; }

# Process 7 is another program in each; events are in another order.
recording a.data <<'END'
event cpu-clock
event page-faults
comm 7 7 one
comm 8 8 shared
sample 0 7 7 0 1000000000 10 0x401000
sample 0 7 7 0 1500000000 10 0x401000
sample 0 8 8 0 2000000000 10 0x402000
sample 1 8 8 0 2000000000 1 0x402000
END
recording b.data <<'END'
event page-faults
event cpu-clock
comm 7 7 two
comm 8 8 shared
sample 1 7 7 0 90000000000 10 0x401000
sample 1 8 8 0 91000000000 30 0x402000
sample 0 8 8 0 94000000000 2 0x402000
END

# added FILE...: rows of comm, event, samples and weight, added up.
added() {
	for file; do
		report --format csv -s comm,event -i "$file"
	done | awk -F, '
	$1 == "self" { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ key = $column["comm"] "," $column["event"]
	  samples[key] += $column["self_samples"]; weight[key] += $column["self_weight"] }
	END { for (key in samples) print key, samples[key], weight[key] }' | sort
}
summed() {
	report --format csv -s comm,event "$@" | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ print $column["comm"] "," $column["event"], $column["self_samples"], $column["self_weight"] }' |
		sort
}
added a.data b.data >want
check "each has rows" test "$(wc -l <want)" = 4
summed a.data b.data >got
same "rows are added" got want
summed -i a.data b.data >got
same "-i and a FILE are two recordings" got want
added a.data a.data b.data >want
summed a.data a.data b.data >got
same "a recording given twice counts twice" got want

"$SPROF" report a.data b.data | head -n 1 >got
echo "sum of 2 recordings  a.data b.data" >want
same "the first line names the recordings" got want
json() {
	"$SPROF" report --format json "$@" | grep -A 3 '"recordings"'
}
prints "the JSON lists them" json a.data b.data <<'END'
 "recordings": [
  {"path": "a.data", "damaged": false},
  {"path": "b.data", "damaged": false}
 ],
END
check "one recording has no list" test -z "$(json a.data)"
time_rows() {
	"$SPROF" report -s time -e cpu-clock --time-quantum 1s "$@" | awk '/[+]/ { print $3, $1 }'
}
prints "times are offsets from each recording's first sample" time_rows a.data b.data <<'END'
+0.000 42.86%
+1.000 57.14%
END
got=$(report --format csv -s comm --time +1,+2 a.data b.data | awk -F, 'NR > 1 { n += $4 } END { print n }')
check "--time is of each recording's own clock: $got of 3 samples" test "$got" = 3
fails "an event that none has" 1 "$SPROF" report -e no a.data b.data <<'END'
sprof: no recording has an event 'no'; 'sprof info -i FILE' lists a recording's events
END
check "a missing recording is an error" sh -c '! "$SPROF" report a.data missing 2>/dev/null'
cat a.data >damaged.data
head -c 100 /dev/zero >>damaged.data
truncate -s -150 damaged.data
check "damage of one is the status of all" sh -c '! "$SPROF" report a.data damaged.data >/dev/null 2>&1'

# One missing file in two recordings is one finding with the sum of both shares.
for file in c d; do
	{
		printf 'event cpu-clock\ncomm 7 7 demo\nmmap 7 0x1000 0x1000 0 /nowhere/demo\n'
		echo 'sample 0 7 7 0 1000 250000 0x1234'
		[ $file = c ] || echo 'sample 0 7 7 0 2000 250000 0x401234'
	} | recording $file.data
done
missing() { "$SPROF" report "$@" | grep 'file not found'; }
prints "a finding on one file is stated once" missing c.data d.data <<'END'
  ! 67% of samples have no symbols (file not found): demo
END

# Stacks of real recordings. Those with context switches count ns, the others samples.
if [ -d "${SPROF_CORPUS-}" ]; then
	set --
	for file in "$SPROF_CORPUS"/*/*.data; do
		[ $# -lt 6 ] || break
		! "$SPROF" info -i "$file" --format json 2>/dev/null | grep -q '"SWITCH"' || continue
		report --format folded -e cpu-clock -i "$file" >folded 2>/dev/null && [ -s folded ] && set -- "$@" "$file"
	done
	check "the corpus has recordings with stacks" test $# = 6
	while [ $# -ge 2 ]; do
		for file in "$1" "$2"; do
			report --format folded -e cpu-clock -i "$file" 2>/dev/null
		done | awk '{ n = $NF; sub(/ [0-9]+$/, ""); sum[$0] += n }
			END { for (stack in sum) print stack, sum[stack] }' | sort >want
		report --format folded -e cpu-clock "$1" "$2" 2>/dev/null | sort >got
		same "stacks are added: ${1##*/} and ${2##*/}" got want
		shift 2
	done
else
	skip "stacks are added" "no \$SPROF_CORPUS"
fi
finish

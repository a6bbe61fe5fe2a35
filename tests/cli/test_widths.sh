#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Text on terminals of 60, 80 and 120 columns: no line is wider, and names stay readable.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
script -qec true /dev/null >/dev/null 2>&1 || skip_all "needs script"
command -v nm >/dev/null && command -v gcc >/dev/null || skip_all "needs gcc and nm"

# Two threads with long names, functions with long names in a file with a long name, waits.
for i in 0 1 2 3 4; do
	echo "int a_function_with_quite_a_long_name_$i(int n)"
	echo "{ volatile int x = n;"
	echo "return x + n; }"
done >a_source_file_with_a_long_name.c
echo "int main(void) { return 0; }" >>a_source_file_with_a_long_name.c
gcc -g -O0 -no-pie -o redis-server-7.2 a_source_file_with_a_long_name.c || skip_all "gcc does not link"
map=$(LC_ALL=C readelf -lW redis-server-7.2 | awk '$1 == "LOAD" && / R E / { print $3, $6, $2; exit }')
at() {
	nm redis-server-7.2 | awk -v name="a_function_with_quite_a_long_name_$1" '$3 == name { print "0x" $1 }'
}
recording waits <<END
event cpu-clock chain
event offcpu-time chain addr
arch x86_64
comm 7 7 redis-server-01
comm 7 8 bio_close_file_
mmap 7 $map $tmp/redis-server-7.2
switch 7 7 0 5000000000 in
switch 7 8 1 5000000000 in
$(for i in $(seq 40); do
	ns=$((5000000000 + i * 1000000)) at=$(at $((i % 4)))
	echo "sample 0 7 $((7 + i % 2)) $((i % 2)) $ns 1000000 $at $at $(at 4)"
done)
$(for i in $(seq 9); do
	ns=$((5040000000 + i * 20000000))
	printf 'with addr 203\nsample 1 7 7 0 %d 9000000 %s %s %s\nwith\n' $ns $(at 0) $(at 0) $(at 4)
	printf 'switch 7 7 0 %d out\nswitch 7 7 0 %d in\n' $ns $((ns + 9000000))
done)
switch 7 7 0 5319000000 out
switch 7 8 1 5319000000 out
END
recording clock <<END
event cpu-clock
event page-faults
comm 7 7 redis-server-01
mmap 7 $map $tmp/redis-server-7.2
$(for i in 0 1 2 3; do
	echo "sample 0 7 7 0 $((5000000000 + i)) 1000000 $(at $i)"
done)
sample 1 7 7 0 5000000000 1 $(at 3)
END

# wide COLUMNS ARGUMENT...: the screen of a terminal
wide() {
	columns=$1
	shift
	env TERM=xterm NO_COLOR=1 LC_ALL=C.UTF-8 SPROF_PAGER=cat script -qec \
		"stty cols $columns; \"\$SPROF\" $*" /dev/null </dev/null | tr -d '\r' >got
}

for columns in 60 80 120; do
	for view in "report -i waits" "report -i waits --mode cpu" "report -i waits --mode off-cpu" \
		"report -i waits --mode latency" "report -i waits -g" "report -i waits -g callee" \
		"report -i waits -T" "report -i waits -s comm,dso,function" \
		"report -i waits -s comm,pid,tid,dso,function --mode cpu" \
		"report -i clock -s comm,function,srcline,dso,event" \
		"report -i waits --percent-limit 9" "report -i waits --processes" \
		"info -i waits" "info --findings -i waits" \
		"annotate -i waits a_function_with_quite_a_long_name_1" "diff waits -- waits"; do
		wide "$columns" "$view"
		check "$columns columns: $view" \
			sh -c '[ $(wc -l <got) -gt 2 ] && [ $(LC_ALL=C.UTF-8 wc -L <got) -le $0 ]' "$columns"
		# (Blanks of a time line are times without samples.)
		check "$columns columns: $view: no line ends with a blank" sh -c '! grep -v "^  time:" got | grep " \$"'
	done
	wide "$columns" report -i waits
	check "$columns columns: a thread's name has at least 5 letters" \
		sh -c 'grep -q " redis" got && ! grep -qE " [a-z]{1,4}…" got'
done

for view in "list --limits" "stat -- true" "help waits" "report --help" "report -i waits --explain"; do
	wide 80 "$view"
	check "$view: no line ends with a blank" sh -c '! grep " \$" got'
done
wide 80 report -i waits
check "80 columns: the function gets the room of a needless key" grep -q "function  *comm$" got
wide 120 report -i waits -s comm,dso,function
check "120 columns: keys are whole" grep -q "redis-server-01  redis-server-7.2 " got
wide 60 report -i waits -s comm,dso,function
check "a key of -s is never dropped" grep -q "comm  *dso  *function" got
wide 60 report -i waits
check "60 columns: there are no intervals, and no legend for them" \
	sh -c 'grep -q "^ total" got && ! grep -q "low.high" got'
wide 80 report -i waits -T
check "the names of threads are whole" grep -q " redis-server-01 " got
check "no column is empty" sh -c '! grep -q "unknown.*waits" got'
wide 60 report -i waits -T
check "60 columns: no column of the longest wait" grep -q "waits$" got

for who in "" "setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all"; do
	[ -z "$who" ] || [ "$(id -u)" = 0 ] || continue
	[ -z "$who" ] || publish_programs
	$who "$SPROF" list --limits >got 2>err
	check "80 columns: list --limits in a file ${who:+of a user}" \
		sh -c '[ $(wc -l <got) -gt 40 ] && [ $(LC_ALL=C.UTF-8 wc -L <got) -le 80 ]'
done
wide 80 list --limits
check "80 columns: list --limits" sh -c '[ $(wc -l <got) -gt 40 ] && [ $(LC_ALL=C.UTF-8 wc -L <got) -le 80 ]'
# Messages wrap at blanks; in a pipe they are one line.
wide 60 report -i clock -T
check "60 columns: an error is whole, in several lines" sh -c '[ $(wc -l <got) -gt 1 ] &&
	[ "$(LC_ALL=C.UTF-8 wc -L <got)" -le 60 ] && tr -s "\n " " " <got | grep -q "clock has no context switches "'
check "in a pipe, it is one line" test \
	"$("$SPROF" report -i clock -T 2>&1 | grep -c 'context switches .SWITCH records., which mode wall needs$')" = 1

# COLUMNS is for pipes, too, and limits no rows.
"$SPROF" report -i waits >plain
COLUMNS=60 "$SPROF" report -i waits >got
check "COLUMNS sets the width in a pipe" sh -c '[ $(wc -L <plain) -gt 80 ] && [ $(wc -L <got) -le 60 ]'

# A line's number is never cut: rows differ by it.
for columns in 60 80; do
	wide $columns report -i clock -e cpu-clock -s comm,pid,dso,function,srcline
	grep -o ':[0-9][0-9]*$' got | LC_ALL=C sort -u >numbers
	printf ':11\n:2\n:5\n:8\n' >wanted
	check "$columns columns: a cut source line keeps its number" \
		sh -c 'cmp numbers wanted && grep -q "a.*…:" got'
done
finish

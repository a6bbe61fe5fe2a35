#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Remedies of findings help: each is taken from the finding that its cause makes, and applied; then
# the report has no such finding.
. "$top_srcdir/tests/tap.sh"
need_sampling
for tool in gcc python3; do
	command -v $tool >"$tmp/.which" || skip_all "needs $tool"
done
cd "$tmp" || exit 99

# remedy FILE CAUSE: prints the remedy of the report's finding; "none" if the finding has none, and
# nothing without a finding.
remedy() {
	"$SPROF" report -q -i "$1" -g caller --format json | python3 -c '
import json, sys
for finding in json.load(sys.stdin)["findings"]:
    if finding.get("cause") == sys.argv[1] and finding.get("share", 0) >= 0.02:
        print(finding.get("remedy", "none"))
        break' "$2"
}

# option NAME: prints the option of this name, with its value, in the remedy.
option() { grep -o -e "$1[ =][^ ,;)]*\(,[0-9][0-9]*\)\{0,1\}" .remedy | head -n 1; }

# finds FILE CAUSE: puts the remedy in .remedy.
finds() {
	remedy "$1" "$2" >.remedy
	check "$2 is found, with a remedy" grep -qv '^none$' .remedy
	comment "$(cat .remedy)"
}

# gone FILE CAUSE: the finding has gone, and there are samples.
gone() {
	check "without $2 after the remedy" test -z "$(remedy "$1" "$2")"
	check "which leaves samples" sh -c '"$1" info -i "$2" --format json |
		grep -q "\"samples\": *[1-9]"' sh "$SPROF" "$1"
}

record="$SPROF record -q -e cpu-clock:u -F 999"

no_unwind_info() {
	cat >main.c <<'END'
void assembly(void);
int main(void)
{
	for (int i = 0; i < 60; i++)
		assembly();
	return 0;
}
END
	for cfi in without with; do
		start= move= end=
		if [ $cfi = with ]; then
			start=.cfi_startproc move='.cfi_adjust_cfa_offset 24' end=.cfi_endproc
		fi
		cat >code.S <<END
	.globl assembly
	.type assembly, @function
assembly:
	$start
	sub \$24, %rsp
	$move
	mov \$20000000, %rcx
0:	dec %rcx
	jnz 0b
	add \$24, %rsp
	ret
	$end
	.size assembly, . - assembly
	.section .note.GNU-stack, "", @progbits
END
		gcc -g -O2 -o $cfi main.c code.S 2>.gcc || return
	done
	$record -o data -- ./without
	finds data no_unwind_info
	check "it names the directives" grep -q '\.cfi' .remedy
	$record -o data -- ./with
	gone data no_unwind_info
}

# Whether the finding's share is what the recorder lost: 0.3 of 0.5 s, but for some ticks.
about_three_fifths() {
	"$SPROF" report -q -i data --format json | python3 -c '
import json, sys
share = [f["share"] for f in json.load(sys.stdin)["findings"] if f.get("cause") == "lost"][0]
sys.exit(not 0.5 < share < 0.7)'
}

# The recorder is stopped for a time of the CPU, so that the small buffers overflow. Most losses are
# of other processes if the machine is busy.
lost() {
	for size in 16K ""; do
		if [ -z "$size" ]; then
			finds data lost
			check "three fifths of the command's time are lost" about_three_fifths
			size=$(option -m)
			size=${size#-m }
		fi
		$SPROF record -q -e cpu-clock:u -F 5000 --call-graph fp -m "${size:-16K}" -o data -- \
			sh -c 'kill -STOP $PPID; "$1" 10 0.3 50; kill -CONT $PPID; "$1" 10 0.2 50' sh \
			"$workload/deep" >.out
	done
	gone data lost
}

truncated() {
	$record --call-graph dwarf,1024 --unwind later -o data -- "$workload/deep" 200 0.3 1000 >.out
	finds data truncated
	# shellcheck disable=SC2046
	$record $(option --call-graph) --unwind later -o data -- "$workload/deep" 200 0.3 1000 >.out
	gone data truncated
}

# No copy holds stacks of 200 KB. Without frame pointers, only the view without callers is right.
deep_stacks() {
	cat >large.c <<'END'
#include <time.h>
volatile unsigned sink;
__attribute__((noinline)) unsigned large(unsigned depth)
{
	volatile char room[1024];
	room[depth] = 1;
	if (!depth)
		while (clock() < CLOCKS_PER_SEC / 4)
			for (unsigned i = 0; i < 1000000; i++)
				sink = sink * 3 + i;
	else
		sink += large(depth - 1);
	return room[depth] + sink;
}
int main(void)
{
	return large(200) == 1;
}
END
	gcc -O1 -g -fomit-frame-pointer -o large large.c 2>.gcc || return
	$record --call-graph dwarf -o data -- ./large
	finds data truncated
	check "the remedy is no larger copy" sh -c '! grep -q dwarf .remedy'
	view=$(grep -o -e --no-children .remedy)
	check "its view has no such finding" sh -c '"$1" report -q -i data $2 --format json >.view &&
		! grep -q "\"cause\": *\"truncated\"" .view' sh "$SPROF" "$view"
	# shellcheck disable=SC2046
	gcc -O1 -g $(grep -o -e -fno-omit-frame-pointer .remedy) -o large large.c
	# shellcheck disable=SC2046
	$record $(grep -o -e "--call-graph fp" .remedy) -o data -- ./large
	gone data truncated
}

# Threads with a large frame that use only its ends: the kernel's copy stops in the middle.
absent_pages() {
	cat >pages.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static double seconds;
volatile unsigned sink;
static double used(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}
__attribute__((noinline)) void burn(void)
{
	while (used() < seconds)
		for (unsigned i = 0; i < 10000; i++)
			sink = sink * 3 + i;
}
__attribute__((noinline)) void *large(void *argument)
{
	volatile char room[40000];
	room[0] = 1;
	burn();
	return room[0] ? NULL : argument;
}
int main(int argc, char **argv)
{
	seconds = atof(argv[2]);
	for (int i = 0; i < atoi(argv[1]); i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, large, NULL);
		pthread_join(thread, NULL);
	}
	return argc == 0;
}
END
	gcc -O1 -g -fomit-frame-pointer -pthread -o pages pages.c 2>.gcc || return
	$record -o data -- ./pages 1 0.04
	finds data truncated
	check "the remedy is a longer recording" grep -q '^record for longer' .remedy
	$record -o data -- ./pages 1 4
	gone data truncated
	$record -o data -- ./pages 40 0.01
	finds data truncated
	# shellcheck disable=SC2046
	gcc -O1 -g $(grep -o -e -fno-omit-frame-pointer .remedy) -pthread -o pages pages.c
	# shellcheck disable=SC2046
	$record $(grep -o -e "--call-graph fp" .remedy) -o data -- ./pages 40 0.01
	gone data truncated
}

depth_limit() {
	$record --call-graph fp --max-stack 16 -o data -- "$workload/deep" 100 0.3 50 >.out
	finds data depth_limit
	# shellcheck disable=SC2046
	$record --call-graph fp $(option --max-stack) -o data -- "$workload/deep" 100 0.3 50 >.out
	gone data depth_limit
}

frame_pointers() {
	$record --call-graph fp -o data -- ./with
	finds data truncated
	# shellcheck disable=SC2046
	$record $(option --call-graph) -o data -- ./with
	gone data truncated
}

# The finding is of the rows that a clock cannot tell from the code before them.
late() {
	$SPROF record -q -e cpu-clock -F 4999 -o data -- "$workload/waits" 0.5 pipe >.out
	$SPROF report -q -i data -s function --format json >.json
	check "late samples are found where 5 % are in their functions" python3 -c '
import glob, json
report = json.load(open(".json"))
names = ("_raw_spin_unlock_irq", "_raw_spin_unlock_irqrestore", "finish_task_switch",
         "raw_spin_rq_unlock_irq")
rows = [row for event in report["events"] for row in event["rows"]]
late = sum(row["self"] for row in rows if row["function"].split(".")[0] in names)
found = [f for f in report["findings"] if f["kind"] == "late"]
print(late, found)
assert bool(found) == (late >= 0.05)
# One line, and the remedy only where it can work: with a PMU of type 4 (PERF_TYPE_RAW).
pmu = any(open(name).read() == "4\n" for name in glob.glob("/sys/bus/event_source/devices/*/type"))
assert all(len(f["text"]) <= 76 and ("remedy" in f) == pmu for f in found)'
}
noisy late

case $(uname -m) in
x86_64)
	noisy no_unwind_info
	noisy frame_pointers
	;;
*) skip "no unwind information" "the assembly is x86_64's" ;;
esac
noisy lost
noisy truncated
noisy deep_stacks
noisy absent_pages
noisy depth_limit

# Short tasks. Users may not record whole CPUs: their remedy has what they may do.
short_tasks() {
	cat >short.sh <<'END'
i=0
while [ $i -lt 200 ]; do
	/bin/true
	i=$((i + 1))
done
END
	"$SPROF" record -q --scope task -o data -- sh short.sh
	finds data unsampled
	check "root's remedy has all CPUs" grep -q -e '--scope cpu' .remedy
	chmod 644 data
	# shellcheck disable=SC2046
	"$SPROF" record -q $(option --scope) -o data2 -- sh short.sh
	gone data2 unsampled
	as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
	$as_user "$SPROF" report -i data --format json >.json 2>.err
	check "a user's remedy has none" sh -c '
		grep "\"cause\": *\"unsampled\"" .json | grep -q "record at a higher rate" &&
			! grep -q -e "--scope cpu" .json'
	"$SPROF" record -q --scope task --switch-events -F 4999 -o data -- sh short.sh
	check "the user's remedies shrink it" python3 - "$SPROF" <<'END'
import json, subprocess, sys
report = json.loads(subprocess.run([sys.argv[1], "report", "-i", "data", "--format", "json"],
                                   capture_output=True, text=True, check=True).stdout)
shares = [f.get("share", 0) for f in report["findings"] if f.get("cause") == "unsampled"]
print(shares)
assert all(share < 0.45 for share in shares)
END
}
if [ "$(id -u)" = 0 ] && command -v setpriv >.which; then
	publish_programs
	noisy short_tasks
else
	skip "short tasks" "users are set by root"
fi
"$SPROF" record -F max --dry-run true >max 2>&1
check "-F max warns that it slows the program" \
	grep -q 'slow the program; its times include that' max

# The first samples of an interpreter are taken before it is found.
python_functions() {
	cat >short.py <<'END'
import sys
def work(n):
    return sum(i * i for i in range(n))
work(int(sys.argv[1]))
END
	python=$(python3 -c 'import sys; print(sys.executable)')
	for i in 1 2 3 4 5 6 7 8; do
		"$SPROF" record -q -F 2500 -o data -- "$python" short.py $((i * 10000))
		[ -z "$(remedy data python_functions)" ] || break
	done
	if [ -z "$(remedy data python_functions)" ]; then
		skip "Python functions" "the interpreter was found at once"
		return
	fi
	finds data python_functions
	check "the remedy is a longer run" grep -q 'record for longer' .remedy
	"$SPROF" record -q -F 2500 -o data -- "$python" short.py 10000000
	gone data python_functions
}
# Threads of a server that end with a request. A user follows remedies in turn: rates go
# down, and no remedy comes twice.
python_server() {
	cat >server.py <<'END'
import http.client, http.server, json, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.wfile.write(json.dumps([{"name": str(i)} for i in range(200)]).encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
for i in range(600):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", "/")
    connection.sock.recv(10)
    connection.close()
END
	options="-F 20000" followed= again=
	for step in 1 2 3 4; do
		# shellcheck disable=SC2086
		"$SPROF" record -q $options -o data -- "$python" server.py 2>.err
		"$SPROF" report -q -i data --format json >.json
		grep -o '"remedy": "[^"]*' .json >.remedies
		comment "$options: $(tr '\n' ' ' <.remedies)"
		next=$(grep -o -e '-F [0-9]*' -e '--threads --wakeup-events 1' -e '--mmap-flush 8' \
			.remedies | head -n 1)
		[ -n "$next" ] || break
		case " $followed " in *" $next "*) again=$next ;; esac
		case $next in
		-F*) [ "${next#-F }" -lt "$(echo "$options" | grep -o -e '-F [0-9]*' | cut -c 4-)" ] ||
			again=$next
			options="$next $(echo "$options" | sed 's/-F [0-9]*//')" ;;
		*) options="$options $next" ;;
		esac
		followed="$followed $next"
	done
	check "no remedy is advised again: $followed" test -z "$again"
	check "the advice ends" test -z "$next"
}
if python3 -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))'; then
	noisy python_functions
	noisy python_server
else
	skip "Python functions" "this version of Python has none"
fi

# variable: prints the variable with its value that the remedy sets, for env(1).
variable() { grep -o "[A-Z_]*='[^']*'" .remedy | tr -d "'" | head -n 1; }

# self NAME: self of the functions with this in their names, in percent of all.
self() {
	"$SPROF" report -q -i data --no-children -s function --format json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["events"][0]["rows"]
print(round(100 * sum(row["self"] for row in rows if sys.argv[1] in row["function"])))' "$1"
}

# forget_map: removes the program's perf map when its names are in data: they are stored in the background.
forget_map() {
	await_names data
	rm -f "/tmp/perf-$(sed -n 's/^PID //p' .out).map"
}

# inlined PROGRAM ARGUMENT...: callee() is inlined. After the remedy, an option, it has its time.
inlined() {
	$record -o data -- "$@" >.out
	forget_map
	before=$(self callee)
	finds data inlined
	option=$(grep -o -e ' -[-X][^ ]*' .remedy)
	program=$1
	shift
	# shellcheck disable=SC2086
	$record -o data -- "$program" $option "$@" >.out
	forget_map
	gone data inlined
	after=$(self callee)
	check "$option shows callee(): $before %, then $after %" test "$after" -gt $((before + 40))
}

# A runtime's code without names. Its code keeps frame pointers, so stacks need no finding.
if command -v node >.which; then
	cat >work.js <<'END'
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log("PID " + process.pid);
for (let i = 0; i < 160; i++) fib(27);
END
	$record -o data -- node work.js >.out
	if [ -n "$(remedy data no_perf_map)" ]; then
		finds data no_perf_map
		names=$(variable | sed 's/^NODE_OPTIONS=//')
		NODE_OPTIONS=$names $record -o data -- node work.js >.out
		gone data no_perf_map
		check "frame pointers of node's code need no finding" test -z "$(remedy data frame_pointer)"
		forget_map
		cat >inline.js <<'END'
function callee(n) { let s = 0; for (let i = 0; i < 100; i++) s = (s * 31 + n + i) | 0; return s; }
function caller(n) { return callee(n) ^ callee(n + 1); }
console.log("PID " + process.pid);
for (let end = Date.now() + 700; Date.now() < end;) for (let i = 0; i < 10000; i++) caller(i);
END
		export NODE_OPTIONS
		NODE_OPTIONS=$names
		noisy inlined node inline.js
		unset NODE_OPTIONS
	else
		skip "a runtime's names" "node's code has names without an option"
	fi
else
	skip "a runtime's names" "needs node"
fi
if command -v javac >.which && java -version 2>&1 | grep -q 'version "\(1[7-9]\|[2-9][0-9]\)'; then
	cat >Inline.java <<'END'
public class Inline {
	static int callee(int n) {
		int s = 0;
		for (int i = 0; i < 100; i++)
			s = s * 31 + n + i;
		return s;
	}
	static int caller(int n) { return callee(n) ^ callee(n + 1); }
	public static void main(String[] args) {
		int s = 0;
		System.out.println("PID " + ProcessHandle.current().pid());
		for (long end = System.nanoTime() + 1000000000L; System.nanoTime() < end;)
			for (int i = 0; i < 10000; i++)
				s += caller(i);
		System.out.println(s);
	}
}
END
	javac Inline.java
	$record -o data -- java -cp . Inline >.out
	finds data no_perf_map
	export JAVA_TOOL_OPTIONS
	JAVA_TOOL_OPTIONS=$(variable | sed 's/^JAVA_TOOL_OPTIONS=//')
	$record -o data -- java -cp . Inline >.out 2>.err
	gone data no_perf_map
	forget_map
	noisy inlined java -cp . Inline
	unset JAVA_TOOL_OPTIONS
else
	skip "Java's names" "needs javac, and Java 17"
fi
finish

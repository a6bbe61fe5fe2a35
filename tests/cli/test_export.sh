#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exports of one recording have the stacks and weights of --format json. Go's pprof reads the pprof file.
. "$top_srcdir/tests/cli/lib.sh"
for tool in python3 gcc objcopy; do
	command -v $tool >"$tmp/.which" || skip_all "needs $tool"
done
need_sampling
cd "$tmp" || exit 99
stacks() { python3 "$top_srcdir/tests/cli/exports.py" "$@"; }

# A program with two threads, inlined functions, recursion, and a function with a hostile name.
cat >work.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
static inline __attribute__((always_inline)) void inner(void) { LOOP(20000000); }
static inline __attribute__((always_inline)) void middle(void) { LOOP(10000000); inner(); }
__attribute__((noinline)) void outer(void) { LOOP(10000000); middle(); }
__attribute__((noinline)) void down(int depth)
{
	LOOP(2000000);
	if (depth)
		down(depth - 1);
	__asm__ volatile("");
}
void pong(int depth);
__attribute__((noinline)) void ping(int depth)
{
	LOOP(2000000);
	if (depth)
		pong(depth - 1);
	__asm__ volatile("");
}
__attribute__((noinline)) void pong(int depth)
{
	ping(depth);
	__asm__ volatile("");
}
__attribute__((noinline)) void hostile(void) { LOOP(30000000); __asm__ volatile(""); }
static void *thread(void *arg) { outer(); hostile(); return arg; }
static void kernel(void)
{
	static char bytes[1 << 20];
	int file = open("/dev/zero", O_RDONLY);
	for (int i = 0; i < 1000 && read(file, bytes, sizeof(bytes)) > 0; i++)
		;
}
int main(void)
{
	pthread_t id;
	kernel();
	pthread_create(&id, 0, thread, 0);
	for (int i = 0; i < 3; i++) {
		down(10);
		ping(5);
		outer();
	}
	return pthread_join(id, 0);
}
END
gcc -g -O1 -fno-optimize-sibling-calls -pthread -o plain work.c || skip_all "cannot link a program"
objcopy --redefine-sym hostile='</script><b>"x"
\ (1)' plain work || skip_all "cannot rename a symbol"
# A thread that ends may be sampled after it has lost its number, and a busy machine's recorder may lose
# all of a thread: records again.
for attempt in 1 2 3 4 5; do
	"$SPROF" record -q -F 2000 -o data -- ./work || exit 99
	"$SPROF" report -q data --format csv --interval within -s tid >tids
	comment "recording $attempt: $(awk -F, 'NR > 1 { printf "%s ", $NF }' tids)"
	[ "$(wc -l <tids)" != 3 ] || break
done
"$SPROF" report data --format json -g caller >json.json
stacks json json.json >want
check "the recording has stacks of both threads" sh -c \
	'grep -q "main;down;down;down" want && grep -q "thread;outer;middle;inner$" want'

# agrees NAME KIND FILE: the file's stacks are those of the JSON.
agrees() {
	stacks "$2" "$3" >got
	if [ "$2" = speedscope ]; then sed '$s/.*/-/' want; else cat want; fi >wanted
	same "$1" wanted got
}

"$SPROF" report data -o data.speedscope.json
agrees "speedscope has the stacks" speedscope data.speedscope.json
"$SPROF" report data -o data.speedscope.json.gz
agrees "compressed, too" speedscope data.speedscope.json.gz
"$SPROF" report data --no-inline -o data.speedscope.json
check "--no-inline leaves inlined functions out" sh -c '! grep -q \"inner\" data.speedscope.json'


# Each thread is a profile.
"$SPROF" report data --format csv -s comm,tid | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ print $column["comm"], $column["tid"], $column["self_weight"] }' | sort >wanted
python3 -c '
import json, sys
for profile in json.load(open(sys.argv[1]))["profiles"]:
    print(profile["name"], profile["endValue"])' data.speedscope.json | sort >got
check "there are two threads" test "$(wc -l <wanted)" = 2
same "speedscope has a profile for each thread" wanted got

check "files of kernel functions are in brackets" python3 -c '
import json, subprocess, sys
rows = json.loads(subprocess.run([sys.argv[1], "report", "data", "-s", "function,dso", "--format", "json"],
                                 stdout=subprocess.PIPE, check=True).stdout)["events"][0]["rows"]
kernel = set(r["function"] for r in rows if (r["dso"] or "").startswith("[kernel"))
frames = json.load(open("data.speedscope.json"))["shared"]["frames"]
got = set(f["name"] for f in frames if f.get("file", "").startswith("[kernel"))
sys.exit(0 if kernel and kernel <= got else 1)' "$SPROF"
check "the title has the command" grep -q '^ *"name": "data: .*\./work, cpu-clock: [0-9]* samples' \
	data.speedscope.json

# Filters and several recordings change exports as they change JSON.
for options in "--time 20%-60%" "--comms work --ignore down" "-S outer" "--max-stack 3" "data"; do
	"$SPROF" report data $options --format json -g caller >json.json
	stacks json json.json | sed '$s/.*/-/' >wanted
	"$SPROF" report data $options -o part.speedscope.json
	stacks speedscope part.speedscope.json >got
	check "$options selects stacks" sh -c '[ $(wc -l <wanted) -gt 1 ]'
	same "report $options" wanted got
done

"$SPROF" report data -o data.pb.gz
if command -v go >.which; then
	go tool pprof -raw data.pb.gz >raw 2>messages
	agrees "pprof has the stacks" pprof raw
	check "the program's mapping is the first" grep -q "^1: 0x0/0x0/0x0 $tmp/work [0-9a-f]* " raw
	go tool pprof -comments data.pb.gz >comments 2>messages
	check "comments have the command" grep -q "^command: .* ./work" comments
	go tool pprof -top data.pb.gz >top 2>messages
	check "inlined functions are marked" grep -q "inner (inline)" top
	go tool pprof -tags data.pb.gz >tags 2>messages
	check "without -s there are no labels" sh -c '! grep -q . tags'
	"$SPROF" report data -s comm,tid -o labels.pb.gz
	go tool pprof -raw labels.pb.gz >raw 2>messages
	grep -v '^ *\(comm\|thread\|tid\):\[' raw >unlabelled
	agrees "pprof with labels has the stacks" pprof unlabelled
	"$SPROF" report data --format csv -s comm,tid --percent-limit 0 | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{ sum["thread:[" $column["comm"] "]"] += $column["self_weight"]
		  sum["tid:[" $column["tid"] "]"] += $column["self_weight"] }
		END { for (key in sum) print key, sum[key] }' | sort >wanted
	# A sample's line with its values is followed by those of its labels.
	awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+:$/ { weight = $2 + 0 }
		$1 ~ /^(thread|tid):\[/ { sum[$1] += weight }
		$2 ~ /^(thread|tid):\[/ { sum[$2] += weight }
		END { for (key in sum) print key, sum[key] }' raw | sort >got
	same "labels have the weights of threads" wanted got
	go tool pprof -tags labels.pb.gz >tags 2>messages
	check "pprof lists the labels" sh -c 'grep -q "^ *thread: " tags && grep -q "^ *comm: " tags'
	recording unknown <<'END'
event cpu-clock
comm 7 7 main
sample 0 7 7 0 1000000 1000000 0x401010
sample 0 7 0xffffffff 0 2000000 1000000 0x401010
END
	"$SPROF" report -q -i unknown -s comm,tid -o unknown.pb.gz
	go tool pprof -raw unknown.pb.gz 2>messages | grep -o 'tid:.*' >got
	echo 'tid:[7]' >wanted
	same "an unknown thread has no number" wanted got
	recording two <<'END'
event cpu-clock chain
event page-faults chain
comm 7 7 main
mmap 7 0x400000 0x10000 0 /opt/main
mmap 7 0x7f0000400000 0x10000 0 /opt/libc.so.6
sample 0 7 7 0 1000000 1000000 0x7f0000401010 0x401010 0x7f0000402010
sample 1 7 7 0 2000000 1 0x401010 0x7f0000402010
END
	"$SPROF" report -q -i two -o two.pb.gz
	go tool pprof -raw two.pb.gz >raw 2>messages
	check "each value type has its own name" grep -q \
		'^cpu-clock-samples/count cpu-clock/nano.* page-faults-samples/count page-faults/count$' raw
	check "the program's mapping precedes that of its callers" grep -q '^1: .* /opt/main' raw
else
	skip "pprof has the stacks" "needs go"
fi

# Callgrind has functions and calls instead of stacks.
"$SPROF" report data --format json -g caller >json.json
"$SPROF" report data -o callgrind.out
# The call from outside has the weight of all stacks in which down() calls itself.
awk '/^c?fn=/ { id = $1; sub(/.*=/, "", id); if (NF > 1) name[id] = $2 }
	/^fn=/ { own = name[id] == "down" } /^cfn=/ { called = own && name[id] == "down" }
	/^calls=/ { getline; if (called) sum += $2 } END { exit sum != 0 }' callgrind.out
status=$?
check "a recursive call has no weight" test "$status" = 0
check "each name is defined once" sh -c \
	'! grep -o "^c*fn=([0-9]*) " callgrind.out | sed "s/^c//" | sort | uniq -d | grep -q .'
if command -v callgrind_annotate >.which; then
	# Elsewhere: it shortens paths of source files in its folder, but not for called functions.
	mkdir -p .elsewhere
	annotate() { (cd .elsewhere && callgrind_annotate --auto=no --threshold=100 "$@" "$tmp/callgrind.out"); }
	annotate >annotated 2>messages
	stacks annotate annotated >got
	stacks self json.json >wanted
	same "callgrind has the weights of functions" wanted got
	annotate --inclusive=yes >annotated 2>messages
	stacks annotate annotated | grep -v ' \[root\]$' >got
	stacks total json.json >wanted
	check "recursive functions are there" sh -c \
		'grep -q " down$" wanted && grep -q " ping$" wanted && grep -q " pong$" wanted'
	same "callgrind has the weights with callees" wanted got
	check "callgrind_annotate has no warnings" test ! -s messages
	check "the recorded command is there" grep -q "^Profiled target: .*work" annotated
else
	skip "callgrind has the weights of functions" "needs callgrind_annotate"
fi
status "a pipe may get a binary format" 0 "$SPROF" report data --format pprof
check "which is the same" cmp out data.pb.gz

"$SPROF" report data --header --format text -o head.txt.gz
check "a header is compressed, too" sh -c 'gzip -dc head.txt.gz | grep -q "^# cmdline"'

# Files appear when they are complete.
status "no format has this name" 129 "$SPROF" report data -o data.xyz
says "the message names the formats" "speedscope"
ln -s elsewhere link.csv
status "a link is not followed" 1 "$SPROF" report data -o link.csv
check "nothing is written" test ! -e elsewhere
echo old >full.csv
(ulimit -f 1; trap '' XFSZ; exec "$SPROF" report data -s tid,symbol,srcline -o full.csv) 2>messages
check "a file that cannot be written is an error" test $? = 1
(ulimit -f 1; trap '' XFSZ; exec "$SPROF" report data -o full.callgrind) 2>messages
check "the reason is named after one large write, too" \
	grep -q "cannot write full.callgrind: File too large" messages
check "the older file stays" test "$(cat full.csv)" = old
check "no other file stays" sh -c '! ls | grep -q tmp-'
"$SPROF" report data --format csv >want.csv
check "/dev/stdout may be a file" sh -c '"$1" report data -o /dev/stdout --format csv >got.csv' sh "$SPROF"
same "it has the report" want.csv got.csv
status "a device is written in place" 0 "$SPROF" report data --format csv -o /dev/null
check "a device stays a device" test -c /dev/null

# Several events: each has its values.
"$SPROF" record -q -F 2000 -e cpu-clock,page-faults/period=1/ -o events -- ./work
"$SPROF" report events --no-group --format json -g caller >json.json
stacks json json.json >want
"$SPROF" report events -o events.speedscope.json
agrees "speedscope has the stacks of both events" speedscope events.speedscope.json
check "profiles name the event" grep -q '"name": "work [0-9]* page-faults' events.speedscope.json
"$SPROF" report events -o events.pb.gz
if command -v go >.which; then
	go tool pprof -raw events.pb.gz >raw 2>messages
	check "pprof has the values of both events" grep -q \
		"^cpu-clock-samples/count cpu-clock/nanoseconds.* page-faults.*/count" raw
else
	skip "pprof has the values of both events" "needs go"
fi

# An event's name is of unknown origin.
recording hostile.data <<'END'
event cpu-clock chain
rename a\x1b]0;b\x07
mmap 1 0x10000 0x1000 0 /a.so
sample 0 1 1 0 1000 1000 0x10100 0x10100
END
"$SPROF" report hostile.data --format callgrind >hostile.callgrind
check "callgrind has no escapes" sh -c '
	grep -q "^events: a.*b" hostile.callgrind && ! grep -q "$(printf "\033")" hostile.callgrind'

# Recordings without samples.
recording empty.data <<'END'
event cpu-clock chain
END
for file in empty.pb.gz empty.speedscope.json empty.callgrind; do
	status "an empty recording makes $file" 0 "$SPROF" report empty.data -o "$file"
	check "$file is written" test -s "$file"
done
check "empty JSON is valid" python3 -m json.tool empty.speedscope.json /dev/null
finish

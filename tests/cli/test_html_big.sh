#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Page of a recording that is too large for it: samples keep their functions.
. "$top_srcdir/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all "needs python3"
tests=$(cd "$top_srcdir/tests" && pwd)
cd "$tmp" || exit 99
export PYTHONDONTWRITEBYTECODE=1

# Recursive stacks of two libraries. A few functions of each have one sample.
awk 'BEGIN {
	print "event cpu-clock chain\nmmap 7 0x401000 0x10000 0x1000 /nowhere/a"
	print "mmap 7 0x501000 0x10000 0x1000 /nowhere/b"
	print "comm 7 7 t"
	srand(1)
	for (i = 0; i < 400000; i++) {
		printf "sample 0 7 7 0 %d 1000000", 1000000 + i * 31250
		rare = i % 30000 == 1
		for (j = 0; j < 18; j++) {
			address = (rand() < 0.5 ? 4198400 : 5246976) + int(rand() * 40) * 16
			if (j == 0 && rare)
				address += 40000 + int(i / 30000) * 16
			if (j == 0)
				printf " %#x", address
			printf " %#x", address
		}
		print ""
	}
}' | recording big
"$SPROF" report -q -i big -o page.html 2>err
"$SPROF" report -q -i big -s dso,function --format json >report.json 2>>err
check "the page has the report's functions" python3 "$tests/cli/html.py" page.html report.json
check "it takes less than 5 MB" sh -c '[ "$(wc -c <page.html)" -lt 5000000 ]'
python3 "$tests/cli/html.py" page.html text >head.json
check "it says which part lacks frames" \
	grep -q '% of cpu-clock is in stacks that lack inner frames' head.json
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report --my-code: libraries and the kernel are their callers' time, in all formats and in the corpus.
. "$top_srcdir/tests/cli/lib.sh"
export LC_ALL=C
cd "$tmp" || exit 99

recording own.data <<'END'
event cpu-clock chain
mmap 7 0x500000 0x10000 0 /home/me/program
mmap 7 0x600000 0x10000 0 /home/me/lib.so
mmap 7 0x700000 0x10000 0 /usr/lib/libc.so.6
comm 7 7 program
sample 0 7 7 0 1000 10 0x700010 0x700010 0x700021 0x500031 0x700041 0x500051
sample 0 7 7 0 2000 20 0x600060 0x600060 0x700041 0x500051
sample 0 7 7 0 3000 70 0x700060 0x700060 0x700041 0x500051
END
# rows [OPTION]...: "SYMBOL SELF TOTAL" of each row, in samples' weight.
rows() {
	"$SPROF" report -s sym --children --format json -i own.data "$@" 2>/dev/null | json_rows
}
json_rows() {
	"$PYTHON" -c 'import json, sys
for row in json.load(sys.stdin)["events"][0]["rows"]:
    print(row["symbol"], row["self_weight"], row["total_weight"])' | sort
}
[ -n "${PYTHON:=$(command -v python3)}" ] || skip_all "needs python3"
prints "libraries are their callers' time" rows --my-code <<'END'
0x31 10 10
0x51 70 100
0x60 20 20
END
prints "the tree has the same frames" sh -c \
	'"$0" report -g -q --format json --my-code -i own.data | grep -c libc' "$SPROF" <<'END'
0
(status 1)
END
# An installed shell, the loader in any folder, and the user's own program of a shell's name.
recording shell.data <<'END'
event cpu-clock chain
mmap 7 0x500000 0x10000 0 /usr/bin/bash
mmap 7 0x600000 0x10000 0 /home/me/lib/ld-linux-x86-64.so.2
mmap 7 0x700000 0x10000 0 /home/me/bash
comm 7 7 sh
sample 0 7 7 0 1000 10 0x500010 0x500010 0x500021 0x500051
sample 0 7 7 0 2000 20 0x600020 0x600020 0x600061
sample 0 7 7 0 3000 40 0x700030 0x700030 0x700071
END
prints "installed shells and the loader are no own code" rows --my-code -i shell.data <<'END'
0x30 40 40
0x51 10 10
0x61 20 20
0x71 0 40
END
prints "rows of stacks without own code are explained" sh -c '
	"$0" report -i shell.data --my-code | grep "A stack without such a function"
	"$0" report -i own.data --my-code | grep "A stack without such a function"' "$SPROF" <<'END'
A stack without such a function counts for its first one, such as _start.
(status 1)
END
prints "text says so, and names the option where it helps" env COLUMNS=80 sh -c '
	"$0" report -i own.data --my-code | grep -c "^Libraries, runtimes and the kernel count for"
	"$0" report -i own.data | grep "own code"
	"$0" report -i own.data --my-code | grep "By the functions"' "$SPROF" <<'END'
1
By the functions of your own code: sprof report --my-code own.data
(status 1)
END

# All weight has a row, with and without it.
if [ -d "${SPROF_CORPUS:-}" ]; then
	for file in "$SPROF_CORPUS"/*/*.data; do
		[ "$(wc -c <"$file")" -lt 2000000 ] || continue
		for option in --no-inline --my-code; do
			"$SPROF" report -s sym --no-children --percent-limit 0 --format csv $option \
				-i "$file" 2>/dev/null |
				awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
					NR > 1 { sum += $(at["self_samples"]) } END { print sum + 0 }'
		done | uniq | wc -l | grep -qx 1 || echo "$file"
	done >different
	: >none
	same "rows of the corpus have all samples" none different
else
	skip "rows of the corpus have all samples" "needs SPROF_CORPUS"
fi
finish

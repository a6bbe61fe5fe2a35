#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Options named in messages, findings, notes and remedies exist.
. "$top_srcdir/tests/cli/lib.sh"

# Options of other programs.
cat >"$tmp/others" <<'END'
--cap-add
--interpreted-frames-native-stack
--no-turbo-inlining
--nofile
--perf-basic-prof
--perf-prof
--security-opt
--sparse
--ulimit
--with-capstone
--with-debuginfod
--with-libpfm
--with-ncurses
--yjit
--yjit-perf
END

# Options of perf, in sentences that say why they are refused.
cat >"$tmp/perf" <<'END'
--branch-history
--kcore
--record-tpebs
--switch-on
--topdown
END

# Options in string literals of the C files below a directory, each with its place.
named_options() {
	find "$1/lib" "$1/src" -name '*.[ch]' 2>/dev/null | sort | xargs awk '
	{
		n = length($0)
		inside = 0
		text = ""
		for (i = 1; i <= n; i++) {
			c = substr($0, i, 1)
			if (!inside) {
				inside = c == "\""
			} else if (c == "\"") {
				inside = 0
				text = text "\n"
			} else {
				text = text (c == "\\" ? " " : c)
				i += c == "\\"
			}
		}
		while (match(text, /(^|[^-a-zA-Z0-9_])--[a-z][a-z-]+/)) {
			option = substr(text, RSTART, RLENGTH)
			sub(/^[^-]*/, "", option)
			if (FILENAME !~ /src\/options\.[ch]$/)
				print option, FILENAME ":" FNR
			text = substr(text, RSTART + RLENGTH)
		}
	}'
}

# unknown_options DIR: those that no command and no list above has.
unknown_options() {
	named_options "$1" | while read -r option place; do
		grep -qxF -e "$option" "$tmp/known" || echo "$option ${place#"$1"/}"
	done
}

for command in $("$SPROF" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	"$SPROF" "$command" --help
	"$SPROF" "$command" --help-all 2>/dev/null
done >"$tmp/help"
{
	cat "$tmp/others" "$tmp/perf"
	echo --version
	grep -oE -e '--(\[no-\])?[a-z][a-z-]+' "$tmp/help" |
		sed 's/^--\[no-\]\(.*\)/--\1\n--no-\1/'
} | sort -u >"$tmp/known"
check "the commands have options" test "$(wc -l <"$tmp/known")" -gt 50

unknown_options "$top_srcdir" >"$tmp/unknown"
: >"$tmp/none"
same "options in messages exist" "$tmp/none" "$tmp/unknown"

mkdir -p "$tmp/tree/lib"
cat >"$tmp/tree/lib/x.c" <<'END'
static const char remedy[] = "record with --debuginfod, --unwind later or --no-such-option";
END
echo '--no-such-option lib/x.c:1' >"$tmp/wanted"
unknown_options "$tmp/tree" >"$tmp/unknown"
same "an option that does not exist is caught" "$tmp/wanted" "$tmp/unknown"

# Commands of other programs that a remedy has are as these take them.
sysctls=$(grep -rhoE 'sysctl [a-z_.]+=' "$top_srcdir/lib" "$top_srcdir/src" --include='*.c' | sort -u | sed 's/.* //;s/=//')
for name in $sysctls; do
	path=/proc/sys/$(echo "$name" | tr . /)
	if [ -e "$path" ]; then
		ok "sysctl $name exists"
	else
		skip "sysctl $name exists" "this kernel has none"
	fi
done
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Help, man pages and completion say the same, and the example of libsprof.3 is a
# program that runs.
. "$top_srcdir/tests/cli/lib.sh"

commands=$("$SPROF" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] && ok "sprof help lists commands" || not_ok "sprof help lists commands"

# The options of a command, one per line, from "  -x, --[no-]name VALUE   text".
help_options() {
	"$SPROF" "$1" --help-all | sed -n 's/^  \(-.\), \(--.*\)/\1\n\2/p;s/^  \(-.\)\( .*\)*$/\1/p;
		s/^      \(--.*\)/\1/p' |
		sed 's/ .*//;s/\[=.*//;s/^--\[no-\]\(.*\)/--\1\n--no-\1/' |
		sed '$a\--help-all' | sort
}

# The first page: at most 45 lines of 80 columns, 25 options, and a verb as the first word.
short_help() {
	option='^  (-.|    --)'
	"$SPROF" "$@" --help >"$tmp/short"
	check "sprof $* --help has at most 45 lines" test "$(wc -l <"$tmp/short")" -le 45
	check "sprof $* --help has at most 25 options" \
		test "$(grep -cE "$option" "$tmp/short")" -le 25
	check "sprof $* --help has an example" grep -q '^Example: sprof' "$tmp/short"
	"$SPROF" "$@" --help-all >"$tmp/all"
	awk 'length > 80' "$tmp/short" "$tmp/all" >"$tmp/got"
	: >"$tmp/wanted"
	same "sprof $* --help and --help-all fit 80 columns" "$tmp/wanted" "$tmp/got"
	"$SPROF" "$@" -h >"$tmp/got"
	same "sprof $* -h is the same as --help" "$tmp/short" "$tmp/got"
	count=$(grep -cE "$option" "$tmp/all")
	if grep -q '^--help-all' "$tmp/short"; then
		check "sprof $* --help has the number of options ($count)" \
			grep -qx -e "--help-all lists all $count options." "$tmp/short"
	else
		same "sprof $* --help-all is the same as --help" "$tmp/short" "$tmp/all"
	fi
}

# Options of a man page: bold words at the beginning of a paragraph.
man_options() {
	sed -n '/^\.TP/{n;s/\\-/-/g;s/\\f.//g;s/[",]/ /g;/^\.BR* *-/p;}' "$1" | tr ' ' '\n' |
		grep -E '^-(-[a-z-]+|.)$' | sort
}

for command in $commands; do
	short_help "$command"
	"$SPROF" help "$command" >"$tmp/got"
	same "sprof help $command is the same" "$tmp/short" "$tmp/got"
	help_options "$command" >"$tmp/help"
	check "$command has options" test -s "$tmp/help"
	man_options "$top_srcdir/doc/sprof-$command.1" >"$tmp/man"
	same "sprof-$command.1 describes the options of its --help" "$tmp/help" "$tmp/man"
	check "sprof.1 names sprof-$command.1" \
		grep -q "sprof.-$command" "$top_srcdir/doc/sprof.1"
	check "the status of sprof $command --help is 0" "$SPROF" "$command" --help
done

# Commands in the pages, one per line, without what follows the options.
page_commands() {
	sed 's/\\f.//g;s/\\-/-/g;s/\\(aq/'"'"'/g' "$@" | grep -E '^(\.B )?sprof [a-z]+ -' |
		sed 's/^\.B //;s/	.*//;s/ -- .*//;s/ [./|&>].*//;s/;.*//'
}

page_commands "$top_srcdir"/doc/*.[17] >"$tmp/commands"
check "the pages have examples" test "$(wc -l <"$tmp/commands")" -gt 40
while read -r _ command words; do
	help_options "$command" >"$tmp/help"
	for word in $words; do
		case $word in
		--*) option=${word%%=*} ;;
		-[A-Za-z]*) option=$(printf %.2s "$word") ;;
		*) continue ;;
		esac
		grep -qx -e "$option" "$tmp/help" || echo "sprof $command $words: $option"
	done
done <"$tmp/commands" >"$tmp/got"
: >"$tmp/wanted"
same "the options in the pages' examples exist" "$tmp/wanted" "$tmp/got"

if command -v bash >/dev/null; then
	completes() {
		bash -c '. "$1"; COMP_WORDS=(${@:2}); [[ ${*: -1} != . ]] || COMP_WORDS[$# - 2]=
			COMP_CWORD=$(($# - 2)); _sprof; printf "%s\n" "${COMPREPLY[@]}"' \
			bash "$top_srcdir/contrib/completion/sprof" "$@" | sort
	}
	for command in $commands; do
		help_options "$command" >"$tmp/help"
		completes sprof "$command" - >"$tmp/completed"
		same "completion lists the options of $command" "$tmp/help" "$tmp/completed"
	done
	printf '%s\n' $commands help --help --version | sort >"$tmp/wanted"
	completes sprof . >"$tmp/completed"
	same "completion lists the commands" "$tmp/wanted" "$tmp/completed"
	printf 'callgrind\ncsv\n' >"$tmp/wanted"
	completes sprof report --format c >"$tmp/completed"
	same "completion knows formats" "$tmp/wanted" "$tmp/completed"
	completes sprof report --format = c >"$tmp/completed"
	same "completion knows formats behind a =" "$tmp/wanted" "$tmp/completed"
	printf 'comm,srcfile\n' >"$tmp/wanted"
	completes sprof report -s comm,srcf >"$tmp/completed"
	same "completion knows lists" "$tmp/wanted" "$tmp/completed"

	# Other shells': each option of each command is there, and the shell reads the file.
	for command in $commands; do
		help_options "$command" | sed "s/^/$command /;s/ -*/ /"
	done | sort >"$tmp/wanted"
	for shell in zsh fish; do
		"$top_srcdir/contrib/completion/translate" $shell "$SPROF" \
			"$top_srcdir/contrib/completion/sprof" >"$tmp/translated"
		case $shell in
		zsh) awk '/^\t[a-z]*\)$/ { command = $1; sub(/\)/, "", command) }
			/^\t\t\047\*-/ { sub(/^\t\t\047\*-*/, ""); sub(/[=+-]*\[.*/, ""); print command, $0 }' ;;
		fish) sed -n "s/.*_from \([a-z]*\)'\(\( -[sl] [^ ]*\)*\).*/\1\2/p" | awk '
			{ for (i = 3; i <= NF; i += 2) print $1, $i }' ;;
		esac <"$tmp/translated" | sort >"$tmp/got"
		same "completion for $shell has the options" "$tmp/wanted" "$tmp/got"
		if command -v $shell >/dev/null; then
			check "$shell reads it" $shell -n "$tmp/translated"
		else
			skip "$shell reads it" "needs $shell"
		fi
	done
else
	skip "completion lists the options" "needs bash"
fi

# libsprof.3's example, from its page to its output.
sed -n '/^\.\\" example begins/,/^\.\\" example ends/p' "$top_srcdir/doc/libsprof.3" |
	sed '/^\./d;s/\\-/-/g;s/\\e/\\/g' >"$tmp/example.c"
lines=$(wc -l <"$tmp/example.c")
check "the example has at most 40 lines ($lines)" test "$lines" -gt 10 -a "$lines" -le 40
library=$top_builddir/lib/.libs
sanitize=$(sed -n 's/^SANITIZE_FLAGS = //p' "$top_builddir/Makefile")
# shellcheck disable=SC2086
check "the example compiles without a warning" $CC -std=c11 -Wall -Wextra -Werror $sanitize \
	-I"$top_srcdir/include" -o "$tmp/example" "$tmp/example.c" -L"$library" -lsprof
recording "$tmp/perf.data" <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x1000 0x1000 0 /nowhere/demo
sample 0 7 7 0 1000 250000 0x1234
sample 0 7 7 0 2000 250000 0x1234
END
(cd "$tmp" && LD_LIBRARY_PATH=$library ./example) >"$tmp/got" 2>&1
printf '100.0%% (34.2 to 100.0) 0x234 in demo\n' >"$tmp/wanted"
same "the example shows hot functions" "$tmp/wanted" "$tmp/got"

for page in "$top_srcdir"/doc/*.[137]; do
	if command -v groff >/dev/null; then
		groff -man -Tutf8 -ww "$page" 2>"$tmp/got" >/dev/null
		: >"$tmp/wanted"
		same "groff takes $(basename "$page")" "$tmp/wanted" "$tmp/got"
	else
		skip "groff takes $(basename "$page")" "needs groff"
	fi
done
finish

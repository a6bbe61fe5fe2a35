#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Rules of HACKING that a script can hold the sources to.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/style/rules.sh"

# Prints the files of standard input that lack the licence on their first lines.
without_licence() { # LICENCE LINES MESSAGE
	xargs -r awk -v licence="SPDX-License-Identifier: $1" -v lines="$2" -v message="$3" '
		FNR <= lines && index($0, licence) { good[FILENAME] = 1 }
		END {
			for (i = 1; i < ARGC; i++)
				if (!(ARGV[i] in good)) print ARGV[i] ": " message " " licence
		}'
}

# LGPL in include/ and lib/, GPL in all else; on the first line, or the second
# behind a #!.
wrong_licence() {
	find include lib -type f \( -name '*.[ch]' -o -name '*.in.h' \) | sort |
		without_licence LGPL-2.1-or-later 1 "the first line is not"
	{
		find src tests bench doc contrib .ci build-aux m4 -type f \
			\( -name '*.[ch]' -o -name '*.sh' -o -name sp_build.m4 -o -name '*.mk' -o -name run \) 2>/dev/null
		find include lib -name '*.mk'
		for file in bootstrap configure.ac Makefile.am; do
			[ ! -f $file ] || echo $file
		done
	} | grep -vE '^(tests/data|build-aux)/' | sort |
		without_licence GPL-2.0-or-later 2 "the first two lines have no"
}

gotos() {
	code lib src | grep -wE 'goto'
}

# The library never prints and never exits. A forked child that could not
# become the workload has to _exit.
printing() {
	code lib | grep -E '\<(printf|vprintf|puts|putchar|perror|exit|abort|errx?|warnx?) *\(|\<(stdout|stderr)\>'
}

typedefs() {
	code include lib src | grep -E '\<typedef +(struct|union|enum)\>'
}

promises() {
	grep -nwE 'TODO|FIXME|XXX|HACK' -r include lib src tests doc --include='*.[ch]' --include='*.sh' \
		--include='*.md' --include='*.mk' --include='*.[0-9]' 2>/dev/null | grep -v '^tests/style/'
}

# Ends of functions are a brace alone in column 1; a longer one is a table or a
# flat switch, and listed with its reason.
long_functions() {
	find lib src -name '*.c' | sort | xargs -r awk '
		FILENAME == ARGV[1] { next }
		FNR == 1 { start = 0; previous = "" }
		/^\{/ { start = FNR; name = previous }
		/^}/ {
			if (start && FNR - start > 80) {
				sub(/\(.*/, "", name)
				n = split(name, word, /[ *]+/)
				print FILENAME ":" start ": " word[n] " has " FNR - start " lines"
			}
			start = 0
		}
		/^[a-z].*\(/ { previous = $0 }' /dev/null
}

long_files() {
	find lib src include -name '*.[ch]' | sort | xargs -r wc -l |
		awk '$1 > 800 && $2 != "total" { print $2 ": " $1 " lines" }'
}

# A search for a file or a struct finds one. A command bears the name of the part that it runs.
shared_names() {
	find lib src -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d |
		grep -vxE '(archive|list|report|script|stat)\.c' | sed 's/$/: several files/'
	find lib src -name '*.[ch]' | xargs -r sed -nE 's/^((struct|union|enum) [a-z0-9_]+) \{.*/\1/p' |
		sort | uniq -d | sed 's/$/: several definitions/'
}

# A line's columns: tabs count 8, and characters of several bytes one.
columns='
	function columns(text, part, n, i, sum) {
		gsub(/[\200-\277]/, "", text)
		n = split(text, part, /\t/)
		for (i = 1; i < n; i++)
			sum += length(part[i]) + 8 - (sum + length(part[i])) % 8
		return sum + length(part[n])
	}'

# 100 columns are the aim; past 110 of C is no accident.
wide_or_ragged() {
	find include lib src tests bench -name '*.[ch]' 2>/dev/null | grep -v '^tests/data/' | sort |
		LC_ALL=C xargs -r awk "$columns"'
			columns($0) > 110 { print FILENAME ":" FNR ": over 110 columns" }'
	grep -nE '[ 	]+$' -r include lib src tests bench doc contrib --include='*.[ch]' --include='*.sh' \
		--include='*.mk' --include='*.md' 2>/dev/null | grep -v '^tests/data/' |
		grep -v '^tests/cli/test_script\.sh:' | # as perf script prints it
		sed 's|^\([^:]*:[0-9]*\):.*|\1: space at the end|'
}

# Lines added since $base fit 100 columns, so that all lines will in time. Lines of a renamed file
# are not added.
base=73f8c4a4
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # git sets them in hooks

has_base() {
	[ -z "$(git rev-parse --show-prefix 2>&1)" ] && git cat-file -e "$base^{commit}" 2>/dev/null
}

added_and_wide() {
	git --no-optional-locks diff --no-ext-diff --no-color --no-prefix -M -U0 "$base" -- \
		'include/*.[ch]' 'lib/*.[ch]' 'src/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' \
		':!tests/data' | LC_ALL=C awk "$columns"'
		left == 0 && /^\+\+\+ / { file = substr($0, 5) }
		/^@@ / {
			n = split($3, at, /[+,]/)
			line = at[2]
			left = n == 3 ? at[3] : 1
		}
		left && /^\+/ {
			if (columns(substr($0, 2)) > 100)
				print file ":" line ": over 100 columns, and not in " base
			line++
			left--
		}' base="$base"
}

# Sourced files and tests run in the lab with dash. bash skips the rest of a sourced file with a
# syntax error, and the test then passes with fewer cases.
broken_scripts() {
	shell=$(command -v dash || echo sh)
	{
		find tests bench doc -name '*.sh'
		grep -rlI '^#!/bin/sh' tests bench doc bootstrap
	} 2>/dev/null | sort -u | while read -r file; do
		"$shell" -n "$file" 2>/dev/null || echo "$file: a syntax error in sh"
	done
}

# Files of ours that a page names in backticks, unless as a pattern.
missing_files() {
	grep -noE '`[a-z.]+/[A-Za-z0-9_./-]+`' README HACKING doc/*.md doc/decisions/*.md contrib/README 2>/dev/null |
		sed 's/`//g' | while IFS=: read -r page line file; do
		case $file in
		*NAME* | *MODULE* | build/*) continue ;;
		include/* | lib/* | src/* | tests/* | bench/* | doc/* | contrib/* | .ci/*) ;;
		*) continue ;;
		esac
		[ -e "$file" ] || echo "$page:$line: there is no $file"
	done
}

# Names of pages that are not in this tree: the kernel's, C's, other programs' and examples.
foreign='linux/perf_event.h mm/pgtable-generic.c file.c operator() pthread_exit() openat2()
	ComparableTimSort.mergeHi()'

# Functions and files that pages, and comments of bench/, name: "name()", "file.c", "part/file.c".
missing_names() {
	{
		code include lib src tests bench | grep -oE '[A-Za-z_][A-Za-z0-9_]* *\(' | sed 's/ *($/()/'
		grep -rhoE '^[a-z0-9_]+\(\)' tests bench --include='*.sh'
		find include lib src tests bench doc contrib -name '*.[chS]' -o -name '*.sh'
		printf '%s\n' $foreign
	} | sort -u >"$tmp/names"
	awk '
		NR == FNR {
			do
				known[$0]
			while (sub(/^[^\/]*\//, ""))
			next
		}
		FILENAME ~ /^bench/ && (!/^[ \t]*(#|\/?\*)/ || /^#include/) { next }
		{
			gsub(/\\f[A-Z]/, "")
			gsub(/\\-/, "-")
			while (match($0, /<?[A-Za-z0-9_.\/-]*[A-Za-z0-9_](\(\)|\.([chS]|sh))/)) {
				name = substr($0, RSTART, RLENGTH)
				$0 = substr($0, RSTART + RLENGTH)
				sub(/^top_srcdir\//, "", name)
				if (!/^[A-Za-z0-9_]/ && name !~ /^<|NAME|MODULE/ && !(name in known))
					print FILENAME ":" FNR ": there is no " name
			}
		}' "$tmp/names" $(LC_ALL=C ls README HACKING contrib/README doc/*.md doc/decisions/*.md doc/*.[137] bench/*.* bench/against 2>/dev/null)
}

# Kinds of notes that the header or the format's description lacks.
undocumented_notes() {
	sed -n '/^enum note_kind {/,/NOTE_KINDS/s/^\tNOTE_.* = \([0-9]*\),.*/\1/p' lib/record/note.h >"$tmp/kinds"
	sed -n '/^| kind | note/,/^$/s/^| \([0-9]*\) |.*/\1/p' doc/FILE.md | diff "$tmp/kinds" -
}

# Tests that no Makefile runs.
unlisted_tests() {
	for test in tests/*/test_*.sh; do
		grep -qF "$test" Makefile.am tests/*/local.mk lib/*/local.mk 2>"$tmp/.grep" ||
			echo "$test: in no list of tests"
	done
}

clean "every test is run" unlisted_tests
clean "every file has its licence line" wrong_licence
clean "no goto" gotos
clean "the library does not print or exit" printing
clean "no typedef of a struct, union or enum" typedefs
clean "nothing is promised instead of done" promises
clean "no function over 80 lines" long_functions
clean "no file over 800 lines" long_files
clean "files and structs have names of their own" shared_names
clean "scripts are free of syntax errors" broken_scripts
clean "the pages name files that are there" missing_files
clean "the pages name functions and files of the tree" missing_names
clean "no line is too wide or ends in space" wide_or_ragged
clean "doc/FILE.md lists each kind of note" undocumented_notes

if (cd "$top_srcdir" && has_base); then
	clean "lines that commits touch fit 100 columns" added_and_wide
else
	skip "lines that commits touch fit 100 columns" "no git checkout with commit $base"
fi

# Nothing in the library changes that is not in an object of the caller's: no
# object has a symbol in a writable section. (.data.rel.ro is constant once
# relocated; sanitizers add symbols of their own.)
core=$top_builddir/lib/.libs/libsprof-core.a
if ! command -v objdump >/dev/null; then
	skip "no mutable statics in lib/" "needs objdump (binutils)"
elif ! [ -f "$core" ]; then
	skip "no mutable statics in lib/" "there is no libsprof-core.a in this build"
elif grep -q '^SANITIZE_FLAGS = ..*' "$top_builddir/Makefile"; then
	skip "no mutable statics in lib/" "sanitizers add their own"
else
	objdump -t "$core" | awk '
		/file format/ { object = $1 }
		/ O \.(data|bss|tdata|tbss)/ && !/\.data\.rel\.ro/ { print object, $NF }' >"$tmp/statics"
	: >"$tmp/none"
	same "no mutable statics in lib/" "$tmp/none" "$tmp/statics"
fi

for dir in lib/a src include tests bench doc contrib; do
	mkdir -p "$tmp/tree/$dir"
done
(
	cd "$tmp/tree" || exit
	{
		echo '/* SPDX-License-Identifier: GPL-2.0-or-later */'
		echo '/* goto printf typedef struct */'
		echo 'int f(void)'
		echo '{'
		echo '	printf("goto"); /* comment */ exit(1);'
		echo '	goto out; '
		i=0
		while [ $i -lt 90 ]; do
			echo '	;'
			i=$((i + 1))
		done
		echo '}'
		printf 'typedef struct a b; // %0120d\n' 0
		echo '/* TO''DO: more */'
	} >lib/a/a.c
	: >src/b.c
	: >src/d.h
	echo 'struct e {' | tee lib/a/d.h >lib/a/e.h
	printf 'See `src/b.c`,\n`src/NAME.c` and `src/gone.c`.\n' >README
	printf 'f(), a.c, a/a.c and <stdio.h>;\ng(), c.c.\n' >HACKING
	printf 'Example: \\fIexample\\-a.c\\fP\n' >doc/page.1
	printf '# SPDX-License-Identifier: GPL-2.0-or-later\n# f() of b/a.c\nh() { :; }\n' >bench/run.sh
	printf '# SPDX-License-Identifier: GPL-2.0-or-later\nh()\n' >tests/c.sh
)
catches "a wrong licence is caught" wrong_licence \
'lib/a/a.c: the first line is not SPDX-License-Identifier: LGPL-2.1-or-later
lib/a/d.h: the first line is not SPDX-License-Identifier: LGPL-2.1-or-later
lib/a/e.h: the first line is not SPDX-License-Identifier: LGPL-2.1-or-later
src/b.c: the first two lines have no SPDX-License-Identifier: GPL-2.0-or-later
src/d.h: the first two lines have no SPDX-License-Identifier: GPL-2.0-or-later'
catches "a goto is caught" gotos 'lib/a/a.c:6:	goto out; '
catches "printing is caught" printing 'lib/a/a.c:5:	printf("");  exit(1);'
catches "a typedef is caught" typedefs 'lib/a/a.c:98:typedef struct a b; '
catches "a promise is caught" promises 'lib/a/a.c:99:/* TO''DO: more */'
catches "a long function is caught" long_functions 'lib/a/a.c:4: f has 93 lines'
catches "a shared name is caught" shared_names \
'd.h: several files
struct e: several definitions'
mkdir "$tmp/tree/tests/x"
: >"$tmp/tree/tests/x/test_c.sh"
catches "a test that nothing runs is caught" unlisted_tests 'tests/x/test_c.sh: in no list of tests'
rm -r "$tmp/tree/tests/x"
catches "a syntax error of a script is caught" broken_scripts 'tests/c.sh: a syntax error in sh'
catches "a page that names a file gone is caught" missing_files 'README:2: there is no src/gone.c'
catches "a function and a file that are gone are caught" missing_names \
'HACKING:2: there is no g()
HACKING:2: there is no c.c
README:2: there is no src/gone.c
bench/run.sh:2: there is no b/a.c
doc/page.1:1: there is no example-a.c'
if (
	cd "$tmp/tree" && git init -q . && printf '%0105d\n' $(seq 20) >src/old.c && git add . &&
		git -c user.name=a -c user.email=a@b commit -qm base && git mv src/old.c src/new.c &&
		printf '%0101d\n\t%093d\n\t\302\265%091d\n++ %098d\n' 1 2 3 4 >>src/new.c
) >"$tmp/git" 2>&1; then
	base=HEAD
	catches "a wide line that a commit adds is caught" added_and_wide \
'src/new.c:21: over 100 columns, and not in HEAD
src/new.c:22: over 100 columns, and not in HEAD
src/new.c:24: over 100 columns, and not in HEAD'
else
	skip "a wide line that a commit adds is caught" "git: $(tail -n 1 "$tmp/git")"
fi
catches "a wide or ragged line is caught" wide_or_ragged \
'lib/a/a.c:98: over 110 columns
lib/a/a.c:6: space at the end'
finish

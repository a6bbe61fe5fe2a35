#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line before a command is known: versions, help, misspelt words, recordings as operands.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99

version=$("$SPROF" --version)
for word in version -V; do
	check "sprof $word is --version" test "$("$SPROF" $word)" = "$version"
done
check "the version is a name and a number" expr "$version" : 'sprof [0-9][0-9.]*$'
"$SPROF" help >help
check "the help fits 80 columns" test "$(wc -L <help)" -le 80
for word in -h --help; do
	"$SPROF" $word >"$word.out"
	same "sprof $word is help" help ./"$word.out"
done
status "nothing is a mistake" 129 "$SPROF"
same "which prints help" help err

fails "a misspelt command" 129 "$SPROF" repotr -i x <<'END'
sprof: unknown command 'repotr'; did you mean 'report'?
END
fails "the same as a topic of help" 129 "$SPROF" help recrod <<'END'
sprof: unknown topic 'recrod'; did you mean 'record'?
END
fails "a word that is near nothing" 129 "$SPROF" nosuchcommandhere <<'END'
sprof: unknown command 'nosuchcommandhere'; see 'sprof help'
END
mkdir -p bin/directory
: >bin/plainfile
for word in directory plainfile; do
	fails "what is not executable is no program ($word)" 129 env PATH="$tmp/bin:$PATH" \
		"$SPROF" $word <<END
sprof: unknown command '$word'; see 'sprof help'
END
done
fails "control characters are not printed" 129 "$SPROF" "$(printf 'a\033[31mb')" <<'END'
sprof: unknown command 'a?[31mb'; see 'sprof help'
END
# Commands of perf: programs of that name are not recorded, and the last recording stays.
printf '#!/bin/sh\necho "$0"\n' >bin/probe
chmod +x bin/probe
cp bin/probe bin/buildid-list
echo "the last recording" >sprof.data
for word in probe buildid-list; do
	status "a program that has a name of perf's commands is not recorded ($word)" 129 \
		env PATH="$tmp/bin:$PATH" "$SPROF" $word a b
	says "it is said what to use" "'$word' is a command of perf, not of sprof: '"
	says "and how to record it" "To record the program $word: sprof -- $word"
	check "the last recording stays" grep -q "the last recording" sprof.data
done
check "no other file is written" test ! -e sprof.data.old
for word in probe trace; do
	status "nor is it a topic of help ($word)" 129 "$SPROF" help $word
	says "it is said what to use" "is a command of perf"
done
fails "a command of perf that is no program" 129 "$SPROF" inject <<'END'
sprof: 'inject' is a command of perf, not of sprof: sprof reads JIT dumps and build-ids itself
END
if command -v perf >perf.path; then
	perf --list-cmds 2>perf.err | tr -s ' ' '\n' | sed '/^$/d' >perf.commands
	"$SPROF" help | sed -n 's/^  \([a-z]*\)  *.*/\1/p' >own.commands
	printf '%s\n' help version >>own.commands
	for word in $(grep -vxFf own.commands perf.commands); do
		"$SPROF" $word 2>err </dev/null
		grep -q "'$word' is a command of perf" err || echo "$word"
	done >unknown
	check "each command of perf has a line: $(tr '\n' ' ' <unknown)" test ! -s unknown
	for word in $(grep -xFf own.commands perf.commands); do
		"$SPROF" help $word >out 2>err
		! grep -q "is a command of perf" err || echo "$word"
	done >hidden
	check "commands of both are sprof's: $(tr '\n' ' ' <hidden)" test ! -s hidden
else
	skip "each command of perf has a line" "there is no perf"
fi
status "options after --" 129 "$SPROF" -- -a
rm sprof.data

fails "options before a program" 129 "$SPROF" -F 99 ./prog 'two words' <<'END'
sprof: unknown option '-F'
       Put options after a command: sprof record -F 99 ./prog 'two words'
END
fails "a misspelt option" 129 "$SPROF" --verison <<'END'
sprof: unknown option '--verison'; did you mean '--version'?
END
fails "an option alone" 129 "$SPROF" -F <<'END'
sprof: unknown option '-F'
       'sprof help' lists the commands.
END

fails "an option that goes on too long" 129 "$SPROF" record --frequenzy 99 true <<'END'
sprof: unknown option '--frequenzy'; did you mean '--freq'?
       'sprof record --help' lists the options.
END
fails "a misspelt option with a value" 129 "$SPROF" report --fromat=csv <<'END'
sprof: unknown option '--fromat'; did you mean '--format'?
       'sprof report --help' lists the options.
END
fails "a misspelt option that is negated" 129 "$SPROF" report --no-chidren <<'END'
sprof: unknown option '--no-chidren'; did you mean '--no-children'?
       'sprof report --help' lists the options.
END
fails "an option that is near nothing" 129 "$SPROF" info --zzz <<'END'
sprof: unknown option '--zzz'
       'sprof info --help' lists the options.
END
fails "the beginning of several options" 129 "$SPROF" record --off-cp <<'END'
sprof: ambiguous option '--off-cp': --off-cpu, --off-cpu-thresh
       'sprof record --help' lists the options.
END
fails "a letter that is no option" 129 "$SPROF" list -y <<'END'
sprof: unknown option '-y'
       'sprof list --help' lists the options.
END

# Words that users of perf and of other profilers type.
for word in pyhton wiats off-cp; do
	case $word in pyhton) task=python ;; wiats) task=waits ;; *) task=off-cpu ;; esac
	fails "a misspelt task, $word" 129 "$SPROF" help $word <<END
sprof: unknown topic '$word'; did you mean '$task'?
END
done
fails "help of two commands" 129 "$SPROF" help list stat <<'END'
sprof: 'sprof help' takes one word, not 'list stat'
END
status "a process by name" 129 "$SPROF" record -p memcached
says "how to find its number" "-p .(pgrep -d, NAME)"
for command in record stat top; do
	fails "$command: process IDs that the shell split" 129 \
		"$SPROF" $command -p 22371 22372 -- true <<'END'
sprof: -p: there is no program 22372; quote process IDs: -p "$(pidof NAME)", or -p 22371,22372
END
	status "$command: process IDs with blanks between them" 125 "$SPROF" $command \
		-p "2147483646 2147483645"
	says "are process IDs" "214748364[56]"
done
for word in waits wakers threads -T Python JAVA latency flamegraph; do
	status "help has the task $word" 0 "$SPROF" help $word
	check "it shows commands ($word)" grep -q '^  sprof r' out
done
"$SPROF" help | sed '1,/Tasks:/d' | tr -s ', ' '\n' >tasks
while read -r word; do
	"$SPROF" help "$word" 2>&1 | grep -q '^  sprof [rt]' || echo "$word"
done <tasks >unknown
check "each task of the list has commands ($(wc -l <tasks))" \
	test "$(wc -l <tasks)" -gt 8 -a ! -s unknown
for value in dwarf fp dwarf,16384 caller; do
	status "record -g $value" 129 "$SPROF" record -F 99 -g $value ./prog
	says "-g has no value" "^sprof: -g takes no value, and there is no program '$value'"
done
status "record -ag lbr" 129 "$SPROF" record -ag lbr ./prog
says "the option is named" "--call-graph lbr"
for size in '5 ' '5K ' 'K' ',5 '; do
	status "record -m '$size'" 129 "$SPROF" record --dry-run -m "$size" true
	says "record -m '$size': the reason" "-m, --mmap-pages: '$size' is not a number of pages"
done
status "record -G twice" 129 "$SPROF" record --dry-run -G a -G b true
says "record -G twice: the list" "give one list, a group for each event: -G a,b"
status "a program of that name is recorded" 0 \
	env PATH="$tmp/bin:$PATH" "$SPROF" record --dry-run -F 99 -g probe
for name in x.svg x.PNG; do
	status "-o $name" 129 "$SPROF" report -o $name
	says "the page has pictures" "-o FILE.html has a flame graph"
done
for name in x.svg x.PNG; do
	status "record -o $name" 129 "$SPROF" record -o $name ./prog
	says "no file gets a picture's name" "use -o x.html, which has a flame graph"
done
for way in --switch-output=1s --overwrite --timestamp-filename; do
	status "record $way -o x.html" 129 "$SPROF" record $way -o x.html ./prog
	says "a report is of one recording" "sprof report -o x.html FILE.data"
done
check "nothing was recorded" sh -c '! ls x.* sprof.data'
status "an option of other profilers" 129 "$SPROF" report --flamegraph
says "what to use instead" "-o report.html, or sprof browse and its key f, or --format folded"

recording "one.data" <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x1000 0x1000 0 /nowhere/demo
sample 0 7 7 0 1000 250000 0x1234
END
for command in report script info; do
	"$SPROF" $command -i one.data >"by-option" 2>&1
	"$SPROF" $command one.data >"by-operand" 2>&1
	same "sprof $command FILE is -i FILE" by-option by-operand
	"$SPROF" $command -v one.data >by-operand 2>&1
	check "options may precede it ($command)" grep -q one.data by-operand
done
for word in functon:function srclin:srcline symbl:symbol; do
	fails "a misspelt key" 129 "$SPROF" report -i one.data -s "pid,${word%:*}" <<END
sprof: --sort: unknown key '${word%:*}'; did you mean '${word#*:}'?
END
done
"$SPROF" report -i one.data -s sym >by-key 2>&1
for words in overhead,sym sym,overhead; do
	"$SPROF" report -i one.data -s $words >by-column 2>&1
	same "-s $words is -s sym" by-key by-column
done
"$SPROF" report -i one.data -s sym --children >by-key 2>&1
"$SPROF" report -i one.data -s overhead_children,sym >by-column 2>&1
same "-s overhead_children,sym orders by total" by-key by-column
"$SPROF" report -i one.data -s sym -n >by-key 2>&1
"$SPROF" report -i one.data -s sample,sym >by-column 2>&1
same "-s sample,sym has the number of samples" by-key by-column
"$SPROF" report -i one.data --no-inl >out 2>err
says "a short name in a script causes a warning" "^sprof: --no-inl is short for --no-inline"
"$SPROF" report -i one.data --no-inline >out 2>err
check "a full name does not" test ! -s err
for command in script info; do
	fails "sprof $command takes one recording" 129 "$SPROF" $command one.data two.data <<'END'
sprof: more than one recording: 'one.data' and 'two.data'
END
done
finish

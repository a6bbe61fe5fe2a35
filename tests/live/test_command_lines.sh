#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Command lines of a tree of processes: each script is a row of the key argument, and no file that
# sprof writes has a secret of an argument. perf reads the recording.
. "$top_srcdir/tests/tap.sh"
need_sampling
cd "$tmp" || exit 99
export XDG_CACHE_HOME="$tmp/cache" TMPDIR="$tmp"
umask 022

cat >burn.sh <<'END_OF_SCRIPT'
i=0
while [ $i -lt 60000 ]; do i=$((i + 1)); done
END_OF_SCRIPT
cp burn.sh other.sh

# The last command does not replace the shell.
cat >all.sh <<'END_OF_SCRIPT'
sh burn.sh --password=Zq1z --token Zq2z -H "Authorization: Bearer Zq3z" API_KEY=Zq4z
sh other.sh --visible Wx0y https://user:Zq5z@host/ --secret Zq6z '{"credential": "Zq7z"}'
sh -c '. ./burn.sh; : --passwd Zq8z'
exit 0
END_OF_SCRIPT

"$SPROF" record --no-summary -o data -- sh all.sh --auth Zq9z >/dev/null 2>err ||
	comment "$(cat err)"

"$SPROF" report -q -s cmdline,argument --format json -i data >rows.json

check "a script is the argument of its shell" grep -q '"argument": "burn.sh"' rows.json
check "another script has its own row" grep -q '"argument": "other.sh"' rows.json
cut="sh burn.sh '--password=***' --token '***' -H 'Authorization: ***' 'API_KEY=***'"
check "secrets are cut in the command line" grep -qF "$cut" rows.json
check "processes begin the tree" sh -c \
	'"$SPROF" report -q --processes --format folded -i data | grep -q "^sh burn.sh ([0-9]*);"'
check "info has the number of command lines" sh -c \
	'"$SPROF" info -i data | grep -q "command lines of [0-9]* executed program"'

# has_secret FILE: whether a secret is in a file, which may be compressed.
has_secret() {
	grep -qa 'Zq[0-9]z' "$1" || gzip -dc <"$1" 2>/dev/null | grep -qa 'Zq[0-9]z'
}

for format in json csv folded pprof speedscope firefox callgrind html; do
	for option in --processes --full-command-lines; do
		"$SPROF" report -q $option -s comm,argument,function --format $format \
			-o "page$option.$format" -i data
	done
done
"$SPROF" script -i data >script.txt
"$SPROF" script -D -i data >dump.txt
"$SPROF" info -i data >info.txt
for file in data page* script.txt dump.txt info.txt rows.json; do
	check "$file has no secret" sh -c '! grep -qa "Zq[0-9]z" "$1"' sh "$file"
	has_secret "$file" && not_ok "$file has a compressed secret"
done
check "only the owner may read the recording" test "$(stat -c %a data)" = 600
check "folded stacks have command lines if asked" \
	grep -q "^sh burn.sh '--password" page--full-command-lines.folded
check "folded stacks have none unless asked" sh -c \
	'! grep -q -e "--password" page--processes.folded'

# Each process is a row of the key process, and a node of the tree below its parent.
"$SPROF" report -q -s process --format csv -i data >rows.csv
"$SPROF" report -q --processes --format json -i data >tree.json
"$SPROF" report -q --processes --format folded -i data >stacks.folded
if command -v python3 >/dev/null; then
	python3 - rows.csv tree.json stacks.folded <<'END_OF_PYTHON' >judged 2>&1
import collections, csv, json, sys
rows = {row["process"]: float(row["self"]) for row in csv.DictReader(open(sys.argv[1]))}
nodes, parents = {}, {}
def close(one, other):
    return abs(one - other) < 1e-8
def walk(children, parent):
    for child in children:
        nodes[child["function"]] = child["self"]
        parents[child["function"]] = parent
        assert close(child["total"], child["self"] +
                     sum(below["total"] for below in child["children"])), child
        walk(child["children"], child["function"])
walk(json.load(open(sys.argv[2]))["events"][0]["tree"], None)
stacks = collections.Counter()
for line in open(sys.argv[3]):
    stack, weight = line.rsplit(" ", 1)
    stacks[stack.split(";")[0]] += int(weight)
assert all(close(own, rows.get(name, 0)) for name, own in nodes.items()), (nodes, rows)
assert set(rows) <= set(nodes), (nodes, rows)
assert set(stacks) == set(rows), (stacks, rows)
assert all(close(stacks[name] / sum(stacks.values()), rows[name]) for name in rows), (stacks, rows)
top = [name for name in nodes if parents[name] is None]
assert len(top) == 1 and top[0].startswith("sh all.sh ("), top
children = [name for name in nodes if name.startswith(("sh burn.sh (", "sh other.sh ("))]
assert len(children) == 2 and all(parents[name] == top[0] for name in children), parents
END_OF_PYTHON
	status=$?
	check "processes have equal sums as rows, tree and stacks" test $status = 0
	[ $status = 0 ] || comment "$(cat judged)"
else
	skip "processes have equal sums as rows, tree and stacks" "there is no python3"
fi
"$SPROF" report --processes -i data >tree.txt
check "the tree begins with the first process" grep -q '  sh all.sh ([0-9]*)$' tree.txt
check "its children are below it" grep -q -- '[├|└`][─-]* *sh other.sh ([0-9]*)$' tree.txt

# -q leaves out lines, and changes none of the others.
for keys in function comm,dso,function argument; do
	"$SPROF" report -i data -s "+$keys" >whole.txt
	"$SPROF" report -q -i data -s "+$keys" >quiet.txt
	check "-q changes no line of a table of +$keys" sh -c \
		'test -s quiet.txt && tail -n "$(wc -l <quiet.txt)" whole.txt | cmp - quiet.txt'
done

# An archive of compressed records; the program sees its arguments.
# Without names: the process that stores them after a recording would have the file's lock.
if "$SPROF" record --no-summary --no-names -z -o packed -- sh all.sh >/dev/null 2>err; then
	"$SPROF" report -q -s cmdline --format csv -i packed >before.csv
	check "a compressed recording has command lines" \
		grep -q 'other.sh --visible Wx0y' before.csv
	check "compressed records are there" sh -c '"$SPROF" info -i packed | grep -q compressed'
	"$SPROF" archive -i packed 2>err
	check "no command line stays" sh -c '! grep -q "command lines keep" err'
	"$SPROF" report -q -s cmdline,argument --format csv -i packed >after.csv
	"$SPROF" script -D -i packed >dump.txt 2>err
	for file in packed after.csv dump.txt; do
		check "$file of the archive has no argument" sh -c \
			'! grep -qa "Wx0y\|--visible" "$1"' sh "$file"
	done
	check "the archive keeps names of files" grep -q 'burn.sh' after.csv
else
	skip "an archive of compressed records" "$(tail -n 1 err)"
fi

# The recorder's command line in the header has the program, and names of files.
"$SPROF" record --no-summary -F 99 -o header -- sh burn.sh --visible Wx0y >/dev/null 2>&1
"$SPROF" record --no-summary -F 99 -z -o packed -- sh burn.sh --visible Wx0y >/dev/null 2>&1
"$SPROF" record --no-summary -F 99 -o plain sh burn.sh -hWx0y 'Wx0y Wx0y' >/dev/null 2>&1
"$SPROF" report -q --format speedscope -o header.speedscope -i header
"$SPROF" report -q --format speedscope --full-command-lines -o asked.speedscope -i header
check "an export's head has no argument" sh -c '! grep -q Wx0y header.speedscope'
check "an export's head has options, program and file" \
	grep -q 'sprof record .*-- sh burn.sh --visible \*\*\*' header.speedscope
check "an export's head has arguments if asked" grep -q Wx0y asked.speedscope
for file in header plain packed; do
	"$SPROF" archive -q -i $file
	check "$file of an archive has no argument" sh -c '! grep -qa "Wx0y\|visible" "$1"' sh $file
	"$SPROF" info -i $file >info.txt
	check "$file of an archive has options, program and file" \
		grep -q "sprof record --no-summary .*-o $file -- sh burn.sh [* '\\]*$" info.txt
	"$SPROF" report -i $file | head -n 1 >head.txt
	check "$file: the report says that arguments are hidden" \
		grep -qx "$file  sh burn.sh (other arguments hidden)" head.txt
done
"$SPROF" record --no-summary -F 99 -o asked -- sh burn.sh --visible Wx0y >/dev/null 2>&1
"$SPROF" archive -q --command-lines -i asked
check "an archive has all arguments if asked" grep -qa 'Wx0y' asked
if perf record -q -e cpu-clock -F 99 -o perf.data -- sh burn.sh --visible Wx0y >/dev/null 2>&1; then
	"$SPROF" archive -q -i perf.data
	check "an archive of perf's recording has no argument" sh -c '! grep -qa Wx0y perf.data'
	perf report -i perf.data --header-only 2>/dev/null >perf.txt
	check "perf reads its header" grep -q 'cmdline : .*perf record.* sh [*]* [*]* [*]*' perf.txt
else
	skip "an archive of perf's recording" "perf cannot record"
fi

"$SPROF" archive -q -i data
check "an archive has no arguments but names of files" sh -c \
	'! grep -qa -e "--token" data && grep -qa "burn.sh" data'
"$SPROF" report -q -s argument --format json -i data >rows.json
check "an archive keeps the key argument" grep -q '"argument": "burn.sh"' rows.json

"$SPROF" record --no-summary --no-command-lines -o none -- sh all.sh >/dev/null 2>&1
"$SPROF" report -q -s argument --format json -i none >rows.json
check "--no-command-lines records none" sh -c '! grep -q burn.sh rows.json'

if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
	perf report -i data --stdio --no-children -g none --sort comm 2>/dev/null >perf.txt
	check "perf reads the recording" grep -q ' sh ' perf.txt
else
	skip "perf reads the recording" "there is no perf"
fi
finish

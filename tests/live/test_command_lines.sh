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
sh other.sh https://user:Zq5z@host/ --secret Zq6z '{"credential": "Zq7z"}'
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

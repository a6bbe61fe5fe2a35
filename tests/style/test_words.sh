#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Plain English: openers of headings and comments, phrases, length of sentences (HACKING).
# UPDATE_CEILINGS=1 in the environment lowers the ceilings to today's counts.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/style/rules.sh"
ceilings=$top_srcdir/tests/style/ceilings
openers='what|who|whose|of|so|where|as|that|those|which|such|behind|beside'
phrases='of which|of whom|whose|whom|whoever|nobody|everyone|everybody|somebody|strangers?|for want of|goe?s? round|(is|are|was|were|be) told|so many|so long|so few|no news|beside|to be had|slip of the pen'

# FILE:LINE:HEADING of the given documents.
headings() {
	awk '
		FNR == 1 { previous = ""; fenced = 0 }
		/^```/ { fenced = !fenced }
		!fenced && /^#+ / { sub(/^#+ */, ""); print FILENAME ":" FNR ":" $0 }
		/^(---+|===+)$/ && previous != "" { print FILENAME ":" FNR - 1 ":" previous }
		{ previous = $0 }' "$@"
}

wrong_headings() {
	headings README HACKING doc/*.md $(ls doc/decisions/*.md 2>/dev/null) | grep -iE "^[^:]*:[0-9]+:($openers)\>"
}

# Sentences of more than $1 words in documents, without code, tables and headings. A colon, a
# semicolon and a list item end a sentence; text in parentheses or backquotes is one word.
long_sentences() {
	awk -v most="$1" '
		function ended(   n, i, sentence, count, word) {
			gsub(/`[^`]*`/, "CODE", text)
			gsub(/ *\([^()]*\)/, "", text)
			n = split(text, sentence, /[.!?:;]["*_)]*([ \t]+|$)/)
			for (i = 1; i <= n; i++) {
				count = split(sentence[i], word, /[ \t]+/)
				if (count > most)
					print begin ": " count " words: " substr(sentence[i], 1, 60) "..."
			}
			text = ""
		}
		FNR == 1 { ended(); fenced = 0 }
		/^```/ { fenced = !fenced; ended(); next }
		fenced { next }
		/^([ \t]*$|\t|    |\||#|---|===)/ && !/^ +[^ \t]/ { ended(); next }
		/^ *([*-]|[0-9]+\.) / { ended() }
		{
			if (text == "")
				begin = FILENAME ":" FNR
			sub(/^ *([*-]|[0-9]+\.) /, "")
			text = text " " $0
			sub(/^ +/, "", text)
		}
		END { ended() }' "$2"
}

long_sentences_of_documents() {
	long_sentences 25 README
	for file in HACKING doc/*.md $(ls doc/decisions/*.md 2>/dev/null); do
		long_sentences 30 "$file"
	done
}

# Kinds are comment and string.
tokens() {
	find "$@" -name '*.[ch]' | sort | xargs -r awk -f "$awk"
}

# Comments of shell and awk scripts, as tokens() prints them: consecutive lines are one comment.
script_comments() {
	{
		find "$@" -name '*.sh' -o -name '*.awk'
		grep -rIlE '^#!/bin/(ba)?sh' "$@"
	} | sort -u | xargs -r awk '
		function ended() {
			if (text != "")
				print "comment\t" place "\t" text
			text = ""
		}
		FNR == 1 { ended() }
		/^[ \t]*#([ \t]|$)/ {
			sub(/^[ \t]*#[ \t]*/, "")
			if (text == "")
				place = FILENAME ":" FNR
			text = text (text != "" && $0 != "" ? " " : "") $0
			next
		}
		{ ended() }
		END { ended() }'
}

wrong_comments() {
	awk -F '\t' -v openers="^($openers)[^a-z]" '
		$1 == "comment" && tolower($3 " ") ~ openers { print $2 ": " $3 }' "$1"
}

# wrong_phrases KIND FILE
wrong_phrases() {
	awk -F '\t' -v kind="$1" '$1 == kind { print $2 ": " $3 }' "$2" | phrases_in
}

# Lines of standard input, as FILE:LINE: TEXT, that have a phrase.
phrases_in() {
	grep -iE ": .*\<($phrases)\>"
}

wrong_texts() {
	grep -nH '' "$@" | sed 's/^\([^:]*:[0-9]*\):/\1: /' | phrases_in
}

# below_ceiling NAME FILE: passes if FILE has at most the lines that the ceiling of NAME allows.
below_ceiling() {
	count=$(wc -l <"$2")
	ceiling=$(sed -n "s/^$1 //p" "$ceilings")
	if [ -n "${UPDATE_CEILINGS-}" ] && [ "$count" -lt "$ceiling" ]; then
		sed -i "s/^$1 .*/$1 $count/" "$ceilings"
		ceiling=$count
	fi
	if [ "$count" -le "${ceiling:--1}" ]; then
		ok "$1: $count, at most $ceiling"
		[ "$count" = "$ceiling" ] || comment "lower $1 in tests/style/ceilings to $count"
	else
		not_ok "$1: $count, more than ${ceiling:-no ceiling}" "$(cat "$2")"
	fi
}

awk=$(cd "$top_srcdir" && pwd)/tests/style/tokens.awk
clean "headings begin with a noun or verb" wrong_headings
clean "sentences of documents are short" long_sentences_of_documents

cd "$top_srcdir" || exit 99
for tree in include lib src tests bench; do
	{
		tokens $tree
		script_comments $tree
	} >"$tmp/tokens"
	check "$tree has comments" grep -q '^comment' "$tmp/tokens"
	wrong_comments "$tmp/tokens" >"$tmp/wrong"
	below_ceiling "comment-openers-$tree" "$tmp/wrong"
	wrong_phrases comment "$tmp/tokens" >"$tmp/wrong"
	below_ceiling "comment-phrases-$tree" "$tmp/wrong"
	[ $tree != include ] || continue
	wrong_phrases string "$tmp/tokens" >"$tmp/wrong"
	below_ceiling "phrases-$tree" "$tmp/wrong"
done
wrong_texts doc/*.[137] >"$tmp/wrong"
below_ceiling phrases-manual "$tmp/wrong"
wrong_texts README $(ls doc/*.md doc/decisions/*.md | grep -v GLOSSARY) >"$tmp/wrong"
below_ceiling phrases-documents "$tmp/wrong"

# The checks themselves, on a tree that breaks each rule.
mkdir -p "$tmp/tree/doc" "$tmp/tree/lib"
cd "$tmp/tree" || exit 99
printf 'What it is\n==========\n\nWhatever\n--------\n' >README
printf 'Hacking\n=======\n' >HACKING
printf '# So it is\n\n```\n# Of code\n```\n## Sound\n' >doc/page.md
catches "a heading's opener is caught" wrong_headings \
'README:1:What it is
doc/page.md:1:So it is'
words() {
	seq -s ' ' "$1" | tr -d '\n'
}
{
	echo "$(words 25). $(words 26)"
	printf '\n%s\n\n\t%s\n| %s |\n- %s\n- %s.\n' "$(words 20)" "$(words 60)" "$(words 60)" \
		"$(words 20)" "$(words 20) (in $(words 9))"
} >README
printf '%s\n' "$(words 31)" >doc/page.md
catches "a long sentence is caught" long_sentences_of_documents \
'README:1: 26 words: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 ...
doc/page.md:1: 31 words: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 ...'
cat >lib/a.c <<'EOF'
/* What it is. */
/*
 * Who it is.
 */
int a; /* so it is */ int b; // whose
/* Whatever, or Sort. */
/*
 * Fine at first; then for so
 * long.
 */
f("a \" /* of which", '"'); f("so "
	"many"); g("/* what */", "fine");
EOF
commented() {
	tokens lib >"$tmp/made-up"
	wrong_comments "$tmp/made-up"
}
catches "a comment's opener is caught" commented \
'lib/a.c:1: What it is.
lib/a.c:2: Who it is.
lib/a.c:5: so it is
lib/a.c:5: whose'
spoken() {
	wrong_phrases comment "$tmp/made-up"
	wrong_phrases string "$tmp/made-up"
}
catches "a phrase in a comment and in a string is caught" spoken \
'lib/a.c:5: whose
lib/a.c:7: Fine at first; then for so long.
lib/a.c:11: a \" /* of which
lib/a.c:11: so many'
printf '#!/bin/sh\n# Fine.\n#\n# Nobody.\necho # no comment\n# What it is.\n' >lib/script
scripted() {
	script_comments lib >"$tmp/made-up"
	wrong_comments "$tmp/made-up"
	wrong_phrases comment "$tmp/made-up"
}
catches "a phrase and an opener in a script are caught" scripted \
'lib/script:6: What it is.
lib/script:2: Fine. Nobody.'
printf 'A page\nof nobody.\n' >doc/page.1
written() {
	wrong_texts doc/page.1
	wrong_texts doc/page.1 >"$tmp/wrong"
	ceilings=$tmp/ceilings
	echo 'made-up 0' >"$ceilings"
	below_ceiling made-up "$tmp/wrong" | head -n 1 | sed 's/[0-9]* - //'
}
catches "a phrase in a page is caught, and a ceiling exceeded" written \
'doc/page.1:2: of nobody.
not ok made-up: 1, more than 0'
finish

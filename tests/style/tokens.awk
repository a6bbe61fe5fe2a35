# SPDX-License-Identifier: GPL-2.0-or-later
# Lexer of C sources, for test_words.sh. Prints, with tabs between:
#	comment FILE:LINE TEXT   each comment; TEXT is all of its lines
#	string FILE:LINE TEXT    each string literal; adjacent ones are joined
FNR == 1 { flush(); in_comment = 0 }
{
	line = $0
	if (line ~ /^[ \t]*#[ \t]*include/)
		next
	while (line != "" || in_comment) {
		if (in_comment) {
			at = index(line, "*/")
			text = at ? substr(line, 1, at - 1) : line
			gsub(/^[ \t*]+|[ \t]+$/, "", text)
			comment = comment (comment != "" && text != "" ? " " : "") text
			if (!at)
				next
			in_comment = 0
			if (comment ~ /[A-Za-z]/)
				print "comment\t" opening "\t" comment
			line = substr(line, at + 2)
		} else if (!match(line, /\/[*\/]|"([^"\\]|\\.)*"|'([^'\\]|\\.)+'/)) {
			if (line ~ /[^ \t]/)
				flush()
			next
		} else {
			token = substr(line, RSTART, RLENGTH)
			if (substr(line, 1, RSTART - 1) ~ /[^ \t]/)
				flush()
			line = substr(line, RSTART + RLENGTH)
			if (token == "//") {
				sub(/^[ \t]*/, "", line)
				print "comment\t" FILENAME ":" FNR "\t" line
				next
			}
			if (token == "/*") {
				in_comment = 1
				comment = ""
				opening = FILENAME ":" FNR
			} else if (token ~ /^"/) {
				if (strings == "")
					place = FILENAME ":" FNR
				strings = strings substr(token, 2, length(token) - 2)
			}
		}
	}
}
END { flush() }

function flush()
{
	if (strings != "")
		print "string\t" place "\t" strings
	strings = ""
}

# SPDX-License-Identifier: GPL-2.0-or-later
# For tests/cli/test_sources.sh.
#
#	mode=lines       what a tool prints of addresses, as "ADDRESS<TAB>NAME@FILE:LINE ...": one
#	                 line each, the innermost function first. `column`: that many numbers
#	                 follow the line; `short`: files without folders
#	mode=compare     OURS, then an oracle's: prints each address where the chains of places
#	                 differ, as "ADDRESS", and with names=1 also where those of inlined
#	                 functions do
BEGIN { FS = "\t" }

# Names are compared without what they are in: that is ours alone (the oracles have
# "stat" for "outer::stat"). The outermost is the symbol table's in some.
function chain(text, names,    part, frame, n, i, made) {
	n = split(text, part, " ")
	made = ""
	for (i = 1; i <= n; i++) {
		split(part[i], frame, "@")
		sub(/.*::/, "", frame[1])
		made = made " " (names && i < n ? frame[1] "@" : "") frame[2]
	}
	return made
}

function put() {
	if (address != "")
		print address "\t" places
}

mode == "lines" && /^0x[0-9a-f]+$/ {
	put()
	address = $0
	sub(/^0x0*/, "", address)
	places = ""
	second = 0
	next
}
mode == "lines" && $0 == "" { next }
mode == "lines" {
	second = !second
	if (second) {
		sub(/ inlined at .*/, "")
		gsub(/ /, "_")
		name = $0
		next
	}
	sub(/ \(discriminator [0-9]+\)$/, "")
	if (column)
		sub(/:[0-9]+$/, "")
	gsub(/\/\.\//, "/")
	sub(/^\?\?.*/, "?")
	sub(/:\?$/, ":0")
	# A file without line is of the symbol table (crtstuff.c).
	if ($0 !~ /\// && $0 ~ /:0$/)
		$0 = "?"
	# Not all put the folder of the compilation before a relative path.
	if (short)
		sub(/.*\//, "")
	places = places (places == "" ? "" : " ") name "@" $0
}
mode == "compare" && NR == FNR { ours[$1] = $2; next }
mode == "compare" && chain(ours[$1], names) != chain($2, names) { print $1 }
END {
	if (mode == "lines")
		put()
}

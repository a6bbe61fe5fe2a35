# SPDX-License-Identifier: GPL-2.0-or-later
# perf script -F comm,ip,sym,dso | awk -f fold.awk: call chains as folded lines,
# "comm;root;...;leaf COUNT". Frames of the kernel end in _[k]; what has no name is [dso].
function flush(   line, i) {
	if (comm == "")
		return
	line = comm
	for (i = depth; i >= 1; i--)
		line = line ";" frames[i]
	chains[line]++
	comm = ""
}
/^$/ { flush(); depth = 0; next }
/^[^ \t]/ { flush(); depth = 0; comm = $1; gsub(/;/, ":", comm); next }
# Address of a caller that perf 6.1 could not find.
$1 == "ffffffffffffffff" { next }
{
	dso = $NF
	name = $0
	sub(/^[ \t]*[0-9a-f]+ /, "", name)
	sub(/ \([^ ]*( \(deleted\))?\)( *\(inlined\))?$/, "", name)
	sub(/\+0x[0-9a-f]+$/, "", name)
	gsub(/;/, ":", name)
	gsub(/[()]/, "", dso)
	sub(/.*\//, "", dso)
	if (name == "[unknown]")
		name = "[" dso "]"
	if (dso ~ /^\[kernel|^\[guest|\.ko/ || $1 ~ /^ffff[89a-f]/)
		name = name "_[k]"
	frames[++depth] = name
}
END {
	flush()
	for (line in chains)
		print line, chains[line]
}

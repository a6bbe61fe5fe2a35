# SPDX-License-Identifier: GPL-2.0-or-later
# totals.awk -v job="job NAME" -v counts="BYTES FILES PERCENT" -v sources=PATTERN: a job's part of
# the table.
#
# Reads callgrind's files. Sums the instructions of each function itself, without its callees, and
# prints all functions, the largest first. Functions of other projects have the name of their library:
# its debug information may be missing. A function has no file if its first instruction was inlined
# from a header. With a pattern, only functions in sources of this project that match it count.
function name_of(text,  id) {
	id = text
	sub(/\).*/, ")", id)
	if (sub(/^\([0-9]+\) /, "", text))
		names[kind, id] = text
	return names[kind, id]
}
function base_of(path) {
	sub(/.*\//, "", path)
	return path
}
function source_of(path) {
	if (object !~ /^(sprof|simulate|symbolize|libsprof\.so.*)$/ ||
	    !match(path, /.*\/(lib|src|include|tests|bench)\//))
		return ""
	return base_of(substr(path, 1, RLENGTH - 1)) "/" substr(path, RLENGTH + 1)
}
FNR == 1 { split("", names) }
/^c?ob=/ {
	kind = "object"
	found = name_of(substr($0, index($0, "=") + 1))
	if (/^ob/)
		object = base_of(found)
}
/^(fl|fi|fe|cfi|cfl)=/ {
	kind = "file"
	found = name_of(substr($0, index($0, "=") + 1))
	if (/^fl/)
		file = found
}
/^c?fn=/ {
	kind = "function"
	found = name_of(substr($0, index($0, "=") + 1))
	if (/^cfn/)
		next
	sub(/(\047[0-9]+|\.(isra|constprop|part|cold)(\.[0-9]+)?)+$/, "", found)
	source = source_of(file)
	counted = sources == "" || source ~ sources
	name = source == "" ? object : source ~ /\.c$/ ? base_of(source) ":" found : found
}
# The next line is the cost of the callees.
/^calls=/ { getline; next }
/^[0-9+*-]/ && counted {
	self[name] += $2
	sum += $2
}
END {
	printf "%s %.0f %s\n", job, sum, counts
	fflush()
	for (name in self)
		printf "\t%.0f %s\n", self[name], name | "sort -k1,1nr -k2"
}

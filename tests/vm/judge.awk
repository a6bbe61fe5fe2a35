# SPDX-License-Identifier: GPL-2.0-or-later
# judge.awk -v kernel=NAME -v test=NAME EXPECTED LOG: what one test's TAP is worth. Prints "ok" or
# "not ok", a summary, and then what there is to say of it, line by line.
function glob(pattern) {
	gsub(/\./, "\\.", pattern)
	gsub(/\*/, ".*", pattern)
	gsub(/,/, "|", pattern)
	return "^(" pattern ")$"
}

# The expectation of that kind that the text fits, or "".
function expected(kind, text,    i) {
	for (i = 1; i <= rules; i++)
		if (rule_kind[i] == kind && text ~ rule_text[i])
			return rule_why[i]
	return ""
}

function skipped(name, reason) {
	skips++
	if (expected("skip", name ": " reason) != "")
		note[++notes] = "skipped: " name ": " reason
	else
		bad[++bads] = "skipped, which nothing in tests/vm/expected foresees: " name ": " reason
}

FILENAME == ARGV[1] {
	if ($0 ~ /^#/ || split($0, field, /\t+/) < 5)
		next
	if (kernel ~ glob(field[1]) && test ~ glob(field[2])) {
		rules++
		rule_kind[rules] = field[3]
		rule_text[rules] = field[4]
		rule_why[rules] = field[5]
	}
	next
}

# Notes go to the failure that they stand behind.
failing && /^#/ && !/^# vm:/ { bad[++bads] = "  " $0; next }
{ failing = 0 }

/^# vm: status/ { ended = 1; status = $4 }
/^1\.\.0 *# *[Ss][Kk][Ii][Pp]/ {
	plan = 1
	reason = $0
	sub(/^1\.\.0 *# *[Ss][Kk][Ii][Pp][^ ]* */, "", reason)
	whole = reason
	skipped("all", reason)
	next
}
/^1\.\.[0-9]/ { plan = 1; planned = substr($1, 4) + 0; next }
/^Bail out!/ { bad[++bads] = $0 }
/^ok/ {
	results++
	name = $0
	sub(/^ok [0-9]* *-* */, "", name)
	if (match(name, / # [Ss][Kk][Ii][Pp] */))
		skipped(substr(name, 1, RSTART - 1), substr(name, RSTART + RLENGTH))
	else
		passes++
}
/^not ok/ {
	results++
	name = $0
	sub(/^not ok [0-9]* *-* */, "", name)
	why = expected("may fail", name)
	if (why != "") {
		allowed++
		note[++notes] = "failed, which is let pass (" why "): " name
	} else {
		bad[++bads] = name
		failing = 1
	}
}
END {
	if (!ended)
		bad[++bads] = "it was not run, or not to its end"
	else if (status == 124 || status == 137)
		bad[++bads] = "its time was up"
	else if (!plan)
		bad[++bads] = "it ended before its plan, with status " status
	else if (planned != results && whole == "")
		bad[++bads] = planned " results were planned, " results " came"
	print bads ? "not ok" : "ok"
	summary = (passes + 0) " passed"
	if (skips)
		summary = summary ", " skips " skipped"
	if (allowed)
		summary = summary ", " allowed " failed that may"
	print summary
	for (i = 1; i <= bads; i++)
		print bad[i]
	for (i = 1; i <= notes; i++)
		print note[i]
}

# SPDX-License-Identifier: GPL-2.0-or-later
# compare.awk TABLE NOW: prints a line of ok, not_ok or comment, and a tab before its text, for each job.
function more(value, limit) {
	return sprintf("%.0f, %.0f in the table: %+.1f %%", value, limit, limit ? 100 * (value / limit - 1) : 100)
}
# The functions that grew most. Others than in the table had at most the smallest count there.
function grown(job,  list, n, i, best, name, text) {
	for (name in now)
		if (index(name, job SUBSEP) == 1)
			growth[name] = now[name] - ((name in was) ? was[name] : least[job])
	for (n = 0; n < 6; n++) {
		best = ""
		for (name in growth)
			if (growth[name] > 0 && (best == "" || growth[name] > growth[best]))
				best = name
		if (best == "")
			break
		text = text sprintf("; %s +%.0f to %.0f", substr(best, length(job) + 2), growth[best], now[best])
		delete growth[best]
	}
	split("", growth)
	return "functions that grew most: " (text == "" ? "none" : substr(text, 3))
}
BEGIN { split("x x instructions bytes files", quantity) }
$1 == "job" {
	job = $2
	for (i = 3; i <= 5; i++)
		if (FILENAME == ARGV[1])
			line[job, i] = $i
		else
			got[job, i] = $i
	if (FILENAME == ARGV[1])
		percent[job] = $6
	else
		jobs[++count] = job
}
/^\t/ && FILENAME == ARGV[1] { was[job, $2] = least[job] = $1 }
/^\t/ && FILENAME != ARGV[1] { now[job, $2] = $1 }
END {
	for (n = 1; n <= count; n++) {
		job = jobs[n]
		for (i = 3; i <= 5; i++) {
			if (line[job, i] + got[job, i] == 0)
				continue
			text = job ": " quantity[i] "\t" more(got[job, i], line[job, i])
			limit = line[job, i] * (1 + percent[job] / 100)
			if (!((job, i) in line) || got[job, i] > limit)
				print "not_ok\t" text (i == 3 ? "; " grown(job) : "")
			else
				print "ok\t" text
			if (got[job, i] < line[job, i] * (1 - percent[job] / 100))
				print "comment\t" text ". Lower the line: UPDATE_BUDGETS=1"
		}
	}
}

# SPDX-License-Identifier: GPL-2.0-or-later
# For translate: writes commands of fish.

function quote(text) {
	gsub(/[\\']/, "\\\\&", text)
	return "'" text "'"
}

# The values of an option, as arguments of fish's complete: -x if one must follow.
function arguments(long, value, values) {
	if (value ~ /^\[/)
		return values ~ /^[*,]/ ? "" : " -f -a " quote(values)
	if (long == "pid" || long == "tid")
		return " -x -a '(__fish_complete_list , __fish_complete_pids)'"
	if (long == "uid")
		return " -x -a '(__fish_complete_users)'"
	if (values == "-")
		return " -r -F"
	if (values == "/")
		return " -x -a '(__fish_complete_directories)'"
	if (values == "*")
		return " -x"
	if (sub(/^, /, "", values)) {
		gsub(/ /, "\\n", values)
		return " -x -a \"(__fish_complete_list , 'printf \\\"" values "\\\\n\\\"')\""
	}
	return " -x -a " quote(values)
}

function print_option(names, long, value, text, values) {
	print "complete -c sprof -n '__fish_seen_subcommand_from " command "'" names \
		(value == "" ? "" : arguments(long, value, values)) " -d " quote(text)
}

BEGIN {
	print "# Made by contrib/completion/translate."
	print "complete -c sprof -n __fish_use_subcommand -a help -d 'explain a command or a task'"
}

NF == 2 {
	command = $1
	print "complete -c sprof -n __fish_use_subcommand -a " command " -d " quote($2)
	next
}

{
	long = $3
	negative = sub(/^\[no-\]/, "", long)
	print_option(($2 == "" ? "" : " -s " $2) (long == "" ? "" : " -l " long), long, $4, $5, $6)
	if (negative)
		print_option(" -l no-" long, long, "", "switch off --" long, "")
}

END {
	print "complete -c sprof -n '__fish_seen_subcommand_from record stat'" \
		" -x -a '(__fish_complete_subcommand --fcs-skip=2)'"
}

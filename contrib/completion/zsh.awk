# SPDX-License-Identifier: GPL-2.0-or-later
# For translate: writes functions for zsh's _arguments.

function quote(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# Text in a specification of _arguments.
function escape(text) {
	gsub(/[\]\[:\\]/, "\\\\&", text)
	return text
}

function action(long, values) {
	if (long == "pid" || long == "tid")
		return "_sequence _pids"
	if (long == "uid")
		return "_users"
	if (values == "*")
		return " "
	if (values == "-")
		return "_files"
	if (values == "/")
		return "_files -/"
	if (sub(/^, /, "", values))
		return "_sequence compadd - " values
	return "(" escape(values) ")"
}

# Prints an option that may be given several times.
function print_option(name, value, long, text, values) {
	line = "*" name
	if (value != "")
		line = line (value ~ /^\[/ ? (name ~ /^--/ ? "=-" : "-") : (name ~ /^--/ ? "=" : "+"))
	line = line "[" escape(text) "]"
	if (value != "")
		line = line (value ~ /^\[/ ? "::" : ":") escape(value) ":" action(long, values)
	print "\t\t" quote(line) " \\"
}

function end_command() {
	rest = command ~ /^(record|stat)$/ ? "'*:::command:_normal'" : "'*:recording:_files'"
	if (command != "")
		print "\t\t" rest "\n\t\t;;"
}

BEGIN {
	print "#compdef sprof\n# Made by contrib/completion/translate.\n\n_sprof_options() {\n\tcase $1 in"
}

NF == 2 {
	end_command()
	command = $1
	described = described "\t\t" quote($1 ":" $2) " \\\n"
	print "\t" command ")\n\t\t_arguments -s -S \\"
	next
}

{
	long = $3
	negative = sub(/^\[no-\]/, "", long)
	if ($2 != "")
		print_option("-" $2, $4, long, $5, $6)
	if (long != "")
		print_option("--" long, $4, long, $5, $6)
	if (negative)
		print_option("--no-" long, "", long, "switch off --" long, "")
}

END {
	end_command()
	print "\tesac\n}\n"
	print "_sprof() {\n\tlocal -a subcommands=( \\\n" described "\t\t'help:explain a command or a task')"
	print "\tif ((CURRENT == 2)); then\n\t\t_describe command subcommands"
	print "\telse\n\t\tshift words\n\t\t((CURRENT--))\n\t\tcurcontext=${curcontext%:*:*}:sprof-$words[1]:"
	print "\t\t_sprof_options $words[1]\n\tfi\n}\n\n_sprof \"$@\""
}

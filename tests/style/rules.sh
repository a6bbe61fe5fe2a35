# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the style tests: what they all do with a list of violations.

# clean NAME FUNCTION: passes if FUNCTION, run at the top of the sources, prints
# nothing.
clean() {
	(cd "$top_srcdir" && $2) >"$tmp/found" 2>&1
	if [ -s "$tmp/found" ]; then
		not_ok "$1" "$(cat "$tmp/found")"
	else
		ok "$1"
	fi
}

# catches NAME FUNCTION WANTED: passes if FUNCTION, run in the made-up tree
# $tmp/tree, prints exactly what is wrong there.
catches() {
	(cd "$tmp/tree" && $2) >"$tmp/found" 2>&1
	printf '%s\n' "$3" >"$tmp/wanted"
	same "$1" "$tmp/wanted" "$tmp/found"
}

# C sources and headers below the given folders, comments and string contents
# blanked out, each line as FILE:LINE:TEXT.
code() {
	find "$@" -name '*.[ch]' | sort | xargs -r awk '
		FNR == 1 { comment = 0 }
		{
			out = ""
			n = length($0)
			for (i = 1; i <= n; i++) {
				two = substr($0, i, 2)
				c = substr($0, i, 1)
				if (comment) {
					if (two == "*/") { comment = 0; i++ }
				} else if (two == "/*") {
					comment = 1
					i++
				} else if (two == "//") {
					break
				} else if (c == "\"" || c == "\047") {
					out = out c
					for (i++; i <= n && substr($0, i, 1) != c; i++)
						if (substr($0, i, 1) == "\\")
							i++
					out = out c
				} else
					out = out c
			}
			print FILENAME ":" FNR ":" out
		}'
}

# Prints "PART OTHER" for each symbol that the object of a part takes from another's, by the objects
# below $objects. Parts are paths without suffix: lib/file/damage. Objects of removed sources may be
# left in a build folder.
object_calls() { # FOLDER...
	(cd "$objects" && find "$@" -name '*.o' 2>/dev/null | xargs -r nm -A -P) | awk '
		{
			part = $1
			sub(/\.o:$/, "", part)
			sub(/\/\.libs\//, "/", part)
			sub(/[^\/]*-/, "", part)
			if (!(part in known)) {
				known[part] = (getline line <(part ".c")) >= 0
				close(part ".c")
			}
			if (known[part]) print part, $2, $3
		}' | sort -u | awk '
		$3 ~ /^[TDBRVW]$/ { owner[$2] = $1 }
		$3 == "U" { part[++n] = $1; symbol[n] = $2 }
		END {
			for (i = 1; i <= n; i++)
				if (symbol[i] in owner && owner[symbol[i]] != part[i])
					print part[i], owner[symbol[i]]
		}' | sort -u
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced behind lib.sh by tests that hold a table to perf's:
#
#	compares NAME PERF FILE [OPTION]...    passes if sprof and that perf give the same
#	                                       rows and counts of samples
#	compares_totals NAME PERF FILE [OPTION]...
#	                                       the same of rows and total shares
#	compares_keys NAME PERF FILE KEYS [OPTION]...
#	                                       the same of rows by other keys, which both know;
#	                                       $perf_only are options of perf's alone, and
#	                                       $normalise is for sed, before rows are compared
#	sprof_table [OPTION]...                makes $tmp/sprof.rows
#	perf_rows FILE                         the rows of perf report --stdio
#	differences, verdict                   see there
#
# Rows are lines of EVENT, COMM, DSO, SYMBOL, SAMPLES and SHARE, with tabs between; the
# share is of totals in tables of those.

# The fields of a CSV line into f[1..n].
split_csv='
		function split_csv(line,    n, i, c, field, quoted) {
			n = 0
			field = ""
			quoted = 0
			for (i = 1; i <= length(line); i++) {
				c = substr(line, i, 1)
				if (quoted) {
					if (c != "\"")
						field = field c
					else if (substr(line, i + 1, 1) == "\"") {
						field = field c
						i++
					} else
						quoted = 0
				} else if (c == "\"")
					quoted = 1
				else if (c == ",") {
					f[++n] = field
					field = ""
				} else
					field = field c
			}
			f[++n] = field
			return n
		}
		{ n = split_csv($0) }
		NR == 1 {
			for (i = 1; i <= n; i++)
				column[f[i]] = i
			next
		}
'

# perf has no rows of time without samples.
sprof_rows() {
	awk "$split_csv"'
		share == "self" && f[column["self_samples"]] + 0 == 0 { next }
		{
			event = "event" in column ? f[column["event"]] : "-"
			print event "\t" f[column["comm"]] "\t" f[column["dso"]] "\t" \
				f[column["symbol"]] "\t" f[column["self_samples"]] "\t" \
				f[column[share]]
		}' share="$2" "$1"
}

# Columns are where the dots below the titles are, the last one goes on; with -t TAB
# there are tabs.
perf_rows() {
	awk -F '\t' '
		/^# Samples: .* of event/ {
			event = $0
			sub(/^[^\047]*\047/, "", event)
			sub(/\047.*$/, "", event)
		}
		/^# (Overhead|Children)/ {
			tabs = NF > 1
			numbers = /Samples/
			k = 1 + numbers + /Children/
		}
		/^# \.\.\.\./ {
			n = 0
			for (i = 3; i <= length($0); i++)
				if (substr($0, i, 1) == "." && substr($0, i - 1, 1) != ".")
					begin[++n] = i
				else if (substr($0, i, 1) != "." && substr($0, i - 1, 1) == ".")
					end[n] = i
			end[n] = 100000
		}
		/^#/ || !NF || !(n || tabs) { next }
		{
			for (i = 1; i <= k + 3; i++) {
				cell[i] = tabs ? $i : substr($0, begin[i], end[i] - begin[i])
				gsub(/^ +| +$/, "", cell[i])
				sub(/^\[JIT\] tid [0-9]+$/, "[JIT]", cell[i])
			}
			share = cell[1]
			sub(/%/, "", share)
			print event "\t" cell[k + 1] "\t" cell[k + 2] "\t" cell[k + 3] "\t" \
				(numbers ? cell[k] : "-") "\t" share / 100
		}' "$1"
}

# differences PERF-ROWS SPROF-ROWS FIELD CUT: prints where the two tables are not the same in
# FIELD, 5 (samples) or 6 (share; perf prints four digits). Notation is not compared: event
# modifiers, zeros before addresses; and names are demangled by c++filt, as each perf does it in
# another way. perf has a module of generated code for each process, sprof one for all ("[JIT]").
# Where functions of a file or files share a name, sprof adds what distinguishes them, and perf
# has rows that look the same: they are added up.
# perf has addresses where sprof has functions of call frame information (fn@0x…) or gaps
# between symbols (0x…-0x…): in
# such a module both are added up. In a module with names for sprof only (of a debug file that is
# on this host), symbols are added up; so are PLT entries, which perf 6.1 miscounts, does not
# name, or takes for _init. With CUT, perf's rows end there: it lists fewer.
differences() {
	{ awk -F '\t' -v OFS='\t' -v field="$3" -v cut="$4" '
		function symbol_of(text) {
			sub(/^\[[.kuHg]\] /, "", text)
			if (text ~ /^0x/)
				sub(/^0x0*/, "0x", text)
			# perf looks a return address up as it is: behind a call that is the
			# last instruction of a function, it finds the next one.
			if (text == "_dl_start_user")
				return "_start"
			return text == "0x" ? "0x0" : text
		}
		# The name without what distinguishes it from others: an address, a source file,
		# a variant, parameters.
		function bare(text,    i, depth, c) {
			if (text !~ /^fn@/)
				sub(/@0x[0-9a-f]+$/, "", text)
			sub(/ \([^() ]*\.[a-zA-Z]+\)$/, "", text)
			sub(/ \[(clone [^]]*|deleting|base)\]$/, "", text)
			if (text !~ /[^ ]\)( const)?$/ || text ~ /operator\(\)$/)
				return text
			for (i = length(text); i > 0; i--) {
				c = substr(text, i, 1)
				depth += (c == ")") - (c == "(")
				if (c == "(" && !depth)
					return substr(text, 1, i - 1)
			}
			return text
		}
		function event_of(text) {
			sub(/:[a-zA-Z]*$/, "", text)
			return text
		}
		function merged(text, dso) {
			if (named_by_sprof[dso] && !named_by_perf[dso])
				return "*"
			# JIT code of simpleperf has run time addresses here, file offsets in perf.
			if ((has_ranges[dso] || dso ~ /jit_app_cache/) && text ~ /^(fn@)?0x/)
				return "0x*"
			return text
		}
		FNR == NR {
			event = event_of($1)
			events[event] = 1
			last_event = event
			n++
			row_event[n] = event; comm[n] = $2; dso[n] = $3
			symbol[n] = symbol_of($4); value[n] = $field
			if (symbol[n] !~ /^0x/)
				named_by_perf[$3] = 1
			known_comm[event, $2] = 1
			next
		}
		{
			m++
			if ($3 !~ /^\[/)
				sub(/.*\//, "", $3)
			$4 = bare($4)
			row[m] = $0
			if ($4 ~ /^fn@0x|^0x[0-9a-f]+-0x/)
				has_ranges[$3] = 1
			else if (symbol_of($4) !~ /^0x/)
				named_by_sprof[$3] = 1
		}
		END {
			for (i = 1; i <= n; i++) {
				symbol[i] = merged(symbol[i], dso[i])
				wanted[row_event[i], comm[i], dso[i], symbol[i]] += value[i]
				count[row_event[i], comm[i], dso[i], symbol[i]]++
			}
			for (i = 1; i <= m; i++) {
				split(row[i], f, "\t")
				event = f[1] == "-" ? last_event : event_of(f[1])
				name = merged(symbol_of(f[4]), f[3])
				# perf 6.1 cuts commands where it first saw a shorter one.
				for (size = length(f[2]); size > 6; size--)
					if ((event, substr(f[2], 1, size)) in known_comm) {
						f[2] = substr(f[2], 1, size)
						break
					}
				got[event, f[2], f[3], name] += f[field]
			}
			for (key in got) {
				split(key, part, SUBSEP)
				if (!(key in wanted) && part[4] ~ /(@|^\.)plt/) {
					entries[part[1], part[2], part[3]] += got[key]
					delete got[key]
				}
			}
			for (key in wanted) {
				split(key, part, SUBSEP)
				plt = part[1] SUBSEP part[2] SUBSEP part[3]
				if (part[4] !~ /^0x|@plt$|^_init$/ || !entries[plt])
					continue
				more = wanted[key] - got[key]
				if (more > 0 && more <= entries[plt] + 0.00011) {
					entries[plt] -= more
					wanted[key] -= more
				}
				if (wanted[key] < 1e-9)
					delete wanted[key]
				if (got[key] < 1e-9)
					delete got[key]
			}
			for (plt in entries)
				if (entries[plt] > 0.0001 || entries[plt] < -0.0001) {
					gsub(SUBSEP, " | ", plt)
					print "PLT entries: " plt
				}
			for (key in got) {
				text = key
				gsub(SUBSEP, " | ", text)
				far = field == 5 ? 0.5 : 0.0000501 * (count[key] ? count[key] : 1)
				if (!(key in wanted)) {
					if (!cut)
						print "only sprof: " text ": " got[key]
				} else if (got[key] - wanted[key] > far || wanted[key] - got[key] > far)
					print "perf " wanted[key] ", sprof " got[key] ": " text
			}
			for (key in wanted) {
				text = key
				gsub(SUBSEP, " | ", text)
				if (!(key in got))
					print "only perf: " text ": " wanted[key]
			}
		}' "$1" "$2" || echo "awk failed"; } | sort
}

verdict() {
	if [ -s "$tmp/differences" ]; then
		not_ok "$1" "$(head -n 20 "$tmp/differences")"
	else
		ok "$1"
	fi
}

sprof_table() {
	"$SPROF" report --no-children --no-branch-stack -s comm,dso,symbol --format csv "$@" \
		>"$tmp/.sprof" 2>"$tmp/.sprof.err"
	sprof_rows "$tmp/.sprof" self >"$tmp/sprof.rows"
}

# perf_table PERF FILE [OPTION]...: makes $tmp/perf.rows; false if it is empty. Perf gets
# $perf_options, too.
perf_table() {
	binary=$1 file=$2
	shift 2
	"$binary" report --stdio -g none -s comm,dso,sym -n -t '	' --no-branch-stack \
		--no-group --no-demangle -f -i "$file" ${perf_options-} "$@" >"$tmp/.perf" 2>"$tmp/.perf.err"
	perf_rows "$tmp/.perf" | c++filt -p -i >"$tmp/perf.rows"
	test -s "$tmp/perf.rows"
}

compares() {
	name=$1 binary=$2 file=$3
	shift 3
	if ! perf_table "$binary" "$file" --no-children "$@"; then
		skip "$name" "perf shows no rows"
		return
	fi
	sprof_table -i "$file" "$@"
	differences "$tmp/perf.rows" "$tmp/sprof.rows" 5 "" >"$tmp/differences"
	verdict "$name"
}

# Cells as both can have them: without levels, zeros before addresses, words for nothing.
plain_cells='
		function plain(text) {
			gsub(/^ +| +$/, "", text)
			sub(/^\[[.kuHg]\] +/, "", text)
			sub(/^\[JIT\] tid [0-9]+$/, "[JIT]", text)
			if (text ~ /^[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+$/ &&
			    length(text) == 16)
				text = "0x" text
			if (text ~ /^0x/)
				sub(/^0x0*/, "0x", text)
			return text == "-" || text == "N/A" ? "" : text == "0x" ? "0x0" : text
		}
'

# Rows of EVENT, the cells, and SAMPLES. Those that look alike are one: perf tells a place without
# a name apart where its file is mapped at other addresses.
sum_rows() {
	c++filt -p -i | sed "$normalise" | awk -F '\t' '
		{
			row = $0
			sub(/\t[^\t]*$/, "", row)
			sum[row] += $NF
		}
		END {
			for (row in sum)
				print row "\t" sum[row]
		}' | sort
}

keyed_rows_of_perf() {
	awk -F '\t' "$plain_cells"'
		/^# Samples: .* of event/ {
			event = $0
			sub(/^[^\047]*\047/, "", event)
			sub(/(:[a-zA-Z]*)?\047.*$/, "", event)
		}
		/^#/ || NF < 3 { next }
		{
			line = event
			count = split(keys, key, ",")
			for (i = 1; i <= count; i++)
				line = line "\t" plain($(i + 2))
			print line "\t" plain($2)
		}' keys="$2" "$1" | sum_rows
}

keyed_rows_of_sprof() {
	awk "$split_csv$plain_cells"'
		NR > 1 {
			event = "event" in column ? f[column["event"]] : alone
			sub(/:[a-zA-Z]*$/, "", event)
			line = event
			count = split(keys, key, ",")
			for (i = 1; i <= count; i++)
				line = line "\t" plain(f[column[key[i]]])
			print line "\t" f[column["self_samples"]]
		}' keys="$2" alone="$3" "$1" | sum_rows
}

compares_keys() {
	name=$1 binary=$2 file=$3 keys=$4
	shift 4
	# shellcheck disable=SC2086 # words
	"$binary" report --stdio -g none --no-children --no-group --no-demangle -f -n -t '	' \
		-w 200,200,200,200,200,200,200,200,200,200,200 -s "$keys" -i "$file" $perf_only "$@" >"$tmp/.perf" 2>"$tmp/.perf.err"
	keyed_rows_of_perf "$tmp/.perf" "$keys" >"$tmp/perf.rows"
	if ! test -s "$tmp/perf.rows"; then
		skip "$name" "perf shows no rows: $(head -n 1 "$tmp/.perf.err")"
		return
	fi
	"$SPROF" report --no-children --format csv -s "$keys" -i "$file" "$@" >"$tmp/.sprof" \
		2>"$tmp/.sprof.err"
	keyed_rows_of_sprof "$tmp/.sprof" "$keys" "$(cut -f 1 "$tmp/perf.rows" | tail -n 1)" \
		>"$tmp/sprof.rows"
	diff "$tmp/perf.rows" "$tmp/sprof.rows" >"$tmp/differences"
	verdict "$name"
}

compares_totals() {
	name=$1 binary=$2 file=$3
	shift 3
	if ! perf_table "$binary" "$file" --children --no-inline "$@"; then
		skip "$name" "perf shows no rows"
		return
	fi
	"$SPROF" report -s comm,dso,symbol --format csv -i "$file" "$@" >"$tmp/.sprof" 2>"$tmp/.sprof.err"
	sprof_rows "$tmp/.sprof" total >"$tmp/sprof.rows"
	# perf shows callers where nothing executable is mapped: the 0 behind the last frame, and what
	# code that has another use for the frame pointer's register leads to. sprof's stacks end there.
	# Callers without a name are run time addresses to perf (the C library's, if stripped), and each
	# is a row: a sample with two of them in the vDSO would count twice in their sum.
	for rows in perf sprof; do
		awk -F '\t' '$3 !~ /^(\[unknown\]|\[stack\]|\[heap\]|\/\/anon)$/ &&
			!(($3 !~ /^\[/ || $3 == "[vdso]") && $4 ~ /^(\[.\] *)?(fn@)?0x/)' "$tmp/$rows.rows" >"$tmp/callers"
		mv "$tmp/callers" "$tmp/$rows.rows"
	done
	differences "$tmp/perf.rows" "$tmp/sprof.rows" 6 "" >"$tmp/differences"
	verdict "$name"
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flat table is perf's: the same rows with the same sample counts, on live
# recordings of each kind and on every recording of the corpus.
. "$top_srcdir/tests/cli/lib.sh"

empty=$tmp/empty
mkdir "$empty"
perf=$(command -v perf)

# differences PERF-ROWS SPROF-ROWS FIELD CUT: prints where the two tables are not the
# same in FIELD, 5 (samples) or 6 (share, of which perf prints four digits). What is
# not compared is how things are written: event modifiers, zeros before addresses.
# In a module of which perf has no names but sprof has (of a debug file that is on
# this host), symbols are added up; so are PLT entries, which perf 6.1 miscounts,
# does not name, or takes for _init. With CUT, perf's rows end there: it lists fewer.
differences() {
	awk -F '\t' -v OFS='\t' -v field="$3" -v cut="$4" '
		function symbol_of(text) {
			sub(/^\[[.kuHg]\] /, "", text)
			if (text ~ /^0x/)
				sub(/^0x0*/, "0x", text)
			return text == "0x" ? "0x0" : text
		}
		function event_of(text) {
			sub(/:[a-zA-Z]*$/, "", text)
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
			row[m] = $0
			if (symbol_of($4) !~ /^0x/)
				named_by_sprof[$3] = 1
		}
		END {
			for (i = 1; i <= n; i++) {
				if (named_by_sprof[dso[i]] && !named_by_perf[dso[i]])
					symbol[i] = "*"
				wanted[row_event[i], comm[i], dso[i], symbol[i]] += value[i]
				count[row_event[i], comm[i], dso[i], symbol[i]]++
			}
			for (i = 1; i <= m; i++) {
				split(row[i], f, "\t")
				event = f[1] == "-" ? last_event : event_of(f[1])
				name = symbol_of(f[4])
				if (named_by_sprof[f[3]] && !named_by_perf[f[3]])
					name = "*"
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
				if (more > 0 && more <= entries[plt]) {
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
		}' "$1" "$2" | sort
}

verdict() {
	if [ -s "$tmp/differences" ]; then
		not_ok "$1" "$(head -n 20 "$tmp/differences")"
	else
		ok "$1"
	fi
}

sprof_table() {
	"$SPROF" report --no-children -s comm,dso,symbol --format csv "$@" >"$tmp/.sprof" \
		2>"$tmp/.sprof.err"
	sprof_rows "$tmp/.sprof" >"$tmp/sprof.rows"
}

# compares NAME PERF FILE [OPTION]...: the counts of samples.
compares() {
	name=$1 binary=$2 file=$3
	shift 3
	"$binary" report --stdio --no-children -g none -s comm,dso,sym -n -t '	' \
		--no-branch-stack --no-group -f -i "$file" "$@" >"$tmp/.perf" 2>"$tmp/.perf.err"
	perf_rows "$tmp/.perf" >"$tmp/perf.rows"
	if ! [ -s "$tmp/perf.rows" ]; then
		skip "$name" "perf shows no rows"
		return
	fi
	sprof_table -i "$file" "$@"
	differences "$tmp/perf.rows" "$tmp/sprof.rows" 5 "" >"$tmp/differences"
	verdict "$name"
}

live() {
	name=$1
	shift
	if "$perf" record -q -e cpu-clock -F 1999 -o "$tmp/live.data" "$@" >"$tmp/.record" 2>&1; then
		compares "perf record $name" "$perf" "$tmp/live.data"
	else
		skip "perf record $name" "perf: $(tail -n 1 "$tmp/.record")"
	fi
}

# Where perf's stored table is not to be compared, and why.
other_table() {
	if zcat "$1.oracle"/p*/evlist.txt.gz 2>/dev/null | grep -q 'BRANCH_STACK'; then
		echo "perf lists branches"
	elif zcat "$2" | grep -q "^# Samples: .* of events* 'anon group"; then
		echo "perf lists a group's events side by side"
	fi
}

# The newest of the stored tables that has rows: perf 6.1 refuses what is newer.
stored_report() {
	for version in p61 p612 pnew; do
		if zcat "$1/$version/report.txt.gz" 2>/dev/null | perf_rows /dev/stdin | grep -q .; then
			echo "$1/$version/report.txt.gz"
			return
		fi
	done
}

corpus_file() {
	name=${1#"$SPROF_CORPUS"/}
	report=$(stored_report "$1.oracle")
	[ -n "$report" ] || return # no perf shows anything
	reason=$(other_table "$1" "$report")
	if [ -n "$reason" ]; then
		skip "$name: the shares are perf's" "$reason"
	else
		cut=$(sed -n 's/.* report .* lines=\([0-9]*\) kept=\([0-9]*\) .*/\1 \2/p' \
			"$1.oracle/rc.txt" | awk '$1 > $2 { print "cut"; exit }')
		zcat "$report" | perf_rows /dev/stdin >"$tmp/perf.rows"
		sprof_table -i "$1" --symfs "$empty"
		differences "$tmp/perf.rows" "$tmp/sprof.rows" 6 "$cut" >"$tmp/differences"
		verdict "$name: the shares are perf's"
	fi
	case $report in
	*/p61/*) [ -z "$perf_is_61" ] ||
		compares "$name: the samples are perf's" "$perf" "$1" --symfs "$empty" ;;
	esac
}

if [ -n "$perf" ]; then
	live "of one process" "$workload/proportions" 0.5
	live "-g of one process" -g "$workload/deep" 100 0.5 50
	live "of threads that come and go" "$workload/threads" 4 0.5 20
	live "-g of threads" -g "$workload/threads" 4 0.5
	live "-g of processes" -g "$workload/forks" 20 20
	live "of processes that exec" "$workload/forks" 20 20 exec
	live "of a shell's commands" \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share /usr/lib >/dev/null; done'
	live "-a of the whole machine" -a "$workload/forks" 20 20 exec
	case $("$perf" --version) in
	*" 6.1."*) perf_is_61=yes ;;
	esac
else
	skip "the table is perf's" "needs perf"
fi

if [ -d "$SPROF_CORPUS" ]; then
	for folder in "$SPROF_CORPUS"/*/*.oracle; do
		case $folder in
		*/malformed/*) ;;
		*) corpus_file "${folder%.oracle}" ;;
		esac
	done
else
	skip "the tables of the corpus are perf's" "no corpus at $SPROF_CORPUS (SPROF_CORPUS)"
fi
finish

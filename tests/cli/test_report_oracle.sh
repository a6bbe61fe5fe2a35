#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flat table is perf's: the same rows with the same sample counts, on live
# recordings of each kind (by the newest perf too, where SPROF_PEERS is a folder with
# it) and on every recording of the corpus.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/tables.sh"

empty=$tmp/empty
mkdir "$empty"
perf=$(command -v perf)

live() {
	kind=$1
	shift
	title="$("$perf" --version) record $kind"
	if "$perf" record -q --no-bpf-event -e cpu-clock -F 1999 -o "$tmp/live.data" "$@" >"$tmp/.record" 2>&1; then
		compares "$title" "$perf" "$tmp/live.data"
		case $kind in
		-g*) compares_totals "$title, totals" "$perf" "$tmp/live.data" ;;
		esac
	else
		skip "$title" "$(tail -n 1 "$tmp/.record")"
	fi
}

# "COMM TAB DSO" of the mappings in $tmp/live.data with a path that is another file here: programs
# in other mount namespaces made them. perf enters these to read symbols. In a chroot it does not
# come back: it reads the remaining files outside. Files with another build-id than recorded are
# "* TAB DSO".
foreign_mappings() {
	"$perf" buildid-list -i "$tmp/live.data" 2>"$tmp/.perf.err" | while read -r id path; do
		[ ! -f "$path" ] || readelf -n "$path" 2>"$tmp/.readelf" | grep -q "$id" ||
			printf '*\t%s\n' "${path##*/}"
	done

	"$perf" script -f -i "$tmp/live.data" --show-mmap-events 2>"$tmp/.perf.err" |
		sed -En 's|^ *(.*[^ ]) +-?[0-9]+ +\[[0-9]+\] .* PERF_RECORD_MMAP2 .* ([0-9]+) [0-9]+\]: [-rwxps]+ (/.*)|\2\t\1\t\3|p' |
		sort -u | while IFS="$(printf '\t')" read -r inode comm path; do
			[ "$(stat -L -c %i "$path" 2>/dev/null)" = "$inode" ] ||
				printf '%s\t%s\n' "$comm" "${path##*/}"
		done
}

# All processes, with a program at the path of a stripped file in this mount namespace.
live_machine() {
	title="$("$perf" --version) record -a of the whole machine"
	strip -o "$tmp/twin" "$workload/proportions"
	unshare -m sh -c 'mount --bind "$1/proportions" "$2/twin" && exec "$2/twin" 60' \
		sh "$workload" "$tmp" >"$tmp/.twin" 2>&1 &
	twin=$!
	"$perf" record -q --no-bpf-event -e cpu-clock -F 1999 -o "$tmp/live.data" -a \
		"$workload/forks" 20 20 exec >"$tmp/.record" 2>&1
	recorded=$?
	[ $recorded = 0 ] && perf_table "$perf" "$tmp/live.data" --no-children
	kill $twin 2>/dev/null
	wait $twin 2>/dev/null
	if [ $recorded != 0 ]; then
		skip "$title" "$(tail -n 1 "$tmp/.record")"
		return
	fi
	# perf gives all of these the name of the last.
	if "$perf" script -f -i "$tmp/live.data" -F comm,pid 2>"$tmp/.perf.err" |
		grep -v '^ *swapper ' | grep -q ' \(0\|-1\) *$'; then
		skip "$title" "processes outside of this PID namespace run"
		return
	fi
	sprof_table -i "$tmp/live.data"
	foreign_mappings >"$tmp/foreign"
	for rows in perf sprof; do
		awk -F '\t' 'FILENAME == ARGV[1] { foreign[$0]; next }
			!($2 "\t" $3 in foreign || "*\t" $3 in foreign)' "$tmp/foreign" \
			"$tmp/$rows.rows" >"$tmp/native"
		mv "$tmp/native" "$tmp/$rows.rows"
	done
	differences "$tmp/perf.rows" "$tmp/sprof.rows" 5 "" >"$tmp/differences"
	verdict "$title"
}

has_branches() {
	zcat "$1.oracle"/p*/evlist.txt.gz 2>/dev/null | grep -q 'BRANCH_STACK'
}

# Clocks of recordings with context switches are scaled to exact CPU times, which perf does not do:
# their shares are compared as shares of samples, which have equal periods.
count_samples_of_clocks() {
	"$SPROF" info -i "$1" 2>/dev/null | grep -q '^ .* SWITCH' || return
	awk -F '\t' -v OFS='\t' '
		FILENAME == ARGV[1] && FNR == NR { all[$1] += $5; next }
		$1 ~ /^(cpu|task)-clock/ || $1 == "-" { $6 = $5 / all[$1] }
		{ print }' "$tmp/sprof.rows" "$tmp/sprof.rows" >"$tmp/counted"
	mv "$tmp/counted" "$tmp/sprof.rows"
}

is_grouped() {
	zcat "$1" | grep -q "^# Samples: .* of events* 'anon group"
}

# A group's events in one table, as lines of EVENT, COMM, DSO, SYMBOL, "-" and SHARE, the same as
# for single events.
group_rows_of_perf() {
	awk '
		/^# Samples: .* of event/ {
			names = $0
			sub(/^[^\047]*\047(anon group)? *[{]? */, "", names)
			sub(/ *[}]?\047.*$/, "", names)
			count = split(names, name, / *, */)
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
		/^#/ || !NF || !n { next }
		{
			split(substr($0, begin[1], end[1] - begin[1]), share, " ")
			for (i = 2; i <= 4; i++) {
				cell[i] = substr($0, begin[i], end[i] - begin[i])
				gsub(/^ +| +$/, "", cell[i])
			}
			for (i = 1; i <= count; i++) {
				sub(/%/, "", share[i])
				print name[i] "\t" cell[2] "\t" cell[3] "\t" cell[4] "\t-\t" \
					share[i] / 100
			}
		}' "$1"
}

# The same of the joint rows of --group.
group_rows_of_sprof() {
	"$SPROF" report --group --no-children -s comm,dso,symbol --format csv "$@" >"$tmp/.group" \
		2>"$tmp/.sprof.err"
	awk "$split_csv"'
		{
			for (name in column) {
				event = name
				if (sub(/\.self$/, "", event))
					print event "\t" f[column["comm"]] "\t" f[column["dso"]] "\t" \
						f[column["symbol"]] "\t-\t" f[column[name]]
			}
		}' "$tmp/.group" >"$tmp/sprof.rows"
}

# perf counts branches where they went; of what has no name it shows the run time address.
branch_table() {
	"$SPROF" report -b -s comm,dso,symbol,addr_to --format csv "$@" >"$tmp/.branches" \
		2>"$tmp/.sprof.err"
	awk "$split_csv"'
		NR == 1 { next }
		{
			event = "event" in column ? f[column["event"]] : "-"
			symbol = f[column["symbol"]]
			if (symbol ~ /^0x/)
				symbol = f[column["addr_to"]]
			if (symbol == "0x0")
				symbol = "0000000000000000"
			print event "\t" f[column["comm"]] "\t" f[column["dso"]] "\t" symbol "\t" \
				f[column["self_samples"]] "\t" f[column["self"]]
		}' "$tmp/.branches" >"$tmp/sprof.rows"
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
	data=$1
	case $name in
	simpleperf/*)
		# Names that it has of its own, in features 128 and up, perf does not know.
		data=$tmp/nameless.data
		cp "$1" "$data"
		chmod u+w "$data"
		dd if=/dev/zero of="$data" bs=1 seek=88 count=16 conv=notrunc 2>/dev/null
		;;
	esac
	cut=$(sed -n 's/.* report .* lines=\([0-9]*\) kept=\([0-9]*\) .*/\1 \2/p' \
		"$1.oracle/rc.txt" | awk '$1 > $2 { print "cut"; exit }')
	zcat "$report" >"$tmp/stored"
	if is_grouped "$report"; then
		group_rows_of_perf "$tmp/stored" >"$tmp/perf.rows"
		group_rows_of_sprof -i "$data" --symfs "$empty"
	elif has_branches "$1"; then
		perf_rows "$tmp/stored" >"$tmp/perf.rows"
		branch_table -i "$data" --symfs "$empty"
	else
		perf_rows "$tmp/stored" >"$tmp/perf.rows"
		sprof_table -i "$data" --symfs "$empty"
		count_samples_of_clocks "$data"
	fi
	differences "$tmp/perf.rows" "$tmp/sprof.rows" 6 "$cut" >"$tmp/differences"
	verdict "$name: the shares are perf's"
	case $report in
	*/p61/*)
		[ -z "$perf_is_61" ] ||
			compares "$name: the samples are perf's" "$perf" "$data" --symfs "$empty"
		if [ -n "$perf_is_61" ] && has_branches "$1"; then
			compares_keys "${1#"$SPROF_CORPUS"/}: the branches are perf's" "$perf" "$data" \
				dso_from,symbol_from,dso_to,symbol_to,cycles,mispredict,in_tx,abort \
				-b --symfs "$empty"
		fi
		;;
	esac
}

all_live() {
	noisy live "of one process" "$workload/proportions" 0.5
	noisy live "-g of one process" -g "$workload/deep" 100 0.5 50
	noisy live "of threads that come and go" "$workload/threads" 4 0.5 20
	noisy live "-g of threads" -g "$workload/threads" 4 0.5
	noisy live "-g of processes" -g "$workload/forks" 20 20
	noisy live "of processes that exec" "$workload/forks" 20 20 exec
	noisy live "of a shell's commands" \
		sh -c 'for i in 1 2 3 4 5 6 7 8; do ls -R /usr/share /usr/lib >/dev/null; done'
	noisy live_machine
}

# Data addresses. For data without a name, perf shows run time addresses, and one row per address
# of a variable.
data_live() {
	title="$("$perf" --version) record -d, memory"
	if "$perf" record -q --no-bpf-event -d -B -N -e page-faults:u -c 1 -o "$tmp/live.data" \
		ls -R /usr/lib/python3 \
		>"$tmp/.record" 2>&1; then
		normalise='s/	\(fn@\)\{0,1\}0x[0-9a-f]*\(-0x[0-9a-f]*\)\{0,1\}	/	*	/; s/+0x[0-9a-f]*	/	/; s/	[^	]*@plt	/	@plt	/'
		compares_keys "$title" "$perf" "$tmp/live.data" dso,symbol_daddr,dso_daddr --mem-mode
		normalise=
	else
		skip "$title" "$(tail -n 1 "$tmp/.record")"
	fi
}

# A group by the samples of its leader, side by side.
group_live() {
	title="$("$perf" --version) record of a group"
	if "$perf" record -q --no-bpf-event -B -N -e '{cpu-clock,task-clock,page-faults}:S' -F 999 -o "$tmp/live.data" \
		"$workload/proportions" 0.3 >"$tmp/.record" 2>&1 &&
		"$perf" report --stdio --no-children -g none --no-demangle -f -s comm,dso,sym \
			-i "$tmp/live.data" >"$tmp/.perf" 2>"$tmp/.record"; then
		group_rows_of_perf "$tmp/.perf" | c++filt -p -i >"$tmp/perf.rows"
		group_rows_of_sprof -i "$tmp/live.data"
		differences "$tmp/perf.rows" "$tmp/sprof.rows" 6 "" >"$tmp/differences"
		verdict "$title"
	else
		skip "$title" "$(tail -n 1 "$tmp/.record")"
	fi
}

[ -z "$perf" ] && skip "the table is perf's" "needs perf"
for perf in "$perf" ${SPROF_PEERS:+"$SPROF_PEERS/perf"}; do
	[ ! -x "$perf" ] || all_live
	[ ! -x "$perf" ] || data_live
	[ ! -x "$perf" ] || group_live
done
perf=$(command -v perf)
case $([ -z "$perf" ] || "$perf" --version) in
*" 6.1."*) perf_is_61=yes ;;
esac

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

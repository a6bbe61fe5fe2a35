#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of many perfs, kernels and machines: sprof must find in each what perf found, record
# by record and field by field. And files that are broken on purpose: it must end soon, say what
# is wrong and where, and not crash.
#
# A recording FILE has FILE.oracle/VERSION/ with the output of `perf report` of several perfs; the
# newest that could read the file is believed: stats.txt.gz (--stats) and dump.txt.gz (-D, the
# first 5,000 lines).
. "$top_srcdir/tests/cli/lib.sh"

[ -d "$SPROF_CORPUS" ] || skip_all "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"

decoded=$top_builddir/tests/cli/decoded

# Intended differences to perf, with reasons. Prints a sed script for perf's counts, and a second
# one for sprof's.
perf_differs() {
	case $1 in
	guest-armhf/group.data)
		# A sample of a group carries the counts of its members, and perf
		# counts it once for each: the file has 13 records, all cpu-clock's.
		echo '/^event page-faults /d; /^event task-clock /d' ;;
	simpleperf/perf_with_add_counter.data)
		# The same: a group of cycles and instructions.
		echo '/^event instructions /d' ;;
	*)
		echo ;;
	esac
}

sprof_differs() {
	case $1 in
	simpleperf/perf_with_callchain_record.data)
		# 40 records of simpleperf's own types, which perf does not count.
		echo '/^(type 327/d' ;;
	*)
		echo ;;
	esac
}

# Recordings that sprof must call damaged, because they are.
damaged() {
	case $1 in
	# perf's message to its terminal follows the last record.
	lpd/sleep.compressed2.pipe.data) ;;
	# A sample with size 0.
	quipper/perf.data.piped.corrupted.zero_size_sample-3.2) ;;
	# Zeros.
	simpleperf/invalid_perf.data) ;;
	*) return 1 ;;
	esac
}

# Names of events that the file does not have are perf's own invention; which of
# :H and :G it adds to them has changed over time.
perf_counts() {
	gzip -dc "$1" | awk '
		/^Aggregated stats:/ { all = 1; next }
		/ stats:$/ { all = 0; event = $0; sub(/ stats:$/, "", event); next }
		all && / events: / && $1 != "TOTAL" { print $1, $3 }
		!all && / SAMPLE events: / { print "event", event, $3 }' |
	sed 's/^\(ATTR\|FEATURE\|BUILD_ID\|EVENT_TYPE\|TRACING_DATA\) /HEADER_&/
		/^event /s/\(:[kuhp]*\)[HG]* \([0-9]*\)$/\1 \2/
		/^event /s/: \([0-9]*\)$/ \1/
		/^COMPRESSED/d
		/^event /s/ 0$/&/' | sort
}

# COMPRESSED records are not what sprof info counts, but what they hold.
sprof_counts() {
	awk '
		/^Events/ { part = 1; getline; next }
		/^Records/ { part = 2; next }
		/^Damage/ { part = 0 }
		!NF { next }
		part == 1 && $1 ~ /^[0-9]+$/ && $1 > 0 {
			count = $1
			sub(/^ *[0-9]+ +[0-9]+ +/, "")
			sub(/, (every |[0-9]+ Hz).*/, "")
			print "event", $0, count
		}
		part == 2 { count = $1; sub(/^ *[0-9]+ +/, ""); print $0, count }' "$1" |
	sed '/^event /s/\(:[kuhp]*\)[HG]* \([0-9]*\)$/\1 \2/
		/^event /s/: \([0-9]*\)$/ \1/' | sort
}

# The perf that found most, the newest of equals: some stop where they meet what is
# newer than they are.
believed() {
	most=1
	found=
	for perf in pnew p612 p61; do
		[ -f "$1/$perf/$2" ] || continue
		count=$(gzip -dc "$1/$perf/$2" | grep -c "$3")
		if [ "$count" -gt "$most" ]; then
			most=$count
			found=$1/$perf/$2
		fi
	done
	echo "$found"
}

compare_counts() {
	stats=$(believed "$file.oracle" stats.txt.gz ' events: ')
	if [ -z "$stats" ]; then
		skip "$name: counts" "no perf could read it"
		return
	fi
	perf_counts "$stats" | sed "$(perf_differs "$name")" >"$tmp/wanted"
	sprof_counts "$tmp/info" | sed "$(sprof_differs "$name")" >"$tmp/got"
	same "$name: counts" "$tmp/wanted" "$tmp/got"
}

compare_records() {
	dump=$(believed "$file.oracle" dump.txt.gz PERF_RECORD_)
	if [ -z "$dump" ]; then
		skip "$name: fields" "no perf could read it"
		return
	fi
	shift=0 own_offsets=0
	grep -q '^.*: pipe, ' "$tmp/info" && shift=16
	gzip -dc "$dump" | awk -v shift=$shift -f "$top_srcdir/tests/cli/perf_dump.awk" >"$tmp/wanted"
	"$decoded" "$file" >"$tmp/got"
	if [ "$(gzip -dc "$dump" | wc -l)" -ge 5000 ]; then
		# Its last record may be cut.
		last=$(tail -n 1 "$tmp/wanted" | cut -d " " -f 1)
		sed -i "/^$last /d" "$tmp/wanted"
	fi
	if grep -q '^[^ ].*\(, compressed\|: directory, .*\)$' "$tmp/info"; then
		own_offsets=1
		# The offsets are each tool's own.
		sed -i 's/^0x[0-9a-f]* //' "$tmp/wanted" "$tmp/got"
	else
		awk 'NR == FNR { there[$1] = 1; next } $1 in there' "$tmp/wanted" "$tmp/got" >"$tmp/part"
		mv "$tmp/part" "$tmp/got"
	fi
	if grep -q ', big-endian' "$tmp/info"; then
		# perf forgets to swap prot and flags of MMAP2.
		sed -i '/PERF_RECORD_MMAP2/s/\]: [-rwxps]* /]: /' "$tmp/wanted" "$tmp/got"
	fi
	sed -i 's/ *$//' "$tmp/got"
	if ! [ -s "$tmp/wanted" ]; then
		skip "$name: fields" "perf printed none that are compared"
		return
	fi
	sort -o "$tmp/wanted" "$tmp/wanted"
	sort -o "$tmp/got" "$tmp/got"
	if [ $own_offsets = 1 ]; then
		# A truncated sample: CUT selects sprof's part.
		comm -12 "$tmp/wanted" "$tmp/got" >"$tmp/part"
		mv "$tmp/part" "$tmp/got"
	fi
	same "$name: fields ($(wc -l <"$tmp/wanted"))" "$tmp/wanted" "$tmp/got"
}

# find sorts as it likes.
for oracle in $(find "$SPROF_CORPUS" -name '*.oracle' | sort); do
	file=${oracle%.oracle}
	name=${file#"$SPROF_CORPUS"/}
	"$SPROF" info -i "$file" >"$tmp/info" 2>"$tmp/err"
	status=$?
	if damaged "$name"; then
		[ $status = 1 ] && grep -q 'offset 0x' "$tmp/info" "$tmp/err" &&
			ok "$name: damage" || not_ok "$name: damage" "$(cat "$tmp/info" "$tmp/err")"
	elif [ $status = 0 ]; then
		ok "$name: whole"
	else
		not_ok "$name: whole" "$(cat "$tmp/err"; sed -n '/^Damage/,$p' "$tmp/info")"
	fi
	compare_counts
	compare_records
done

newest=$SPROF_CORPUS/local/tp-7.2.data
if [ -f "$newest" ]; then
	"$SPROF" info -v -i "$newest" | grep -A 2 -E '^  (E_MACHINE|CLN_SIZE)$' >"$tmp/got"
	cat >"$tmp/wanted" <<-'END'
		  E_MACHINE
		    e_machine: 62
		    e_flags: 0
		  CLN_SIZE
		    cacheline size: 64
	END
	grep -v '^--' "$tmp/got" | head -n 5 >"$tmp/five"
	same "the newest features are told of" "$tmp/wanted" "$tmp/five"
fi

# Broken on purpose, and yet there is nothing that info would have to complain
# about: what is wrong is in the contents of fields that it does not interpret.
harmless() {
	case $1 in
	m33-*) ;; # attr.size 0 means 64
	m51-*) ;; # a registers' ABI that nobody knows
	m61-* | m63-*) ;; # a mapping without or with all length
	m65-*) ;; # ids of 0 are the first event's
	m67-* | m69-*) ;; # times 0, pids -1
	m71-*) ;; # a process that is its own grandparent
	m73-*) ;; # 8,000 empty rounds
	m85-*) ;; # a name that fills its record
	m87-*) ;; # empty features, which old perfs left behind for what they did not find
	m95-*) ;; # a size that perf needs to inflate, and sprof does not
	m103-*) ;; # a HEADER_FEATURE without contents
	m111-*) ;; # a stream that ends within its last record: it is unfinished
	*) return 1 ;;
	esac
}

for file in "$SPROF_CORPUS"/malformed/*.data; do
	name=malformed/${file##*/}
	begun=$(date +%s%N)
	timeout 20 "$SPROF" info -i "$file" >"$tmp/info" 2>"$tmp/err"
	status=$?
	taken=$((($(date +%s%N) - begun) / 1000000))
	wanted=1
	harmless "${file##*/}" && wanted=0
	timeout 20 "$SPROF" report -i "$file" --symfs "$tmp/none" >"$tmp/out" 2>&1
	reported=$?
	timeout 20 "$SPROF" script -i "$file" --symfs "$tmp/none" >"$tmp/out" 2>&1
	told=$?
	if [ $status != $wanted ]; then
		not_ok "$name" "status $status instead of $wanted: $(cat "$tmp/err" "$tmp/info")"
	elif [ $wanted = 1 ] && ! grep -q 'offset 0x' "$tmp/info" "$tmp/err"; then
		not_ok "$name" "no offset: $(cat "$tmp/err" "$tmp/info")"
	elif [ $reported != $wanted ] || [ $told != $wanted ]; then
		not_ok "$name" "report ends with $reported, script with $told"
	elif [ $taken -gt 5000 ]; then
		not_ok "$name" "it took $taken ms"
	else
		ok "$name"
	fi
done

finish

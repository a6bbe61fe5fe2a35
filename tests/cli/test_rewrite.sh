#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Each recording of the corpus goes through the reader and the writer, as it is and compressed,
# and is the same recording: to sprof, record by record, and to perf 6.1, where that reads the
# original: its script (which decodes traces) and its dump.
. "$top_srcdir/tests/cli/lib.sh"

[ -d "$SPROF_CORPUS" ] || skip_all "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"

rewrite=$top_builddir/tests/cli/rewrite
decoded=$top_builddir/tests/cli/decoded
empty=$tmp/empty
mkdir "$empty"
perf=$(command -v perf)
case $([ -z "$perf" ] || "$perf" --version) in
*" 6.1."*) ;;
*) perf= ;;
esac

# Records, and what they hold; the writer says features and names in records of its own.
sprof_says() {
	"$SPROF" info -i "$1" 2>/dev/null |
		sed -n '/^Events/,/^Damage/p' | grep -vE '(HEADER_[A-Z_]*|EVENT_UPDATE)$|^Damage|^$'
	"$decoded" "$1" 2>/dev/null | sed 's/^0x[0-9a-f]* //'
}

# perf 6.1 reads traces of a stream in a file from the wrong offset: it must be a pipe.
perf_reads() {
	if [ "$1" = "$file" ] && grep -q '^.*: pipe, ' "$tmp/info"; then
		# shellcheck disable=SC2002
		cat "$1" | "$perf" "$2" -i - --symfs "$empty" "$3" "$4" "$5" 2>/dev/null
	else
		"$perf" "$2" -i "$1" --symfs "$empty" "$3" "$4" "$5" 2>/dev/null
	fi
}

# perf adds :H or :HG to names that the file does not have; sprof writes those it shows.
perf_script() {
	perf_reads "$1" script --show-mmap-events --show-task-events --show-switch-events | tr -s ' ' | sed -E 's/([a-z-]):[ukhpHGPSD]+:/\1:/'
}

# Traces, decoded, and the records that say where they are.
perf_traces() {
	perf_reads "$1" report -D --stdio -q | grep -a -E \
		'PERF_RECORD_(AUX|ITRACE_START)|^\.  [0-9a-f]{8}: |^ *Idx:|^\. \.\.\. .* Processor Trace' |
		sed 's/0x[0-9a-f]* \[/[/'
}

# perf's output for the copy must begin with its output for the original; perf may read the copy
# further.
same_to_perf() {
	for view in perf_script perf_traces; do
		$view "$file" >"$tmp/wanted"
		$view "$2" | head -n "$(wc -l <"$tmp/wanted")" >"$tmp/got"
		[ $view = perf_script ] || [ -s "$tmp/wanted" ] || continue
		same "$1: perf's ${view#perf_} ($(wc -l <"$tmp/wanted") lines)" "$tmp/wanted" "$tmp/got"
	done
}

for oracle in $(find "$SPROF_CORPUS" -name '*.oracle' | sort); do
	file=${oracle%.oracle}
	name=${file#"$SPROF_CORPUS"/}
	"$SPROF" info -i "$file" >"$tmp/info" 2>&1
	grep -q '^[^ ].*: ' "$tmp/info" || continue
	if ! "$rewrite" "$file" "$tmp/copy.data" 2>"$tmp/err"; then
		grep -q 'does not begin with PERFILE2' "$tmp/err" || not_ok "$name" "$(cat "$tmp/err")"
		continue
	fi
	sprof_says "$file" >"$tmp/wanted"
	sprof_says "$tmp/copy.data" >"$tmp/got"
	same "$name: the copy has its records" "$tmp/wanted" "$tmp/got"
	if ! grep -q ', big-endian' "$tmp/info"; then
		if "$rewrite" "$file" "$tmp/packed.data" 1 2>"$tmp/err"; then
			sprof_says "$tmp/packed.data" >"$tmp/got"
			same "$name: so has a compressed one" "$tmp/wanted" "$tmp/got"
		elif grep -q 'has no zstd' "$tmp/err"; then
			skip "$name: so has a compressed one" "$(cat "$tmp/err")"
		else
			not_ok "$name: so has a compressed one" "$(cat "$tmp/err")"
		fi
	fi
	[ -n "$perf" ] || continue
	perf_script "$file" >"$tmp/wanted"
	[ -s "$tmp/wanted" ] || continue
	same_to_perf "$name" "$tmp/copy.data"
done
finish

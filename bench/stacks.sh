# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by bench/run.sh: the sections about call graphs of code without frame pointers.
#
#	dwarf-report  a recording of about 1 GB with copies of stacks, to a table
#	inlines       inlined functions and lines of a large C++ program, to a table
#	live          recording 8 busy threads: what is lost, what it costs
#	end-to-end    from the end of the workload to its table
#	complete      how many stacks reach where threads begin
#	symbolize     10,000 addresses by name and line
#
# Warm: all files are in the page cache, and what sprof keeps of them is in its own. Cold:
# neither; the page cache is emptied of just the recording, the program and the C and C++
# libraries' debug files (posix_fadvise; pages that something running has mapped stay).
#
# perf with inlines takes minutes: once, cold, and for BENCH_LIMIT seconds (300) at most
# (then its status is 124, and its time longer than that); BENCH_FULL=1 runs them all.

XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
mkdir -p "$XDG_CACHE_HOME"

: "${BENCH_LIMIT:=300}"
limited="timeout $BENCH_LIMIT"
[ -z "${BENCH_FULL-}" ] || limited=

# The perfs to compare with: $PERF, and $PERF_NEW where given.
peers="$PERF ${PERF_NEW:-}"

peer_name() {
	"$1" --version | sed 's/^perf version /perf /; s/-.*//'
}

# The last, thus the newest.
newest() {
	newest=$PERF_NEW
	: "${newest:=$PERF}"
}

need_big() {
	big=$(top_builddir=$top_builddir sh "$here/big.sh") && [ -x "$big" ] || {
		echo "  the large program cannot be made here"
		return 1
	}
}

# evict FILE...: out of the page cache.
evict() {
	for file; do
		[ ! -f "$file" ] || dd if="$file" iflag=nocache count=0 2>/dev/null
	done
}

# Empties both caches of what a report on the large program needs.
chill() {
	rm -rf "$XDG_CACHE_HOME"
	mkdir -p "$XDG_CACHE_HOME"
	sync "$@" 2>/dev/null
	evict "$@" "$big"
}

raise_rate() {
	limit=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	if [ "$limit" -lt "$1" ] && [ -w /proc/sys/kernel/perf_event_max_sample_rate ]; then
		echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
	fi
}

# repeat N FUNCTION LOG: so often; then whether all went well.
repeat() {
	times=$1 what=$2 log=$3
	rm -f "$log"
	while [ "$times" -gt 0 ]; do
		"$what" "$log"
		times=$((times - 1))
	done
	failures "$log" "$what"
}

# quietly COMMAND...: as quiet; once more where it was killed: perf 6.1 may abort while
# another recorder asks for build-ids (see tests/run).
quietly() {
	for try in 1 2 3; do
		(quiet "$@") 2>/dev/null
		status=$?
		[ $status -ge 128 ] || break
	done
	return $status
}

# columns NAME OURS-LOG THEIRS-LOG: time and memory of both.
columns() {
	row "$1: wall" ms "$(column "$2" 1)" "$(column "$3" 1)"
	row "$1: CPU" ms "$(column "$2" 2)" "$(column "$3" 2)"
	row "$1: peak memory" KiB "$(column "$2" 3)" "$(column "$3" 3)"
}

### a large recording with copies of stacks

# Made once, by perf, and kept in the build folder.
dwarf_data() {
	data=${BENCH_DWARF_DATA-$kept/dwarf.data}
	[ ! -f "$data" ] || return 0
	mkdir -p "$kept"
	echo "recording 1 GB of stacks" >&2
	raise_rate 25000
	set -- -m 8192
	[ "$(id -u)" != 0 ] || set -- "$@" --realtime=1
	quiet "$PERF" record -F 20000 --call-graph dwarf "$@" -o "$data.new" -- \
		"$big" "${BENCH_DWARF_SECONDS:-4}" 2 || {
		cat "$tmp/stderr"
		return 1
	}
	mv "$data.new" "$data"
}

sprof_calls() {
	quiet "$measure" "$1" "$sprof" report -i "$data" --format text --children -g caller
}

sprof_calls_cold() {
	chill "$data"
	sprof_calls "$1"
}

sprof_calls_alone() {
	quiet "$measure" "$1" "$sprof" report -j 1 -i "$data" --format text --children -g caller
}

perf_calls() {
	quiet "$measure" "$1" $limited "$peer" report -i "$data" --stdio --children -g caller
}

perf_calls_outer() {
	quiet "$measure" "$1" "$peer" report -i "$data" --stdio --no-inline --children -g caller
}

perf_calls_outer_cold() {
	chill "$data"
	perf_calls_outer "$1"
}

dwarf_report() {
	need_big && dwarf_data || return
	set -- $(samples "$data")
	heading "Reporting on $1 copies of stacks, $(($(wc -c <"$data") >> 20)) MiB, with inlines"
	repeat 1 sprof_calls "$tmp/unused" || return
	repeat "$BENCH_RUNS" sprof_calls "$tmp/warm.sprof" || return
	repeat 3 sprof_calls_cold "$tmp/cold.sprof" || return
	for peer in $peers; do
		name=$(peer_name "$peer")
		repeat 1 perf_calls_outer "$tmp/warm.perf" &&
			columns "$name --no-inline, warm" "$tmp/warm.sprof" "$tmp/warm.perf"
		repeat 1 perf_calls_outer_cold "$tmp/cold.perf" &&
			columns "$name --no-inline, cold" "$tmp/cold.sprof" "$tmp/cold.perf"
		[ -n "${BENCH_FULL-}" ] && repeat 1 perf_calls "$tmp/warm.perf" &&
			columns "$name, warm" "$tmp/warm.sprof" "$tmp/warm.perf"
	done
	[ -n "${BENCH_FULL-}" ] || echo "  (perf with inlines: minutes; BENCH_FULL=1)"
	for i in 1 2 3; do
		"$measure" "$tmp/cat" cat "$data" >/dev/null
	done
	echo "  reading the file by cat: $(column "$tmp/cat" 1) ms"
	repeat 3 sprof_calls_alone "$tmp/alone.sprof" &&
		"$sprof" report -i "$data" --format folded -s symbol 2>/dev/null |
		awk -v ms="$(column "$tmp/alone.sprof" 2)" '
			{ frames += gsub(/;/, ";") * $NF; stacks += $NF }
			END { printf "  the whole report on one thread, per frame (%d frames, %.1f a stack): %.0f ns\n",
				frames, frames / stacks, ms * 1e6 / frames }'
	rm -f "$tmp"/*.sprof "$tmp"/*.perf "$tmp/cat"
}

### inlined functions, from the file to the table

sprof_inlines() {
	quiet "$measure" "$1" "$sprof" report -i "$data" --format text --children -g caller
}

sprof_inlines_cold() {
	chill "$data"
	sprof_inlines "$1"
}

sprof_lines() {
	quiet "$measure" "$1" "$sprof" report -i "$data" --format csv -s function,srcfile,srcline
}

perf_inlines_cold() {
	chill "$data"
	perf_calls "$1"
}

inlines() {
	need_big || return
	data=$tmp/inlines.data
	quiet "$sprof" record -F 1999 --call-graph dwarf -o "$data" -- "$big" 3 2 || {
		echo "  sprof record --call-graph dwarf: $(tail -n 1 "$tmp/stderr")"
		return
	}
	set -- $(samples "$data")
	heading "Inlines of $(($(wc -c <"$big") >> 20)) MiB of C++ ($1 samples)"
	repeat 3 sprof_inlines_cold "$tmp/cold.sprof" || return
	repeat "$BENCH_RUNS" sprof_inlines "$tmp/warm.sprof" || return
	newest
	for peer in $peers; do
		[ "$peer" = "$newest" ] || [ -n "${BENCH_FULL-}" ] || continue
		name=$(peer_name "$peer")
		repeat 1 perf_inlines_cold "$tmp/cold.perf" || continue
		columns "$name, cold" "$tmp/cold.sprof" "$tmp/cold.perf"
		kind=cold
		if [ -n "${BENCH_FULL-}" ]; then
			repeat 1 perf_calls "$tmp/cold.perf" || continue
			kind=warm
		fi
		columns "sprof warm, $name $kind" "$tmp/warm.sprof" "$tmp/cold.perf"
	done
	for peer in $peers; do
		repeat 1 perf_calls_outer "$tmp/warm.perf" &&
			columns "warm, $(peer_name "$peer") --no-inline" "$tmp/warm.sprof" "$tmp/warm.perf"
	done
	repeat 3 sprof_lines "$tmp/lines.sprof" &&
		echo "  every line as CSV, warm: $(column "$tmp/lines.sprof" 1) ms," \
			"$(column "$tmp/lines.sprof" 3) KiB"
	rm -f "$tmp"/*.sprof "$tmp"/*.perf "$data"
}

### recording live

# A fixed amount of work: 8 threads on all processors, about 4 s of CPU time.
live_work() {
	"$big" x40000 8
}

# live_turn KEY COMMAND...: records the work; appends "WORK_WALL WORK_CPU OWN_CPU SAMPLES
# LOST BYTES" to $out/KEY.live, times in ms.
live_turn() {
	key=$1
	shift
	rm -f "$out/live.data"
	$as "$measure" "$out/live.log" "$@" -F "$frequency" --call-graph dwarf -m "$ring" \
		-o "$out/live.data" -- "$big" x40000 8 >"$out/work" 2>"$tmp/stderr" </dev/null
	[ -f "$out/live.data" ] || return
	tail -n 1 "$out/live.log" | awk -v work="$(cat "$out/work")" \
		-v counts="$(samples "$out/live.data")" -v bytes="$(wc -c <"$out/live.data")" '{
			split(work, ns, " ")
			print ns[2] / 1e6, ns[1] / 1e6, $2 - ns[1] / 1e6, counts, bytes
		}' >>"$out/$key.live"
	rm -f "$out/live.data" "$out/live.log"
}

# live_line KEY NAME: medians of its turns.
live_line() {
	[ -f "$out/$1.live" ] || {
		echo "  $2: $(tail -n 1 "$tmp/stderr")"
		return
	}
	set -- "$out/$1.live" "$2"
	awk -v name="$2" -v wall="$(column "$1" 1)" -v cpu="$(column "$1" 2)" -v own="$(column "$1" 3)" \
		-v samples="$(column "$1" 4)" -v lost="$(column "$1" 5)" -v bytes="$(column "$1" 6)" \
		-v hz="$frequency" -v base="$base" 'BEGIN {
			printf "  %-34s %8d %8d %6.1f%% %9.0f %9.0f %7.1f%%\n", name, samples, lost,
				samples * 100 / (cpu * hz / 1000), samples ? bytes / samples : 0, own,
				wall * 100 / base
		}'
	rm -f "$1"
}

live_table() {
	real=
	[ "$as" != '' ] || [ "$(id -u)" != 0 ] || real=yes
	for turn in 1 2 3; do
		live_turn sprof "$sprof" record
		[ -z "$real" ] || live_turn sprof-real chrt -R -f 1 "$sprof" record
		number=0
		for peer in $peers; do
			number=$((number + 1))
			live_turn "perf$number" "$peer" record
			[ -z "$real" ] || live_turn "perf$number-real" "$peer" record --realtime=1
		done
	done
	printf '  %-34s %8s %8s %7s %9s %9s %8s\n' '' samples lost 'of due' bytes/one 'own CPU' 'wall'
	live_line sprof sprof
	number=0
	for peer in $peers; do
		number=$((number + 1))
		live_line "perf$number" "$(peer_name "$peer")"
	done
	[ -n "$real" ] || return
	live_line sprof-real "sprof, by chrt -R -f 1"
	number=0
	for peer in $peers; do
		number=$((number + 1))
		live_line "perf$number-real" "$(peer_name "$peer") --realtime=1"
	done
}

live() {
	need_big || return
	raise_rate 25000
	rm -f "$tmp/base"
	for i in 1 2 3; do
		live_work | awk '{ print $2 / 1e6 }' >>"$tmp/base"
	done
	base=$(column "$tmp/base" 1)
	for frequency in 4999 20000; do
		as='' out=$tmp ring=512K
		printf '\n%s\n' "Recording 8 threads with dwarf at $frequency Hz, as $(id -un), rings of $ring"
		live_table
		[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || continue
		as='setpriv --reuid=65534 --regid=65534 --clear-groups' out=$tmp/nobody ring=128K
		mkdir -p "$out"
		chown 65534:65534 "$out"
		$as test -x "$big" && $as test -x "$sprof" || {
			echo "  an ordinary user cannot run $sprof and $big from here"
			continue
		}
		printf '\n%s\n' "Recording 8 threads with dwarf at $frequency Hz, as an ordinary user, rings of $ring"
		live_table
	done
	as='' out=$tmp
	echo "  (of due: samples of CPU time x frequency; own CPU: the recorder's, ms;"
	echo "  wall: the workload's, without recording 100 %)"
}

### from the workload's end to its table

# end_to_end_turn LOG TOOL: appends the ms between the two ends to LOG, and of them
# report's CPU time and wall time.
end_to_end_turn() {
	rm -f "$tmp/work.log" "$tmp/report.log" "$tmp/ends.data"
	quietly "$2" record -F 1999 --call-graph dwarf -o "$tmp/ends.data" -- \
		"$measure" "$tmp/work.log" "$big" "${3:-2}" 2 || return
	if [ "$2" = "$sprof" ]; then
		quiet "$measure" "$tmp/report.log" "$sprof" report -i "$tmp/ends.data" --format text \
			--children -g caller
	else
		quiet "$measure" "$tmp/report.log" $limited "$2" report -i "$tmp/ends.data" --stdio \
			--children -g caller
	fi
	tail -q -n 1 "$tmp/work.log" "$tmp/report.log" |
		awk 'NR == 1 { begin = $5; next } { print $5 - begin, $2, $1, $4 }' >>"$1"
}

end_to_end() {
	need_big || return
	heading "From the workload's end to its table, with inlines, at 1,999 Hz"
	rm -f "$tmp/ends.cold" "$tmp/ends.warm"
	for i in 1 2 3; do
		chill
		end_to_end_turn "$tmp/ends.cold" "$sprof"
		end_to_end_turn "$tmp/ends.warm" "$sprof"
	done
	failures "$tmp/ends.cold" sprof && failures "$tmp/ends.warm" sprof || {
		cat "$tmp/stderr"
		return
	}
	newest
	for peer in $peers; do
		[ "$peer" = "$newest" ] || [ -n "${BENCH_FULL-}" ] || continue
		rm -f "$tmp/ends.peer"
		chill
		end_to_end_turn "$tmp/ends.peer" "$peer"
		name=$(peer_name "$peer") kind=cold
		row "$name, cold" ms "$(column "$tmp/ends.cold" 1)" "$(column "$tmp/ends.peer" 1)"
		if [ -n "${BENCH_FULL-}" ]; then
			rm -f "$tmp/ends.peer"
			end_to_end_turn "$tmp/ends.peer" "$peer"
			kind=warm
		fi
		row "sprof warm, $name $kind" ms "$(column "$tmp/ends.warm" 1)" "$(column "$tmp/ends.peer" 1)"
	done
	rm -f "$tmp"/ends.*
}

### how many stacks are whole

# Returns the share of call chains in folded lines, in percent, that begin where programs and
# threads do. Chains of the kernel alone (exec, and after exit) do not count.
whole() {
	awk '
		{
			count = $NF
			sub(/ [0-9]+$/, "")
			sub(/^[^;]*;/, "")
			n = split($0, frames, ";")
			good = user = 0
			for (i = 1; i <= n; i++) {
				user += frames[i] !~ /_\[k\]$/
				good += i <= 2 && frames[i] ~ \
					/^_*(start|libc_start_main.*|clone3?|start_thread|dl_start(_user)?)$/
			}
			if (user)
				all += count
			if (good)
				whole += count
		}
		END { printf "%.2f%%\n", all ? whole * 100 / all : 0 }'
}

# sprof_whole WHICH: of $tmp/c.data; from the dump alone or after repair.
sprof_whole() {
	"$sprof" report -i "$tmp/c.data" --format json 2>/dev/null | tr -d ' \n' |
		sed -n 's/.*"stacks":{\([^}]*\)},"repaired":\([0-9]*\).*/\1,"repaired":\2/p' |
		awk -F '[:,]' -v repaired="$1" '
			{
				for (i = 1; i < NF; i += 2) {
					gsub(/"/, "", $i)
					value[$i] = $(i + 1)
					if ($i != "repaired")
						all += $(i + 1)
				}
				good = value["complete"] - (repaired ? 0 : value["repaired"])
				printf "%.2f%%\n", all ? good * 100 / all : 0
			}'
}

# complete_of NAME COMMAND...
complete_of() {
	name=$1
	shift
	printf '  %-24s' "$name"
	for size in dwarf,8192,fixed dwarf; do
		alone=- repaired=-
		rm -f "$tmp/c.data"
		quiet "$sprof" record -F 997 --call-graph $size -o "$tmp/c.data" -- "$@"
		[ ! -f "$tmp/c.data" ] || alone=$(sprof_whole '') repaired=$(sprof_whole yes)
		printf ' %9s %9s' "$alone" "$repaired"
	done
	for peer in $peers; do
		rm -f "$tmp/c.data"
		quietly "$peer" record -F 997 --call-graph dwarf -o "$tmp/c.data" -- "$@"
		printf ' %12s' "$("$peer" script -i "$tmp/c.data" --no-inline --max-stack 20000 \
			-F comm,ip,sym,dso 2>/dev/null | awk -f "$here/fold.awk" | whole)"
	done
	printf '\n'
	rm -f "$tmp/c.data"
}

complete() {
	printf '\n%s\n  %-24s %19s %19s\n' \
		"Whole stacks, at 997 Hz: of copies of 8 KB; sprof's default, 8 KB or more by need" \
		'' 'sprof, 8 KB' 'sprof, by need'
	printf '  %-24s %9s %9s %9s %9s' '' alone repaired alone repaired
	for peer in $peers; do
		printf ' %12s' "$(peer_name "$peer")"
	done
	printf '\n'
	CC=${CC:-cc} CXX=${CXX:-c++} sh "$here/../tests/workload/stacks/build.sh" "$tmp/stacks" omit || return
	compiler=$(${CXX:-c++} -print-prog-name=cc1plus 2>/dev/null)
	if [ -x "$compiler" ]; then
		${CXX:-c++} -std=c++20 -DPART=1 -DKINDS=1 -E "$here/big/part.cc" -o "$tmp/part.ii"
		complete_of cc1plus timeout 3 "$compiler" -quiet -std=c++20 -O2 -fpreprocessed \
			"$tmp/part.ii" -o /dev/null
	else
		echo "  cc1plus: not here"
	fi
	if [ -x /usr/bin/python3 ]; then
		complete_of python3 /usr/bin/python3 -c 'import json, re
def deep(n): return n and 1 + deep(n - 1)
for i in range(150):
	text = json.dumps([{"a": [i, str(i)], "b": deep(60)} for i in range(300)])
	re.findall("[0-9]+", text), json.loads(text), sorted(text)'
	else
		echo "  python3: not here"
	fi
	if command -v sqlite3 >/dev/null; then
		cat >"$tmp/query.sql" <<'END'
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 500000)
INSERT INTO t SELECT x, 'row ' || (x * 7919 % 100003), x * 1.5 FROM c;
CREATE INDEX i ON t(b);
SELECT count(*), sum(length(b)), max(c) FROM t WHERE b LIKE '%9%';
SELECT b, count(*) FROM t GROUP BY substr(b, 5, 3) ORDER BY 2, 1 LIMIT 1;
END
		complete_of sqlite3 sqlite3 :memory: ".read $tmp/query.sql"
	else
		echo "  sqlite3: not here"
	fi
	for scenario in deep240 deep1000 untouched large; do
		complete_of "$scenario" "$tmp/stacks/stacks" "$scenario" 2
	done
	need_big && complete_of "large C++ program" "$big" 2
	rm -rf "$tmp/stacks" "$tmp/part.ii"
}

### addresses to names and lines

# A recording of samples at 10,000 random addresses of the program's text, and a list of them.
symbolize_data() {
	readelf -lW "$big" | awk '$1 == "LOAD" && $0 ~ /R E/ { print $2, $3, $6 }' >"$tmp/segment"
	text=$(readelf -SW "$big" |
		sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/0x\1 0x\2/p')
	set -- $text
	set -- $(($1)) $(($2)) $(cat "$tmp/segment")
	awk -v start="$1" -v size="$2" 'BEGIN {
		srand(1)
		for (i = 0; i < 10000; i++)
			print start + int(rand() * size)
	}' >"$tmp/decimal"
	awk '{ printf "0x%x\n", $1 }' "$tmp/decimal" >"$tmp/addresses"
	base=1073741824
	{
		echo "event cpu-clock"
		echo "comm 1 1 big"
		echo "mmap 1 $((base + $4)) $(($5)) $(($3)) $big"
		awk -v base=$base '{ printf "sample 0 1 1 0 %d 1000000 %d\n", 1000 + NR, base + $1 }' "$tmp/decimal"
	} >"$tmp/samples"
	"$top_builddir/tests/cli/recording" "$tmp/symbolize.data" <"$tmp/samples"
}

sprof_symbolize() {
	quiet "$measure" "$1" "$sprof" report -i "$tmp/symbolize.data" --format csv -s function,srcfile,srcline
}

sprof_symbolize_cold() {
	chill "$tmp/symbolize.data"
	sprof_symbolize "$1"
}

llvm_symbolize() {
	"$measure" "$1" llvm-symbolizer --obj="$big" <"$tmp/addresses" >/dev/null
}

llvm_symbolize_cold() {
	chill "$tmp/addresses"
	llvm_symbolize "$1"
}

eu_symbolize() {
	head -n 100 "$tmp/addresses" | "$measure" "$1" eu-addr2line -f -i -e "$big" >/dev/null
}

symbolize() {
	need_big || return
	[ -x "$top_builddir/tests/cli/recording" ] || {
		echo "  tests/cli/recording is not built: make check TESTS="
		return
	}
	symbolize_data || return
	printf '\n%s\n  %-46s %10s %10s %-3s %7s\n' "Names, inlines and lines of 10,000 random addresses" \
		'' sprof other '' ratio
	repeat 3 sprof_symbolize_cold "$tmp/cold.sprof" &&
		repeat "$BENCH_RUNS" sprof_symbolize "$tmp/warm.sprof" || return
	if command -v llvm-symbolizer >/dev/null; then
		repeat 2 llvm_symbolize_cold "$tmp/cold.llvm"
		repeat 3 llvm_symbolize "$tmp/warm.llvm"
		columns "llvm-symbolizer, cold" "$tmp/cold.sprof" "$tmp/cold.llvm"
		columns "llvm-symbolizer, warm" "$tmp/warm.sprof" "$tmp/warm.llvm"
	fi
	if command -v eu-addr2line >/dev/null && repeat 1 eu_symbolize "$tmp/warm.eu"; then
		echo "  eu-addr2line -f -i: $(column "$tmp/warm.eu" 1) ms for 100 of them"
	fi
	rm -f "$tmp"/*.sprof "$tmp"/*.llvm "$tmp"/*.eu
}

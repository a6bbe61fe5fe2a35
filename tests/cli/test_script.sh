#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof script against the outputs of perf script that the corpus keeps, and its options.
#
# FILE.oracle/VERSION/script.txt.gz is `perf script --show-mmap-events --symfs EMPTY`, the first
# 2,000 lines, of perf 6.1 where it could read the file, else of a newer one.
. "$top_srcdir/tests/cli/lib.sh"

export LC_ALL=C TZ=UTC
mkdir "$tmp/empty"

# A recording of its own.
recording "$tmp/perf.data" <<'END'
event cpu-clock chain
event page-faults
arch x86_64
comm 7 7 demo
comm 7 8 demo
mmap 7 0x1000 0x1000 0 /nowhere/demo
mmap -1 0xffffffff81000000 0x100000 0xffffffff81000000 [kernel.kallsyms]_text
sample 0 7 7 1 2000000000 250000 0x1234 0x1234 0x1334
sample 1 7 7 0 1000001000 1 0x1235
sample 0 7 8 0 3500000001 250000 0xffffffff81000010 0xffffffff81000010 0x1334
END

# Lines with their ends, where blanks may be.
shown() {
	"$@" >"$tmp/.shown" || return
	sed 's/$/|/' "$tmp/.shown"
}

fails "an event that is not there" 1 "$SPROF" script -i "$tmp/perf.data" -e cycles <<END
sprof: $tmp/perf.data has no event 'cycles'; 'sprof info -i $tmp/perf.data' lists its events
END

# Files without symbols are listed with their number of samples and a remedy.
"$SPROF" script -i "$tmp/perf.data" >"$tmp/out" 2>"$tmp/got"
sed '/kernel/,$d' "$tmp/got" >"$tmp/user"
cat >"$tmp/wanted" <<END
sprof: $tmp/perf.data: 2 samples in demo without a symbol: /nowhere/demo: No such file or directory
       use --symfs DIR with the recorded machine's files
END
same "files that are not there are counted, with the remedy" "$tmp/wanted" "$tmp/user"
check "so is another kernel" grep -q ': 1 sample in \[kernel.kallsyms\] without' "$tmp/got"
fails "not where names are not shown" 0 "$SPROF" script -i "$tmp/perf.data" -F ip </dev/null
fails "nor where it is to be quiet" 0 "$SPROF" script -q -i "$tmp/perf.data" </dev/null

# perf 6.1 has 234 and 334: places in the file.
prints "samples by time, as perf script" shown "$SPROF" script -q -i "$tmp/perf.data" <<END
            demo     7 [000]     1.000001:          1 page-faults:              1235 [unknown] (/nowhere/demo)|
demo     7 [001]     2.000000:     250000   cpu-clock: |
	            1234 [unknown] (/nowhere/demo)|
	            1334 [unknown] (/nowhere/demo)|
|
demo     8 [000]     3.500000:     250000   cpu-clock: |
	ffffffff81000010 [unknown] ([kernel.kallsyms])|
	            1334 [unknown] (/nowhere/demo)|
|
END
prints "chosen fields" shown "$SPROF" script -i "$tmp/perf.data" -G --ns -F comm,pid,tid,time,ip,dso,dsoff <<END
            demo     7/7         1.000001000:              1235 (/nowhere/demo+0x235)|
            demo     7/7         2.000000000:              1234 (/nowhere/demo+0x234)|
            demo     7/8         3.500000001:  ffffffff81000010 ([kernel.kallsyms]+0xffffffff81000010)|
END
prints "fields added and taken away" shown "$SPROF" script -i "$tmp/perf.data" -G -F +misc,-cpu,-sym,-symoff,-dso \
	-e page-faults <<END
            demo     7 U         1.000001:          1 page-faults:              1235|
END
prints "fields of one kind of events, times since the first" \
	shown "$SPROF" script -q -i "$tmp/perf.data" -F sw:tid,time --reltime <<END
    7     0.000000: |
    7     0.999999: |
    8     2.499999: |
END
prints "times since the line before" shown "$SPROF" script -i "$tmp/perf.data" -F time --deltatime <<END
    0.000000: |
    0.999999: |
    1.500000: |
END
prints "filters" shown "$SPROF" script -i "$tmp/perf.data" -F tid --tid 7 --time 1.5,3 <<END
    7 |
END
prints "parts of the time" shown "$SPROF" script -i "$tmp/perf.data" -F tid --time 0%-10%,90%-100% <<END
    7 |
    8 |
END
prints "other records, too" shown "$SPROF" script -i "$tmp/perf.data" -F comm,tid --show-task-events -e page-faults <<END
            demo     7 PERF_RECORD_COMM: demo:7/7|
            demo     8 PERF_RECORD_COMM: demo:7/8|
            demo     7 |
END
prints "a chain up to a function" "$SPROF" script -q -f -i "$tmp/perf.data" -F ip,sym --stop-bt nothing --time 1.5,3 <<'END'

	            1234 [unknown]
	            1334 [unknown]

END
fails "an option of perf's that takes decoded traces" 129 "$SPROF" script --insn-trace <<END
sprof: --insn-trace is not supported: processor traces are not decoded; use 'perf script'
       'sprof script --help' lists the options.
END
fails "a field that the samples do not have" 1 "$SPROF" script -i "$tmp/perf.data" -F weight <<END
sprof: samples of cpu-clock have no WEIGHT: cannot print 'weight'
END
fails "a field that takes decoded traces" 129 "$SPROF" script -i "$tmp/perf.data" -F +flags <<END
sprof: -F, --fields: flags is of decoded processor traces (AUX), and there is no decoder
       'sprof script --help' lists the options.
END
"$SPROF" script -i "$tmp/perf.data" --format json >"$tmp/json"
check "a line of JSON for each record" test "$(grep -c '^{"type":' "$tmp/json")" = "$(wc -l <"$tmp/json")"
check "samples are among them" test "$(grep -c '"type": *"SAMPLE"' "$tmp/json")" = 3
"$SPROF" script -D -i "$tmp/perf.data" >"$tmp/dump"
check "a dump has all records" test "$(grep -c 'raw event: size' "$tmp/dump")" = "$(wc -l <"$tmp/json")"
"$SPROF" script --header-only -i "$tmp/perf.data" >"$tmp/header"
check "the header has the architecture" grep -qx '# arch : x86_64' "$tmp/header"
# Filtered samples count.
recording "$tmp/counters.data" <<'END'
event cycles counters
event instructions counters
comm 7 7 a
comm 8 8 b
with count 100 count 50
sample 0 7 7 0 1000000000 1 0x1234
with count 300 count 60
sample 0 8 8 0 2000000000 1 0x1234
with count 310 count 90
sample 0 7 7 0 3000000000 1 0x1234
END
for filter in "--comms b" "--pid 8" "--time 1.5,2.5"; do
	prints "counters of $filter" "$SPROF" script -i "$tmp/counters.data" -F comm,period,event $filter <<'END'
               b        200       cycles: 
               b         10 instructions: 
END
done
prints "counters of one event" "$SPROF" script -i "$tmp/counters.data" -F period,event -e instructions <<'END'
        50 instructions: 
        10 instructions: 
        30 instructions: 
END

# Code, and what ran between branches. The program is what it is on any machine.
cat >"$tmp/code.s" <<'END'
	.globl _start, leaf
	.type _start, @function
	.type leaf, @function
_start:	mov $3, %edi
	call leaf
	jmp _start
	.size _start, . - _start
leaf:	test %rdi, %rdi
	je 1f
	sub $1, %rdi
	jmp leaf
1:	ret
	.size leaf, . - leaf
	.skip 16000, 0x90
END
if [ "$(uname -m)" = x86_64 ] && as -o "$tmp/code.o" "$tmp/code.s" 2>"$tmp/err" &&
	ld -Ttext=0x401000 -o "$tmp/code" "$tmp/code.o" 2>"$tmp/err"; then
	recording "$tmp/code.data" <<END
event cycles branches
arch x86_64
comm 7 7 code
mmap 7 0x401000 0x1000 0x1000 $tmp/code
with branch 0x401015 0x40100c 0x32 branch 0x401005 0x40100c 0x51 branch 0x40100a 0x401000 2
sample 0 7 7 1 2000000000 250000 0x40100f
with branch 0x401005 0x40100d 2 branch 0x40100a 0x401001 2
sample 0 7 7 1 2100000000 250000 0x40100f
END
	recording "$tmp/stop.data" <<END
event cycles chain
arch x86_64
comm 7 7 code
mmap 7 0x401000 0x1000 0x1000 $tmp/code
sample 0 7 7 1 2000000000 250000 0x401010 0x401010 0x40100a 0x401010 0x40100a
END
	prints "a chain no further than a function" "$SPROF" script --symfs / -i "$tmp/stop.data" -F ip,sym \
		--stop-bt _start <<'END'

	          401010 leaf
	          40100a _start

END
	prints "instructions" "$SPROF" script --symfs / -i "$tmp/code.data" -F ip,sym,insnlen,insn <<END
           40100f leaf ilen: 2 insn: 74 06
           40100f leaf ilen: 2 insn: 74 06
END
	prints "code between branches" shown "$SPROF" script -i "$tmp/code.data" -F ip,brstackinsn \
		--time 0,2.05 <<'END'
           40100f|
	_start+10:|
	000000000040100a	insn: eb f4                   	# PRED|
	0000000000401000	insn: bf 03 00 00 00 |
	0000000000401005	insn: e8 02 00 00 00          	# MISPRED 5 cycles [5] 0.40 IPC|
	leaf:|
	000000000040100c	insn: 48 85 ff |
	000000000040100f	insn: 74 06 |
	0000000000401011	insn: 48 83 ef 01 |
	0000000000401015	insn: eb f5                   	# PRED 3 cycles [8] 1.33 IPC|
	000000000040100c	insn: 48 85 ff |
	000000000040100f	insn: 74 06 |
|
END
	if perf --version 2>/dev/null | grep -q ' 6\.1\.'; then
		for list in brstackinsn brstackinsnlen; do
			for blocks in 1 9; do
				perf script -f -i "$tmp/code.data" -F ip,sym,$list \
					--max-blocks $blocks >"$tmp/wanted" 2>"$tmp/err"
				"$SPROF" script -i "$tmp/code.data" -F ip,sym,$list \
					--max-blocks $blocks >"$tmp/got"
				check "perf has blocks" grep -q insn: "$tmp/wanted"
				same "-F $list --max-blocks $blocks, as perf" "$tmp/wanted" "$tmp/got"
			done
		done
	else
		skip "blocks as perf has them" "needs perf 6.1, whose text this is"
	fi
	# 31 blocks of 16,000 instructions: more than anybody reads, or a damaged file.
	{
		printf 'event cycles branches\narch x86_64\ncomm 7 7 code\n'
		echo "mmap 7 0x401000 0x5000 0x1000 $tmp/code"
		printf with
		for i in 1 2 3 4 5 6 7 8; do
			printf ' branch 0x404e97 0x401018 2 branch 0x404e97 0x401018 2'
			printf ' branch 0x404e97 0x401018 2 branch 0x404e97 0x401018 2'
		done
		printf '\nsample 0 7 7 1 2000000000 250000 0x401018\n'
	} | recording "$tmp/long.data"
	"$SPROF" script -i "$tmp/long.data" -F ip,brstackinsn >"$tmp/got"
	check "code is shown up to a bound" grep -q 'and more code than is shown' "$tmp/got"
	check "which is 65,536 instructions" test "$(grep -c 'insn: 90' "$tmp/got")" -le 65537
	if "$SPROF" script -i "$tmp/code.data" -F ip,disasm >"$tmp/got" 2>"$tmp/err"; then
		grep -q '		je .*0x401017' "$tmp/got"
		check "text of instructions" test $? = 0
	else
		check "without capstone, it is named" grep -q 'libcapstone' "$tmp/err"
	fi
else
	skip "code" "needs a compiler for x86-64"
fi

# Fields that only some events have: samples of the others have none, of the same kind or not.
recording "$tmp/some.data" <<'END'
event cpu-clock
event cycles branches
event instructions
comm 7 7 code
with branch 0x401010 0x401020 1
sample 1 7 7 0 1000000000 1000 0x401020
with
sample 0 7 7 0 1000000001 1000 0x401030
sample 2 7 7 0 1000000002 1000 0x401040
END
"$SPROF" script -i "$tmp/some.data" -F event,ip,brstack >"$tmp/got" 2>"$tmp/err"
check "brstack, which one of three events has" [ "$? $(grep -c '0x401010/0x401020' "$tmp/got") $(wc -l <"$tmp/got")" = "0 1 3" ]
status "addr, which none has" 1 "$SPROF" script -i "$tmp/some.data" -F ip,addr
status "brstack of the kind that has none" 1 "$SPROF" script -i "$tmp/some.data" -F sw:ip,brstack

for jobs in 1 3; do
	"$SPROF" script -j $jobs -i "$tmp/perf.data" >"$tmp/jobs$jobs"
done
same "threads do not change the order" "$tmp/jobs1" "$tmp/jobs3"

[ -d "$SPROF_CORPUS" ] || {
	skip "recordings of many perfs" "no corpus of recordings at $SPROF_CORPUS (SPROF_CORPUS)"
	finish
	exit 0
}

# Intended differences to perf, with reasons.
differs() {
	case $1 in
	guest-s390x/pipe.data)
		echo "of samples of one time perf has those first that it read first, from other rounds" ;;
	local/dwarf-6.1.data | perfparser/contentsize.data | perfparser/vector_static_gcc__perf.data*)
		echo "where a dump cannot be unwound for want of files, its first frame is known yet" ;;
	lpd/sleep.compressed2.pipe.data | quipper/perf.data.piped.intel_pt-4.14)
		echo "perf 6.1 ends in the middle" ;;
	quipper/perf.data.piped.corrupted.zero_size_sample-3.2 | \
	simpleperf/perf_with_callchain_record.data)
		echo "perf ends at the first damage" ;;
	simpleperf/perf_merge1.data | simpleperf/perf_need_proguard_mapping.data)
		echo "perf has JIT code of another process's mapping" ;;
	simpleperf/perf_with_ip_zero_in_callchain.data)
		echo "perf drops what follows a 0 in a chain" ;;
	*) return 1 ;;
	esac
}

# Removes intended differences from lines: modifiers of names that the file does not have;
# addresses in chains, which perf 6.1 has within the file; names of threads before their COMM
# record; widths, which perf 6.2 changed; protections, which perf does not turn around; and names
# of symbols, which may be found by build-id.
alike() {
	sed -E 's/:[ukhpPHG]+: ( |$)/: \1/
		s/^(.*: +[0-9a-f]{6,16}|	 *[0-9a-f]+) .+\+0x[0-9a-f]+ \(/\1 [unknown] (/
		s/^(	) *[0-9a-f]+ (.*\(([^[]|\[v))/\1X \2/
		s/^ *:?[^ ]+ +0 (\[[0-9]+\] +)?0\.000000: /WHO 0.000000: /
		s/: [r-][w-][x-]([ps]) /: ---\1 /
		s/ +/ /g'
}

exact=0
for oracle in "$SPROF_CORPUS"/*/*.oracle; do
	file=${oracle%.oracle}
	name=${file#"$SPROF_CORPUS"/}
	for version in p61 p612 pnew; do
		gzip -dc "$oracle/$version/script.txt.gz" 2>/dev/null | head -2000 >"$tmp/wanted"
		[ ! -s "$tmp/wanted" ] || break
	done
	# A file of counts has no samples.
	[ -s "$tmp/wanted" ] && [ "$name" != local/statrec-6.1.data ] || continue
	"$SPROF" script -q --no-inline --show-mmap-events --symfs "$tmp/empty" -i "$file" \
		2>"$tmp/err" | head -2000 >"$tmp/got"
	if cmp -s "$tmp/wanted" "$tmp/got"; then
		exact=$((exact + 1))
		ok "$name: byte for byte"
	elif why=$(differs "$name"); then
		check "$name differs: $why" test -s "$tmp/got"
	else
		alike <"$tmp/wanted" >"$tmp/wanted.alike"
		alike <"$tmp/got" >"$tmp/got.alike"
		same "$name: as perf" "$tmp/wanted.alike" "$tmp/got.alike"
	fi
done
check "most are equal byte for byte ($exact)" test "$exact" -ge 25

# perf reads more of an attr in a pipe than there is, and calls a type of another machine unknown.
for oracle in "$SPROF_CORPUS"/*/*.oracle; do
	file=${oracle%.oracle}
	name=${file#"$SPROF_CORPUS"/}
	gzip -dc "$oracle/p61/evlist.txt.gz" 2>/dev/null | grep -v '^#' |
		sed -E 's/^([^:]*:?[^: ]*):[ukhpPHG]+: /\1: /' >"$tmp/wanted"
	case $name in *pipe* | perfparser/contentsize.data | simpleperf/perf_etm.data) continue ;; esac
	[ -s "$tmp/wanted" ] || continue
	"$SPROF" info -v -i "$file" 2>/dev/null | sed -n '/^Attributes/,/^Features/p' |
		sed -n '/^  [^ ]/s/^  //p' | sed -E 's/^([^:]*:?[^: ]*):[ukhpPHG]+: /\1: /' >"$tmp/got"
	same "$name: attrs as perf evlist -v" "$tmp/wanted" "$tmp/got"
done

"$SPROF" script -q -i "$SPROF_CORPUS/simpleperf/perf_display_bitmaps.data" 2>"$tmp/err" |
	head -2000 >"$tmp/got"
check "names that the recording itself has" grep -q ' glTexSubImage2D+0x90 (/vendor/lib64/' "$tmp/got"

# fields FILE ARG...: the same arguments to perf and to sprof.
fields() {
	fields_of=$1
	shift
	perf script -f --symfs "$tmp/empty" -i "$SPROF_CORPUS/$fields_of" "$@" 2>"$tmp/err" |
		head -500 >"$tmp/wanted"
	"$SPROF" script -q --symfs "$tmp/empty" -i "$SPROF_CORPUS/$fields_of" "$@" 2>"$tmp/err" |
		head -500 >"$tmp/got"
	check "perf has lines of $fields_of $*" test -s "$tmp/wanted"
	same "$fields_of $*" "$tmp/wanted" "$tmp/got"
}

if perf --version 2>/dev/null | grep -q ' 6\.1\.'; then
	for list in brstack brstacksym sym,dso,brstack sym,dso,brstacksym; do
		fields quipper/perf.data.branch_stack_spec -F ip,$list
		fields quipper/perf.data.branch-4.14 -F comm,misc,ip,$list --ns
	done
	fields perfparser/contentsize.data -G -F comm,ip,data_src,addr
	fields perfparser/contentsize.data -G -F ip,uregs
	fields guest-armhf/dwarf.data -G -F ip,uregs
	fields quipper/perf.data.forkexit-3.8 --show-task-events
	fields quipper/perf.data.ctx_switch_namespaces-4.14 --show-switch-events \
		--show-namespace-events --show-mmap-events -F +misc
	fields quipper/perf.data.branch_stack_spec --show-bpf-events
	fields quipper/perf.data.hw_and_sw-3.4 --deltatime
	fields quipper/perf.data.hw_and_sw-3.4 --reltime
	fields quipper/perf.data.raw-3.4 -F +pid,-period
else
	skip "fields as perf has them" "needs perf 6.1, whose text this is"
fi
finish

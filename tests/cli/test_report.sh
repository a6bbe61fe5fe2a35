#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sprof report on recordings made to order: each option, each format, each way to
# end.
. "$top_srcdir/tests/cli/lib.sh"
cd "$tmp" || exit 99
report() {
	"$SPROF" report "$@"
}

cat >kallsyms <<'END'
ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81000100 T sys_read
ffffffff81000200 t copy_page
ffffffff81000300 T _etext
END

# 10 samples of 1 ms: demo 8 (6 in the program, 2 in the kernel), other 2.
recording perf.data <<'END'
event cpu-clock
hostname testhost
osrelease 6.1.0-test
arch x86_64
cmdline ./demo --fast
mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
fork 7 7 8 900000000
comm 9 9 other
mmap 9 0x500000 0x10000 0 /nowhere/libother.so
sample 0 7 7 0 1000000000 1000000 0x400010
sample 0 7 7 0 1001000000 1000000 0x400010
sample 0 7 7 1 1002000000 1000000 0x400010
sample 0 7 8 1 1003000000 1000000 0x400020
sample 0 7 8 1 1004000000 1000000 0x400020
sample 0 7 8 1 1005000000 1000000 0x400030
sample 0 7 7 0 1006000000 1000000 0xffffffff81000110
sample 0 7 7 0 1007000000 1000000 0xffffffff81000120
sample 0 9 9 2 1008000000 1000000 0x500040
sample 0 9 9 2 1009000000 1000000 0xffffffff81000210
END

prints "the default is rows by comm, dso and function" report -q --kallsyms kallsyms <<'END'
  self   low-high  function       comm   dso
30.00%  10.8-60.3  [.] 0x10       demo   demo
20.00%   5.7-51.0  [k] sys_read   demo   [kernel.kallsyms]
20.00%   5.7-51.0  [.] 0x20       demo   demo
10.00%   1.8-40.4  [.] 0x30       demo   demo
10.00%   1.8-40.4  [k] copy_page  other  [kernel.kallsyms]
10.00%   1.8-40.4  [.] 0x40       other  libother.so
END
prints "sprof.data is taken before perf.data" sh -c 'cp perf.data sprof.data
	"$SPROF" report -s comm | head -n 1; rm sprof.data' <<'END'
sprof.data  ./demo --fast
END
prints "-i - reads a pipe" sh -c 'cat perf.data | "$SPROF" report -q -i - -s comm' <<'END'
  self   low-high  comm
80.00%  49.0-94.3  demo
20.00%   5.7-51.0  other
END
prints "-s takes any keys in any order" report -q -s cpu,tid,pid <<'END'
  self   low-high  cpu  tid  pid
40.00%  16.8-68.7    0    7    7
30.00%  10.8-60.3    1    8    7
20.00%   5.7-51.0    2    9    9
10.00%   1.8-40.4    1    7    7
END
prints "-F takes columns, and keys among them" report -q -F period,overhead,cpu,sample -s cpu,comm <<'END'
   period    self  cpu  samples  comm
4,000,000  40.00%    0        4  demo
4,000,000  40.00%    1        4  demo
2,000,000  20.00%    2        2  other
END
prints "-F alone makes rows by its keys" report -q -F comm,overhead,interval <<'END'
comm     self   low-high
demo   80.00%  49.0-94.3
other  20.00%   5.7-51.0
END
fails "a field that is none" 129 report -F overhead,dtlb <<'END'
sprof: -F, --fields: dtlb is perf's name of tlb
       'sprof report --help' lists the options.
END
fails "a key of perf's that is refused" 129 report -s simd <<'END'
sprof: --sort: simd needs decoded traces of Arm's SPE, which sprof does not decode
       'sprof report --help' lists the options.
END
recording names.data <<'END'
event cpu-clock
sample 0 7 7 0 1000 1 0x400010
END
fails "a recording as the value of -g" 129 "$SPROF" report -g names.data <<'END'
sprof: -g, --call-graph: 'names.data' is not caller, callee or none
sprof: names.data is a recording: use -i names.data
       'sprof report --help' lists the options.
END
fails "a recording as a list of names" 129 "$SPROF" report -c names.data <<'END'
sprof: names.data is a recording: use -i names.data
       'sprof report --help' lists the options.
END
fails "a recording as keys" 129 "$SPROF" script -F names.data <<'END'
sprof: -F, --fields: names.data is no field; 'sprof help script' lists them
sprof: names.data is a recording: use -i names.data
       'sprof script --help' lists the options.
END
fails "a recording as the command" 129 "$SPROF" names.data <<'END'
sprof: names.data is a recording: sprof report names.data
END
cp names.data away.data && : >names.data
check "a file that is none may have the name of a command" sh -c \
	'! "$0" report -i away.data -c names.data 2>&1 | grep -q "use -i"' "$SPROF"
fails "an option of perf's that is elsewhere" 129 report --stats <<'END'
sprof: --stats is not supported: use 'sprof info', which counts records
       'sprof report --help' lists the options.
END
fails "a letter of perf's that is elsewhere" 129 report -D <<'END'
sprof: -D, --dump-raw-trace is not supported: use 'sprof script -D'
       'sprof report --help' lists the options.
END
report --header-only >header
check "the header alone" grep -qx '# hostname : testhost' header
prints "-s + adds to the default" report -q -s +cpu --percent-limit 20 --kallsyms kallsyms <<'END'
All rows: comm demo
  self   low-high  function      dso                cpu
20.00%   5.7-51.0  [k] sys_read  [kernel.kallsyms]    0
20.00%   5.7-51.0  [.] 0x10      demo                 0
20.00%   5.7-51.0  [.] 0x20      demo                 1
... 4 rows below 20.00%, 40.0% in all; report with --percent-limit 0 shows them
END

prints "the head says what is missing, and what to do" sh -c \
	'"$SPROF" report -s symbol --kallsyms kallsyms | sed "/^ *[a-z ]*low-high/,\$d"' <<'END'
perf.data  ./demo --fast
  ! 70% of samples have no symbols (file not found): demo 60%, libother.so 10%
    -> use --symfs DIR with the recorded machine's files
10 samples of cpu-clock, 10 ms of CPU time, none lost
Percentages are of total CPU time; low-high is the 95% confidence interval.

END

# FILTER ROWS-SAMPLES: the sum of what passes.
filter() {
	wanted=$1
	shift
	got=$(report --format csv -s comm --kallsyms kallsyms "$@" 2>/dev/null |
		awk -F, 'NR > 1 { sum += $4 } END { print sum + 0 }')
	check "$* lets $wanted samples pass" test "$got" = "$wanted"
}
filter 2 --comms other
filter 10 --comms other,demo
filter 8 --comm demo
filter 6 --dsos demo
filter 7 -d demo,libother.so
filter 3 --dsos '[kernel.kallsyms]'
filter 2 --symbols sys_read
filter 3 -S sys_read,copy_page
filter 8 --pid 7
filter 5 --pid 7 --tid 7
filter 2 --pid 7 --tid 7 --dsos '[kernel.kallsyms]'
filter 4 -C 0
filter 6 --cpu 1-2
filter 4 --time 1.003,1.006
filter 3 --time ,1.002
filter 2 --time 1.0075,
filter 10 --time 1,1.009
filter 5 --time 0%-50%
filter 10 --time 0%-100%
filter 0 --comms nobody

prints "shares are of all unless relative" report -q -s comm --pid 9 <<'END'
  self   low-high  comm
20.00%   5.7-51.0  other
END
prints "--percentage relative" report -q -s comm --pid 9 --percentage relative <<'END'
   self   low-high  comm
100.00%  34.2- 100  other
END

prints "csv" sh -c '"$SPROF" report --format csv -s pid | cut -d , -f 1,4-6,9-11,12' <<'END'
self,self_samples,self_weight,total,total_samples,total_weight,pid,self_between_low
0.8,8,8000000,0.8,8,8000000,7,0.4614760147
0.2,2,2000000,0.2,2,2000000,9,0.05083533189
END
prints "folded" report --format folded --kallsyms kallsyms <<'END'
demo;[demo] 6
demo;sys_read_[k] 2
other;copy_page_[k] 1
other;[libother.so] 1
END

cat >shape.pl <<'END'
use JSON::PP;
local $/;
my $o = decode_json(<STDIN>);
sub shape { my $h = shift; join(" ", map { "$_=$h->{$_}" } sort keys %$h) }
print join(" ", sort keys %$o), "\n", shape($o->{file}), "\n";
for my $e (@{$o->{events}}) {
	my ($sum, $rows) = (0, 0);
	print join(" ", sort keys %$e), "\n";
	print "$e->{name} $e->{samples} $e->{weight} $e->{lost} $e->{repaired}\n";
	print shape($e->{stacks}), "; ", shape($e->{throttled}), "\n";
	$sum += $_->{self_weight}, $rows++ for @{$e->{rows}};
	print "$rows rows, weight $sum\n", join(" ", sort keys %{$e->{rows}[0]}), "\n" if $rows;
	sub depth { my $d = 0; for (@{$_[0]}) { my $c = 1 + depth($_->{children}); $d = $c if $c > $d } $d }
	print "depth ", depth($e->{tree}), "\n" if $e->{tree};
}
END
if perl -MJSON::PP -e 1 2>/dev/null; then
	prints "json is what the man page says" sh -c \
		'"$SPROF" report --format json -g --kallsyms kallsyms | perl shape.pl' <<'END'
events file findings sprof
damaged=0 duration_ns=9000000 path=perf.data
lost lost_own name repaired rows samples stacks throttled tree weight
cpu-clock 10 10000000 0 0
bad_memory=0 complete=0 depth_limit=0 no_unwind_info=0 none=10 skipped=0 switched=0 truncated=0; count=0 ns=0
6 rows, weight 10000000
comm dso function self self_between_high self_between_low self_high self_low self_samples self_weight total total_between_high total_between_low total_high total_low total_samples total_weight
depth 1
(stderr) sprof: perf.data has no call chains; 'sprof record -g' records them
END
else
	skip "json is what the man page says" "needs perl's JSON::PP"
fi

# Call chains, several events, losses.
recording chains.data <<'END'
event cpu-clock chain
event page-faults
mmap -1 0xffffffff81000000 0x1000000 0xffffffff81000000 [kernel.kallsyms]_text
comm 7 7 de;mo
mmap 7 0x400000 0x10000 0 /nowhere/demo
sample 0 7 7 0 1000 100 0x400010 0x400010 0x400021 0x400031
sample 0 7 7 0 2000 100 0x400010 0x400010 0x400021 0x400031
sample 0 7 7 0 3000 100 0x400040 0x400040 0x400031
sample 0 7 7 0 4000 300 0xffffffff81000110 0xffffffff81000110 0x400050 0x400031
sample 1 7 7 0 5000 1 0x400010
lost 0 2
throttle 0 6000
unthrottle 0 9000
END
prints "-n has the samples" report -q -n -e cpu-clock -s symbol -i chains.data --percent-limit 20 \
	--kallsyms kallsyms <<'END'
  self   low-high   total  samples  symbol
50.00%  12.5-87.5  50.00%        1  [k] sys_read
33.33%   6.1-79.2  33.33%        2  [.] 0x10
... 4 rows below 20.00%, 16.7% in all; report with --percent-limit 0 shows them
END
prints "--children orders by total" report -q -e cpu-clock -s symbol --children -i chains.data \
	--kallsyms kallsyms <<'END'
  total   low-high    self  symbol
100.00%  43.9- 100   0.00%  [.] 0x31
 50.00%  12.5-87.5  50.00%  [k] sys_read
 50.00%  12.5-87.5   0.00%  [.] 0x50
 33.33%   6.1-79.2  33.33%  [.] 0x10
 33.33%   6.1-79.2   0.00%  [.] 0x21
 16.67%   1.8-69.0  16.67%  [.] 0x40
END
prints "an explicit limit decides alone" report -q -e cpu-clock -s symbol --percent-limit 0 \
	-i chains.data --kallsyms kallsyms <<'END'
  self   low-high    total  symbol
50.00%  12.5-87.5   50.00%  [k] sys_read
33.33%   6.1-79.2   33.33%  [.] 0x10
16.67%   1.8-69.0   16.67%  [.] 0x40
 0.00%             100.00%  [.] 0x31
 0.00%              50.00%  [.] 0x50
 0.00%              33.33%  [.] 0x21
END
prints "the tree is shown without the rows" report -q -e cpu-clock -g caller,40 -i chains.data \
	--kallsyms kallsyms <<'END'
  total   low-high     self  call tree, callers first; below 40.00% hidden
100.00%  43.9- 100    0.00%  [truncated stacks]
                             0x31 [demo]
 50.00%  12.5-87.5    0.00%  |- 0x50
                     50.00%  |  sys_read [kernel.kallsyms]
 50.00%                      `- ... 2 more, each below 40.00%
END
prints "totals where there are call chains" report -q -e cpu-clock -s symbol -i chains.data \
	--kallsyms kallsyms <<'END'
  self   low-high   total  symbol
50.00%  12.5-87.5  50.00%  [k] sys_read
33.33%   6.1-79.2  33.33%  [.] 0x10
16.67%   1.8-69.0  16.67%  [.] 0x40
... 3 more rows without self time; --percent-limit 0 shows them
END
prints "a tree of callers" report -q -e cpu-clock -s comm -g -i chains.data --kallsyms kallsyms <<'END'
   self   low-high    total  comm
100.00%  43.9- 100  100.00%  de;mo

  total   low-high     self  call tree, callers first; below 0.50% hidden
100.00%  43.9- 100    0.00%  [truncated stacks]
                             0x31 [demo]
 50.00%  12.5-87.5    0.00%  |- 0x50
                     50.00%  |  sys_read [kernel.kallsyms]
 33.33%   6.1-79.2    0.00%  |- 0x21
                     33.33%  |  0x10
 16.67%   1.8-69.0   16.67%  `- 0x40
END
prints "by the nearest caller that matches" report -q -e cpu-clock -s symbol -p '^(sys_|copy_|0x)' \
	-i chains.data --kallsyms kallsyms <<'END'
  self   low-high   total  symbol        parent
50.00%  12.5-87.5  50.00%  [k] sys_read  sys_read
33.33%   6.1-79.2  33.33%  [.] 0x10      [other]
16.67%   1.8-69.0  16.67%  [.] 0x40      [other]
... 4 more rows without self time; --percent-limit 0 shows them
END
prints "those that match alone" report -q -e cpu-clock -s comm -p '^sys_' -x -i chains.data \
	--kallsyms kallsyms <<'END'
  self   low-high   total  comm   parent
50.00%  12.5-87.5  50.00%  de;mo  sys_read
END
fails "a parent that is no expression" 129 report -p '(' -i chains.data <<'END'
sprof: -p, --parent: '(' is not a regular expression (extended)
       'sprof report --help' lists the options.
END
# perf has these totals, too, with -g callee: from the caller down it takes the outermost calls.
prints "no more frames than are asked for" report -q -e cpu-clock -s symbol -g --max-stack 2 \
	-i chains.data --kallsyms kallsyms <<'END'
  self   low-high   total  symbol
50.00%  12.5-87.5  50.00%  [k] sys_read
33.33%   6.1-79.2  33.33%  [.] 0x10
16.67%   1.8-69.0  16.67%  [.] 0x40
... 3 more rows without self time; --percent-limit 0 shows them

  total   low-high     self  call tree, callers first; below 0.50% hidden
 83.33%  31.0-98.2    0.00%  [truncated: depth limit]
 50.00%  12.5-87.5    0.00%  |- 0x50 [demo]
                     50.00%  |  sys_read [kernel.kallsyms]
 33.33%   6.1-79.2    0.00%  `- 0x21 [demo]
                     33.33%     0x10
 16.67%   1.8-69.0    0.00%  [truncated stacks]
                             0x31 [demo]
                     16.67%  0x40
END
prints "what that cuts is told" \
	sh -c '"$SPROF" report -i chains.data -e cpu-clock --max-stack 2 | grep -E "^stacks"
		"$SPROF" report -i chains.data --max-stack 2 --format json | grep -o "75% of .*max-stack)[^,]*"' <<'END'
stacks: 25.0% truncated, 75.0% cut at the depth limit
75% of stacks are truncated (deeper than --max-stack) — cpu-clock"
END
prints "a tree of callees" report -q -e cpu-clock -s comm -g callee,10 -i chains.data \
	--kallsyms kallsyms <<'END'
   self   low-high    total  comm
100.00%  43.9- 100  100.00%  de;mo

  total   low-high  functions, callees first; below 10.00% hidden
 50.00%  12.5-87.5  sys_read [kernel.kallsyms]
                    0x50 [demo]
                    0x31
                    [truncated stacks]
 33.33%   6.1-79.2  0x10 [demo]
                    0x21
                    0x31
                    [truncated stacks]
 16.67%   1.8-69.0  0x40 [demo]
                    0x31
                    [truncated stacks]
END
prints "csv is ordered by total" sh -c \
	'"$SPROF" report --format csv -s symbol -e cpu-clock -i chains.data --kallsyms kallsyms |
		cut -d , -f 3,6,11' <<'END'
self_high,total,symbol
0.5614970318,1,0x31
0.8746655281,0.5,sys_read
0.5614970318,0.5,0x50
0.7923403992,0.3333333333,0x10
0.5614970318,0.3333333333,0x21
0.6900118936,0.1666666667,0x40
END
prints "csv of several events names them" sh -c \
	'"$SPROF" report --format csv -s comm -i chains.data | cut -d , -f 1,4-6,9-12' <<'END'
self,self_samples,self_weight,total,total_samples,total_weight,comm,event
1,4,600,1,4,600,de;mo,cpu-clock
1,1,1,1,1,1,de;mo,page-faults
END
prints "csv without totals" sh -c \
	'"$SPROF" report --format csv -s comm --no-children -i chains.data | cut -d , -f 1,4-12' <<'END'
self,self_samples,self_weight,total,total_low,total_high,total_samples,total_weight,comm,event
1,4,600,,,,,,de;mo,cpu-clock
1,1,1,1,0.2065493144,1,1,1,de;mo,page-faults
END
prints "folded is of one event" report --format folded -i chains.data --kallsyms kallsyms <<'END'
de:mo;[truncated stacks];[demo];[demo] 1
de:mo;[truncated stacks];[demo];[demo];[demo] 2
de:mo;[truncated stacks];[demo];[demo];sys_read_[k] 1
(stderr) sprof: format folded has one event: cpu-clock (--events chooses another)
END
prints "findings are in the JSON" \
	sh -c '"$SPROF" report -i chains.data --format json | sed -n "/findings/,/throttled/p"' <<'END'
 "findings": [
  {"kind": "lost", "text": "2 samples of cpu-clock (33%) lost", "remedy": "record with larger ring buffers: -m 2M", "samples": 2, "share": 0.3333333333, "cause": "lost", "event": "cpu-clock"},
  {"kind": "throttled", "text": "cpu-clock was throttled once, for 3 us in total: samples are missing there", "remedy": "record at a lower rate: -F 249", "share": 0.8333333333, "cause": "throttled", "event": "cpu-clock"},
END
# 2 samples more of 150 ns and 3 us of throttling, in addition to 600 ns: 3,300 of 3,900 are
# missing.
prints "rows have bounds for what is missing" \
	sh -c '"$SPROF" report -i chains.data -s comm --format json | tr "," "\n" | grep -E "missing_w|_least|_most"' <<'END'
   "missing_weight": 3300
 "self_least": 0.1538461538
 "self_most": 1
 "total_least": 0.1538461538
 "total_most": 1
END
prints "the head says what the data is worth" report -i chains.data -s comm <<'END'
chains.data
  ! cpu-clock was throttled once, for 3 us in total: samples are missing there
    -> record at a lower rate: -F 249
  ! 2 samples of cpu-clock (33%) lost
    -> record with larger ring buffers: -m 2M
  ! 80% of all events' samples have no symbols (file not found): demo
    -> use --symfs DIR with the recorded machine's files
    2 more: sprof info --findings -i chains.data

4 samples of cpu-clock, 600 ns of CPU time, 2 lost (33.3%), throttled 1 time (3 us), samples are
missing: 50% may in truth be 7.7% to 92.3%
stacks: 100% truncated
Percentages are of the event's total; low-high is the 95% confidence interval.

   self   low-high    total  comm
100.00%  43.9- 100  100.00%  de;mo

1 sample of page-faults, 1 event, none lost

   self   low-high    total  comm
100.00%  20.7- 100  100.00%  de;mo
END

# CPU-wide events lose samples of all tasks.
recording others.data <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
sample 0 7 7 0 1000 100 0x400010
sample 0 7 7 0 2000 100 0x400010
sample 0 7 7 0 3000 100 0x400040
full 0 60 4000
note 0 of the 60 samples lost, which are everyone's on these CPUs, probably 1 were of what was recorded
END
prints "of everyone's losses, one's own are told apart" \
	sh -c '"$SPROF" report -i others.data -s comm | grep -E "lost|these CPUs|shares:"' <<'END'
  ! about 1 sample of cpu-clock (25%) lost; 60 across all processes on these CPUs, 100% of them on
3 samples of cpu-clock, 300 ns of CPU time, up to 60 lost on these CPUs, about 1 of them this
END
prints "and bound the shares" \
	sh -c '"$SPROF" report -i others.data -s comm --format json | tr "," "\n" |
		grep -E "lost\"|lost_own|missing_w|self_least"' <<'END'
   "lost": 60
   "lost_own": 1
   "missing_weight": 100
 "self_least": 0.75
  {"kind": "lost"
 "cause": "lost"
END

# An interrupted recording lacks the estimate: the losses may be of others, and are no fact of the target's.
recording killed.data <<'END'
event cpu-clock
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
note 0 #44:0:0
sample 0 7 7 0 1000 100 0x400010
sample 0 7 7 0 2000 100 0x400010
sample 0 7 7 0 3000 100 0x400040
full 0 60 4000
END
prints "losses of an interrupted recording are of unknown programs" \
	sh -c '"$SPROF" report -i killed.data -s comm | tr "\n" " " | tr -s " " |
		grep -oE "up to 60 (samples of|lost)[^;,.]*, of [^.;,]*"' <<'END'
up to 60 samples of cpu-clock (95%) lost, of the target or of other processes on these CPUs
up to 60 lost, of this workload or of others on these CPUs
END
prints "they bound the shares, and are no number of the target's" \
	sh -c '"$SPROF" report -i killed.data -s comm --format json | tr "," "\n" |
		grep -E "lost\"|lost_own|lost_unknown|missing_w|self_least"' <<'END'
   "lost": 60
   "lost_own": 0
   "lost_unknown": 60
   "missing_weight": 6000
 "self_least": 0.04761904762
  {"kind": "lost"
 "cause": "lost"
END
"$SPROF" info -i killed.data --format json >killed.json
check "info has them" grep -q '"lost": 60, "lost_own": 0, "lost_unknown": 60' killed.json
"$SPROF" info -i killed.data >killed.txt
check "in words, too" grep -q '60 samples of the target or of other processes on these CPUs were lost' killed.txt
# The last estimate counts. A file of a rotation begins with a note without losses.
recording twice.data <<'END'
event cpu-clock
comm 7 7 demo
note 0 #44:0:0
note 1 #44:30:3
note 2 #44:60:12
note 3 #44:0:0
sample 0 7 7 0 3000 100 0x400040
full 0 60 4000
END
"$SPROF" info -i twice.data --format json >twice.json
check "the last estimate counts" grep -q '"lost": 60, "lost_own": 12, "freq_hz"' twice.json

# Each event is a sample: shares are exact, unless some are lost.
each() {
	recording each.data <<END
event page-faults each
comm 7 7 demo
comm 8 8 other
sample 0 7 7 0 1000 1 0x400010
sample 0 7 7 0 2000 1 0x400010
sample 0 7 7 0 3000 1 0x400010
sample 0 8 8 0 4000 1 0x400010
$1
END
}
each ""
prints "exact shares have no interval" report -s comm -i each.data --percent-limit 0 <<'END'
each.data
  ! 100% of samples are at addresses without a recorded mapping
4 samples of page-faults, 4 events, none lost
Percentages are of the event's total; they are exact, as each event was sampled.

  self  comm
75.00%  demo
25.00%  other
END
bounds() {
	"$SPROF" report -s comm -i each.data --format json | tr -d ' \n' |
		grep -oE '"self_(low|high)":[0-9.]+' | cut -d: -f2 | sort -u | paste -sd' '
}
check "and JSON's bounds are the shares" test "$(bounds)" = "0.25 0.75"
each "lost 0 4"
check "shares are estimates if samples were lost" test "$(bounds | wc -w)" = 4

# Losses of other processes only are no finding.
recording zero.data <<'END'
event cpu-clock
comm 7 7 demo
sample 0 7 7 0 1000 100 0x400010
full 0 60 4000
note 0 #44:60:0 x
END
check "no finding mentions 0 samples" sh -c '! "$SPROF" report -i zero.data | grep "^  ! .*lost"'

# How large stacks were is known to the recorder alone.
remedy_of() {
	{
		printf 'event cpu-clock chain\ncomm 7 7 demo\nstacks truncated\n'
		printf 'sample 0 7 7 0 1000 100 0x400010 0x400010 0x400021\n'
		printf 'note 0 %s\n' "$1"
	} | recording cut.data
	"$SPROF" report -i cut.data 2>&1 | sed -n 's/^    -> //p' | grep -e copy -e copies
}
check "the finding names the size that the recorder found" test \
	"$(remedy_of '9 of 10 stacks are cut; --call-graph dwarf,24576 would hold 99 % of them')" = \
	"record with a larger stack copy: --call-graph dwarf,24576"
no_more="the kernel copies at most 64 KB of a stack; self time needs no callers: sprof report"
check "the finding says that there is no such size" test \
	"$(remedy_of '9 of 10 stacks are cut; more cannot be copied of a stack')" = "$no_more"
check "a note's values have the size, too" test "$(remedy_of '#36:9:10:9:0:0:0:24576 x')" = \
	"record with a larger stack copy: --call-graph dwarf,24576"
check "and that there is none" test "$(remedy_of '#36:9:10:9:0:0:0:0xffffffffffffffff x')" = "$no_more"
check "fewer values than the kind has are none" test "$(remedy_of '#36:9:10:9 x')" = \
	"record with a larger stack copy: --call-graph dwarf,32768"

check "no size is a remedy if no stack was larger than its copy" test \
	"$(remedy_of '#36:9:10:0:0:9:0:0 x'
	"$SPROF" report -i cut.data | grep -o "show the functions.*")" = \
	"show the functions where they end: sprof report -g caller"

# Remedies for stacks that are too deep do not lead back to each other.
deep() { # CALLS END FIELD...: prints the remedy for stacks that ended so
	calls=$1 end=$2
	shift 2
	{
		printf 'event cpu-clock %s\ncomm 7 7 demo\n' "$*"
		echo 'mmap 7 0x400000 0x10000 0 /home/x/demo'
		printf 'stacks %s\nsample 0 7 7 0 1000 100 0x400010 0x400010' "$end"
		printf ' 0x400021%.0s' $(seq "$calls")
		printf '\nnote 0 #36:1:1:1:0:0:0:0xffffffffffffffff x\n'
	} | recording deep.data
	"$SPROF" report -i deep.data --format json | tr '{' '\n' |
		sed -n '/truncated_stacks/s/.*"remedy": *"\([^"]*\)".*/\1/p'
}
{
	deep 127 unknown chain
	deep 1000 unknown chain deep
	deep 8000 unknown chain deepest
	deep 100 truncated chain
	deep 200 truncated chain
} >deep.out 2>&1
prints "remedies for deep stacks end in one that works, or in none" \
	sed 's/, and/,\nand/; s/; /;\n/g' deep.out <<'END'
sudo sysctl kernel.perf_event_max_stack=1000, then record with --max-stack 1000;
or record with --call-graph dwarf
sudo sysctl kernel.perf_event_max_stack=8000, then record with --max-stack 8000
no recording holds deeper stacks;
self time needs no callers: sprof report --no-children
the kernel copies at most 64 KB of a stack;
self time needs no callers: sprof report --no-children;
for callers, compile demo with -fno-omit-frame-pointer,
and record with --call-graph fp
the kernel copies at most 64 KB of a stack;
self time needs no callers: sprof report --no-children;
for callers, compile demo with -fno-omit-frame-pointer,
and record with --call-graph fp --max-stack 8000 (sudo sysctl kernel.perf_event_max_stack=8000);
no recording holds deeper stacks
END

recording python.data <<'END'
event cpu-clock chain
comm 7 7 demo
stacks complete
sample 0 7 7 0 1000 100 0x400010 0x400010 0x400021
note 0 #52:50:200:2 x
END
check "missing Python functions are a finding" test "$("$SPROF" report -i python.data | tr -s '\n ' ' ' |
	grep -c '! 25% of calls of Python.s interpreter have no Python .* -> record at a lower rate: -F 2500')" = 1

# Stacks that say how they ended.
recording unwound.data <<'END'
event cpu-clock chain
comm 7 7 demo
mmap 7 0x400000 0x10000 0 /nowhere/demo
stacks complete
sample 0 7 7 0 1000 100 0x400010 0x400010 0x400021
stacks complete repaired
sample 0 7 7 0 2000 100 0x400010 0x400010 0x400021
stacks truncated guessed
sample 0 7 7 0 3000 100 0x400010 0x400010 0x400021
stacks skipped
sample 0 7 7 0 4000 100 0x400040 0x400040
stacks complete shortened
sample 0 7 7 0 5000 100 0x400040 0x400040 0x400041 ... 0x400021
END
prints "the head and the tree say how stacks ended" report -s dso -g -i unwound.data <<'END'
unwound.data
  ! 100% of samples have no symbols (file not found): demo
    -> use --symfs DIR with the recorded machine's files
  ! 20% of stacks are truncated (larger than the recorded copy)
    -> record with a larger stack copy: --call-graph dwarf,32768
  ! 20% of stacks have no middle frames (too deep for a record)
    -> self time needs no callers: sprof report --no-children
    2 more: sprof info --findings -i unwound.data
5 samples of cpu-clock, 500 ns of CPU time, none lost
stacks: 60.0% complete, 20.0% truncated, 20.0% skipped under load, 20.0% completed from other
  samples
Percentages are of total CPU time; low-high is the 95% confidence interval.

   self   low-high    total  dso
100.00%  56.6- 100  100.00%  demo

  total   low-high     self  call tree, callers first; below 0.50% hidden
 60.00%  23.1-88.2    0.00%  0x21 [demo]
 40.00%  11.8-76.9   40.00%  |- 0x10
 20.00%   3.6-62.4    0.00%  `- [frames omitted]
                                0x41 [demo]
                     20.00%     0x40
 20.00%   3.6-62.4    0.00%  [truncated stacks]
                             0x21 [demo]
                     20.00%  0x10
 20.00%   3.6-62.4    0.00%  [truncated: recorder overloaded]
                     20.00%  0x40 [demo]
END

# Nothing to show.
recording empty.data <<'END'
event cpu-clock
comm 7 7 demo
END
prints "an empty recording says why" report -i empty.data <<'END'
empty.data
no samples of cpu-clock
  No samples: the recorded threads used less than one sampling period (1 ms) of CPU time.
  -> Record its waits (--off-cpu), children that ran before (-p PID --descendants), or at a higher
     rate (-F 4999).
END
# Two samples of a second: the head says that waits were not recorded, if these are a program's.
# waits COMMAND-LINE PERIOD [EVENT]: "yes" or "no".
waits() {
	recording few.data <<-END
		event cpu-clock
		${3:-}
		cmdline $1
		comm 7 7 demo
		sample 0 7 7 0 1000000000 $2 0x400010
		sample 0 7 7 0 2000000000 $2 0x400010
	END
	report -i few.data >few 2>err
	if grep -q "CPU time in 1.00 s (--off-cpu records waits)" few; then echo yes; else echo no; fi
}
{
	waits "sprof record -- ./demo -a" 200000000
	waits "sprof record -F 99 -p 7" 200000000
	waits "sprof record -- ./demo" 300000000
	waits "sprof record -ga -- sleep 1" 200000000
	waits "sprof record --all-cpus -- sleep 1" 200000000
	waits "sprof record --off-cpu -- ./demo" 200000000 "event offcpu-time"
} >got
printf '%s\n' yes yes no no no no >wanted
same "a program that mostly waits is recorded with --off-cpu" wanted got
prints "filters that nothing passes say so" report --comms nobody <<'END'
perf.data  ./demo --fast
10 samples of cpu-clock, 10 ms of CPU time, none lost
  None of the 10 samples passes the filters.
  -> 'sprof report' without filters shows them.
(stderr) sprof: no thread is named nobody; 'sprof report -s comm' lists all
END
prints "an empty csv is said too" report -i empty.data --format csv <<'END'
self,self_low,self_high,self_samples,self_weight,total,total_low,total_high,total_samples,total_weight,comm,dso,function,build_id
(stderr) sprof: empty.data: no samples; 'sprof report -i empty.data' without --format prints the reason
END

# Names that would do harm.
recording harm.data <<'END'
event cpu-clock
comm 7 7 a\x1b[31m\x0ab,\x22\xff
sample 0 7 7 0 1000 1 0x10
END
prints "no terminal escape reaches the terminal" report -q -s comm -i harm.data <<'END'
   self   low-high  comm
100.00%  20.7- 100  a?[31m?b,"?
END
prints "csv quotes what must be" sh -c \
	'"$SPROF" report --format csv -s comm -i harm.data | tail -n 1 | sed "s/^1.*1,//" | cat -v' <<'END'
"aM-oM-?M-=[31m\nb,""M-oM-?M-="
END
report -i harm.data --format json >harm.json
if perl -MJSON::PP -e 1 2>/dev/null; then
	prints "json is valid with any bytes" perl -MJSON::PP -CO -e 'local $/; open F, "harm.json";
		printf "%s\n", map { s/([^ -~])/sprintf("<%x>", ord $1)/ger }
		decode_json(<F>)->{events}[0]{rows}[0]{comm}' <<'END'
a<1b>[31m<a>b,"<fffd>
END
else
	skip "json is valid with any bytes" "needs perl's JSON::PP"
fi

# Mistakes.
mkdir nothing
fails "no recording" 1 sh -c 'cd nothing && "$SPROF" report' <<'END'
sprof: cannot open sprof.data: No such file or directory
       Record first: sprof record -- COMMAND
END
fails "no such recording" 1 report -i nothing/x <<'END'
sprof: cannot open nothing/x: No such file or directory
       To make a recording: sprof record -o FILE -- COMMAND
END
fails "no recording at all" 1 report -i kallsyms <<'END'
sprof: kallsyms: offset 0x0: not a perf.data file: it does not begin with PERFILE2
END
fails "a directory that is none" 1 report -i nothing <<'END'
sprof: cannot open nothing/data: No such file or directory
       To make a recording: sprof record -o FILE -- COMMAND
END
fails "a wrong column" 129 report -F overhead,name <<'END'
sprof: -F, --fields: 'name' is not one of comm, pid, tid, cpu, dso, symbol, function, srcfile, srcline, event, symbol_from, symbol_to, dso_from, dso_to, srcline_from, srcline_to, addr_from, addr_to, mispredict, cycles, in_tx, abort, branch_type, symbol_daddr, dso_daddr, daddr, phys_daddr, dcacheline, mem, snoop, tlb, locked, blocked, local_weight, weight, local_ins_lat, ins_lat, local_p_stage_cyc, p_stage_cyc, data_page_size, code_page_size, transaction, cgroup, cgroup_id, socket, time, addr, parent, state, waits_for, parallelism, waker, wakee, cmdline, argument, process, syscall, trace, nor a field of the recording's tracepoints
END
fails "a wrong key" 129 report -s comm,name <<'END'
sprof: --sort: 'name' is not one of comm, pid, tid, cpu, dso, symbol, function, srcfile, srcline, event, symbol_from, symbol_to, dso_from, dso_to, srcline_from, srcline_to, addr_from, addr_to, mispredict, cycles, in_tx, abort, branch_type, symbol_daddr, dso_daddr, daddr, phys_daddr, dcacheline, mem, snoop, tlb, locked, blocked, local_weight, weight, local_ins_lat, ins_lat, local_p_stage_cyc, p_stage_cyc, data_page_size, code_page_size, transaction, cgroup, cgroup_id, socket, time, addr, parent, state, waits_for, parallelism, waker, wakee, cmdline, argument, process, syscall, trace, nor a field of the recording's tracepoints
END
fails "a wrong format" 129 report --format xml <<'END'
sprof: --format: 'xml' is not text, json, csv, folded, pprof, speedscope, firefox, callgrind or html
       'sprof report --help' lists the options.
END
fails "a wrong time" 129 report --time 5,3 <<'END'
sprof: --time: '5,3' is not START,END in seconds, +START,+END, a time of day such as 12:03:07,+2s, or PERCENT%-PERCENT%
       'sprof report --help' lists the options.
END
fails "a wrong limit" 129 report --percent-limit 101 <<'END'
sprof: --percent-limit: '101' is not a percentage of 0 to 100
       'sprof report --help' lists the options.
END
fails "an event that was not recorded" 1 report -e cycles <<'END'
sprof: perf.data has no event 'cycles'; 'sprof info' lists its events
END
fails "a wrong tree" 129 report -g fractal <<'END'
sprof: -g, --call-graph: 'fractal' is not caller, callee or none
       'sprof report --help' lists the options.
END

# Damage: what can be read is shown, and the status is 1.
recording damaged.data <<'END'
event cpu-clock
comm 7 7 demo
sample 0 7 7 0 1000 1 0x10
bytes 0900000001000000
sample 0 7 7 0 2000 1 0x10
END
report -q -s comm -i damaged.data >damaged.out 2>damaged.err
echo "(status $?)" >>damaged.out
prints "damage shows what can be read" cat damaged.out <<'END'
   self   low-high  comm
100.00%  34.2- 100  demo
(status 1)
END
recording broken.data <<'END'
event cpu-clock
comm 7 7 demo
bytes 0900000001000000
END
check "no samples in a damaged file are no news of the workload" sh -c \
	'"$SPROF" report -i broken.data 2>&1 | grep -q "^  No samples in the readable part"'
check "damage is said with its place" grep -q "^sprof: damaged.data: offset 0x" damaged.err
check "json says that the file is damaged" \
	sh -c '"$SPROF" report --format json -i damaged.data 2>/dev/null | grep -q "\"damaged\": true"'

# Destination of the report.
if [ -e /dev/full ]; then
	for format in text csv json folded; do
		fails "a full disk is said ($format)" 1 sh -c \
			'"$SPROF" report --format $0 -i perf.data >/dev/full' $format <<'END'
sprof: cannot write the output: No space left on device
END
	done
	fails "a full disk is said (help)" 1 sh -c '"$SPROF" help >/dev/full' <<'END'
sprof: cannot write the output: No space left on device
END
else
	skip "a full disk is said" "there is no /dev/full"
fi
fails "a closed pipe is no message, but no success" 1 sh -c '
	{ trap "" PIPE; sleep 0.2; "$SPROF" report; echo $? >status; } | true; exit $(cat status)' </dev/null

# On a terminal.
if script -qec true /dev/null >/dev/null 2>&1; then
	cat >pager.sh <<'END'
#!/bin/sh
echo "pager $# $1"
cat
END
	chmod +x pager.sh
	on_terminal() {
		env TERM=xterm "$@" script -qec "stty cols 60; $command" /dev/null | tr -d '\r' >got
	}
	command='"$SPROF" report -q -s comm'
	on_terminal SPROF_PAGER="./pager.sh one two"
	check "SPROF_PAGER is taken, with its arguments" grep -q "^pager 2 one" got
	on_terminal SPROF_PAGER= PAGER=./pager.sh
	check "an empty SPROF_PAGER is none" sh -c '! grep -q pager got && grep -q demo got'
	on_terminal PAGER='./pager.sh;touch harm'
	check "no shell reads PAGER" sh -c '! [ -e harm ] && grep -q demo got'
	on_terminal PAGER=/nowhere/pager
	check "a pager that is not there is as none" grep -q demo got
	command='"$SPROF" report -q -s comm --no-pager'
	on_terminal PAGER=./pager.sh
	check "--no-pager" sh -c '! grep -q ^pager got && grep -q demo got'
	check "a terminal has colours" sh -c 'grep -q "$(printf "\\033")\\[" got'
	on_terminal NO_COLOR=1
	check "NO_COLOR has none" sh -c '! grep -q "$(printf "\\033")" got'
	command='"$SPROF" report -q -s comm --color never'
	on_terminal PAGER=cat
	check "--color never has none" sh -c '! grep -q "$(printf "\\033")" got'
	command='"$SPROF" report -q --no-pager --color never'
	on_terminal A=B
	check "the table fits the terminal" awk 'length($0) > 60 { exit 1 }' got
	command='"$SPROF" report -o written.txt'
	on_terminal A=B
	"$SPROF" report >piped.txt
	check "a file from a terminal is as from a pipe" cmp written.txt piped.txt
	command='yes | head -n 1000 >/dev/null; "$SPROF" report; echo status $?'
	on_terminal PAGER='head -n 1'
	check "leaving the pager early is a success" grep -q '^status 0' got
else
	skip "what is shown on a terminal" "needs script"
fi
check "a file has no colours" sh -c '! "$SPROF" report | grep -q "$(printf "\\033")"'
check "--color always has some" sh -c '"$SPROF" report --color always | grep -q "$(printf "\\033")"'
{
	printf 'event cpu-clock user\ncomm 1 1 demo\nmmap 1 0x400000 65536 0 /nowhere\n'
	echo 'sample 0 1 1 0 100 10 0x401000'
} | "$top_builddir/tests/cli/recording" user.data
check "the time of user code alone is named so" \
	sh -c '"$SPROF" report user.data | grep -q "of CPU time in user code"'
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Rows by values of samples other than task and code: branches, memory, cgroups, page sizes, time.
# The values are known; perf must show the same.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/tables.sh"

empty=$tmp/empty
mkdir "$empty"

report() {
	"$SPROF" report -q --symfs "$empty" "$@"
}

# Four branches of two samples: two from a.so to b.so, one of them mispredicted (bit 0; else
# predicted, bit 1), a call in a.so (type 4) after 9 cycles, and a transaction's abort into the
# kernel.
recording "$tmp/branches" <<END
event cycles branches
arch x86_64
comm 1 1 one
mmap -1 0xffffffff80000000 0x1000000 0xffffffff80000000 [kernel.kallsyms]_text
mmap 1 0x10000 0x1000 0 /a.so
mmap 1 0x20000 0x1000 0 /b.so
with branch 0x10010 0x20020 1 branch 0x10010 0x20020 2 branch 0x10100 0x10200 0x400092
sample 0 1 1 0 1000 1 0x10200
with branch 0x10300 0xffffffff80000100 0xe
sample 0 1 1 0 2000 1 0xffffffff80000100
END

prints "branches are counted where they were recorded" report -i "$tmp/branches" <<END
All rows: comm one, dso_from a.so
  self   low-high  symbol_from  symbol_to
50.00%   8.0-92.0  [.] 0x10     [.] 0x20
25.00%   2.2-83.1  [.] 0x100    [.] 0x200
25.00%   2.2-83.1  [.] 0x300    [k] 0xffffffff80000100
END

prints "each key of branches" report -i "$tmp/branches" \
	-s dso_to,mispredict,cycles,in_tx,abort,branch_type,addr_from <<END
  self   low-high  dso_to             mispredict  cycles  in_tx  abort  branch_type  addr_from
25.00%   2.2-83.1  [kernel.kallsyms]  N                ?  T      A      ?            0x10300
25.00%   2.2-83.1  a.so               N                9  .      .      CALL         0x10100
25.00%   2.2-83.1  b.so               N                ?  .      .      ?            0x10010
25.00%   2.2-83.1  b.so               Y                ?  .      .      ?            0x10010
END

prints "code is where branches went" report -i "$tmp/branches" -b -s dso <<END
  self   low-high  dso
50.00%   8.0-92.0  b.so
25.00%   2.2-83.1  [kernel.kallsyms]
25.00%   2.2-83.1  a.so
END

prints "without branches it is where samples were" report -i "$tmp/branches" --no-branch-stack <<END
All rows: comm one
  self   low-high  function                dso
50.00%   9.5-90.5  [k] 0xffffffff80000100  [kernel.kallsyms]
50.00%   9.5-90.5  [.] 0x200               a.so
END

prints "whoever wants calls has no branches" report -i "$tmp/branches" -g <<END
  total   low-high     self  call tree, callers first; below 0.50% hidden
 50.00%   9.5-90.5   50.00%  0x200 [a.so]
 50.00%   9.5-90.5   50.00%  0xffffffff80000100 [kernel.kallsyms]
(stderr) sprof: $tmp/branches has no call chains; 'sprof record -g' records them
END

"$SPROF" report -i "$tmp/branches" --format json -s symbol_from,cycles,mispredict |
	sed -n '/"rows"/,/]/p' >"$tmp/json"
prints "branches in json" cat "$tmp/json" <<END
   "rows": [
    {"self": 0.25, "self_low": 0.02211850166, "self_high": 0.8308621003, "self_samples": 1, "self_weight": 1, "total": 0.25, "total_low": 0.02211850166, "total_high": 0.8308621003, "total_samples": 1, "total_weight": 1, "symbol_from": "0x10", "mispredict": "N"},
    {"self": 0.25, "self_low": 0.02211850166, "self_high": 0.8308621003, "self_samples": 1, "self_weight": 1, "total": 0.25, "total_low": 0.02211850166, "total_high": 0.8308621003, "total_samples": 1, "total_weight": 1, "symbol_from": "0x10", "mispredict": "Y"},
    {"self": 0.25, "self_low": 0.02211850166, "self_high": 0.8308621003, "self_samples": 1, "self_weight": 1, "total": 0.25, "total_low": 0.02211850166, "total_high": 0.8308621003, "total_samples": 1, "total_weight": 1, "symbol_from": "0x100", "mispredict": "N", "cycles": 9},
    {"self": 0.25, "self_low": 0.02211850166, "self_high": 0.8308621003, "self_samples": 1, "self_weight": 1, "total": 0.25, "total_low": 0.02211850166, "total_high": 0.8308621003, "total_samples": 1, "total_weight": 1, "symbol_from": "0x300", "mispredict": "N"}
   ]
END

recording "$tmp/plain" <<END
event cycles
sample 0 1 1 0 1000 1 0x10200
END

fails "no branches where there are none" 1 "$SPROF" report -b -i "$tmp/plain" <<END
sprof: $tmp/plain has no branch stacks; use 'sprof record -b' if the processor supports it
END
fails "no key of branches either" 1 "$SPROF" report -s symbol_to -i "$tmp/plain" <<END
sprof: $tmp/plain has no branch stacks; use 'sprof record -b' if the processor supports it
END
fails "a key of branches without branches" 1 \
	"$SPROF" report --no-branch-stack -s symbol_to -i "$tmp/branches" <<END
sprof: --no-branch-stack counts samples, which have no symbol_to; omit it, or use other keys
END
fails "branches or calls" 1 "$SPROF" report -b -g -i "$tmp/branches" <<END
sprof: branches (-b) have no call chains to show
END
fails "branches or memory" 1 "$SPROF" report -b --mem-mode -i "$tmp/branches" <<END
sprof: --mem-mode and branches do not go together
END

# Two loads that hit L1, a locked store to the same line that missed L3 and hit a modified line in
# another cache, and a sample without data source.
recording "$tmp/memory" <<END
event cycles addr weight data_src phys_addr data_page_size code_page_size transaction cgroup
arch x86_64
comm 1 1 one
mmap -1 0xffffffff80000000 0x1000000 0xffffffff80000000 [kernel.kallsyms]_text
mmap 1 0x10000 0x1000 0 /a.so
mmap 1 0x20000 0x1000 0 /b.so
cgroup 7 /user.slice/one
namespaces 1 1 0 4 0xeffffffb
with addr 0x20040 weight 5 data_src 0x29100142 phys_addr 0x9040 data_page_size 4096 code_page_size 0x200000 cgroup 7
sample 0 1 1 0 1000 1 0x10200
sample 0 1 1 0 150000000 1 0x10200
with addr 0x20048 weight 300 data_src 0x92800884 phys_addr 0x9048 data_page_size 0x200000 code_page_size 4096 transaction 0xc1 cgroup 8
sample 0 1 1 0 250000000 1 0x10210
with
sample 0 1 1 0 250000001 1 0xffffffff80000200
END

prints "shares are of latency" report -i "$tmp/memory" --mem-mode <<END
All rows: dso a.so, dso_daddr b.so, blocked N/A, local_ins_lat 0, local_p_stage_cyc 0
  self   low-high  local_weight  mem      symbol     symbol_daddr  snoop  tlb          locked
96.46%  20.3- 100           300  L3 miss  [.] 0x210  [.] 0x48      HitM   Walker miss  Yes
 3.22%   0.0-79.5             5  L1 hit   [.] 0x200  [.] 0x40      None   L1 hit       N/A
... 1 more row, 0.3% in all; --percent-limit 0 shows them
END

# Samples of events that are no memory accesses: without the fields, or with empty ones.
recording "$tmp/cpu" <<END
event cpu-clock
event cpu-clock addr weight data_src
comm 1 1 one
mmap 1 0x10000 0x1000 0 /a.so
sample 0 1 1 0 1000 1 0x10200
with addr 0 weight 0 data_src 0x5080021
sample 1 1 1 0 1001 1 0x10200
END
fails "memory keys without memory data" 1 "$SPROF" report --mem-mode -i "$tmp/cpu" <<END
sprof: $tmp/cpu has no memory data, which --mem-mode needs; 'sprof record -d -W -e EVENT' records it for events of memory accesses
END

prints "each key of memory" report -i "$tmp/memory" \
	-s mem,snoop,tlb,locked,blocked,daddr,phys_daddr,dcacheline,weight <<END
  self   low-high  mem      snoop  tlb          locked  blocked  daddr    phys_daddr  dcacheline  weight
50.00%  15.0-85.0  L1 hit   None   L1 hit       N/A     N/A      0x20040  0x9040      0x20040         10
25.00%   4.6-69.9  N/A      N/A    N/A          No      N/A      0x0      0x0         0x0              0
25.00%   4.6-69.9  L3 miss  HitM   Walker miss  Yes     N/A      0x20048  0x9048      0x20040        300
END

prints "pages, cgroups, transactions, times" report -i "$tmp/memory" \
	-s data_page_size,code_page_size,transaction,cgroup,cgroup_id,time,socket <<END
  self   low-high  data_page_size  code_page_size  transaction                    cgroup           cgroup_id     time      socket
25.00%   4.6-69.9  2M              4K              EL CAP-WRITE CAP-READ NEITHER  cgroup 8         4/0xeffffffb  +0.200 s       ?
25.00%   4.6-69.9  4K              2M                                             /user.slice/one  4/0xeffffffb  +0.000 s       ?
25.00%   4.6-69.9  4K              2M                                             /user.slice/one  4/0xeffffffb  +0.100 s       ?
25.00%   4.6-69.9  N/A             N/A                                            ?                4/0xeffffffb  +0.200 s       ?
END

prints "times in other steps" report -i "$tmp/memory" -s time --time-quantum 200ms <<END
  self   low-high  time
50.00%  15.0-85.0  +0.000 s
50.00%  15.0-85.0  +0.200 s
END

prints "memory in csv" report -i "$tmp/memory" -s mem,local_weight,cgroup,time --format csv <<END
self,self_low,self_high,self_samples,self_weight,total,total_low,total_high,total_samples,total_weight,mem,local_weight,cgroup,time
0.25,0.04558726081,0.6993581574,1,1,0.25,0.04558726081,0.6993581574,1,1,L1 hit,5,/user.slice/one,0.000000
0.25,0.04558726081,0.6993581574,1,1,0.25,0.04558726081,0.6993581574,1,1,L1 hit,5,/user.slice/one,0.100000
0.25,0.04558726081,0.6993581574,1,1,0.25,0.04558726081,0.6993581574,1,1,L3 miss,300,cgroup 8,0.200000
0.25,0.04558726081,0.6993581574,1,1,0.25,0.04558726081,0.6993581574,1,1,N/A,0,,0.200000
END

# The weights of a struct: 40 cycles of latency, 3 of the instruction, 2 until retired.
recording "$tmp/weights" <<END
event cycles weights
with weights 0x0002000300000028
sample 0 1 1 0 1000 1 0x10200
sample 0 1 1 0 1000 1 0x10200
END

prints "parts of weights" report -i "$tmp/weights" \
	-s local_weight,weight,local_ins_lat,ins_lat,local_p_stage_cyc,retire_lat <<END
   self   low-high  local_weight  weight  local_ins_lat  ins_lat  local_p_stage_cyc  p_stage_cyc
100.00%  34.2- 100            40      80              3        6                  2            4
END

fails "times need a unit that is one" 129 "$SPROF" report --time-quantum 3h <<END
sprof: --time-quantum: '3h' is not a time such as 100ms (ns, us, ms or s)
       'sprof report --help' lists the options.
END

# Leader sampling: 1,000 cycles per sample; about 2,000 instructions in one function, 500 in the
# other, and one sample of it has none. The counters ran for half of the time, and had large
# values at the start.
{
	echo "event cycles counters"
	echo "event instructions counters"
	echo "mmap 1 0x10000 0x1000 0 /a.so"
	awk 'BEGIN {
		cycles = 5000000000
		instructions = 7000000000
		for (i = 0; i < 40; i++) {
			cycles += 1000
			if (i % 2)
				instructions += 1800 + i * 10
			else if (i != 20)
				instructions += 500
			printf "with count %.0f count %.0f times %d %d\n", cycles, instructions,
				i * 2000, i * 1000
			print "sample 0 1 1 0", 1000 + i, 1000, i % 2 ? "0x10100" : "0x10200"
		}
	}'
} | "$top_builddir/tests/cli/recording" "$tmp/group"

prints "events side by side" report --group -s symbol -i "$tmp/group" <<END
cycles   low-high  instructions   low-high   IPC   low-high  symbol
51.28%  36.2-66.1        81.63%  64.0-91.8  2.00  1.92-2.08  [.] 0x100
48.72%  33.9-63.8        18.37%   8.2-36.0  0.47  0.42-0.53  [.] 0x200
END

check "hidden rows of a group have their share" sh -c '
	"$SPROF" report --group -s symbol --percent-limit 50 -i "$1" |
		grep -q "1 row below 50.00%, 48.7% in all"' sh "$tmp/group"

"$SPROF" info --findings -i "$tmp/group" | grep -A 1 'counted\|of the time' >"$tmp/found"
prints "what counters did not see" cat "$tmp/found" <<END
  ! cycles was counted for 50% of the time (multiplexed): shares are of that part
    -> record fewer events at once: -e
  ! instructions was counted for 50% of the time (multiplexed): shares are of that part
    -> record fewer events at once: -e
END

prints "one by one" report --no-group -s symbol -i "$tmp/group" <<END

cycles
  self   low-high  symbol
51.28%  36.2-66.1  [.] 0x100
48.72%  33.9-63.8  [.] 0x200

instructions
  self   low-high  symbol
81.63%  64.0-91.8  [.] 0x100
18.37%   8.2-36.0  [.] 0x200
END

prints "a group in csv" report --group -s symbol --format csv -i "$tmp/group" <<END
cycles.self,cycles.self_low,cycles.self_high,cycles.self_samples,cycles.self_weight,cycles.total,cycles.total_low,cycles.total_high,cycles.total_samples,cycles.total_weight,instructions.self,instructions.self_low,instructions.self_high,instructions.self_samples,instructions.self_weight,instructions.total,instructions.total_low,instructions.total_high,instructions.total_samples,instructions.total_weight,IPC,IPC_low,IPC_high,total_IPC,total_IPC_low,total_IPC_high,symbol
0.5128205128,0.3619936288,0.6613482467,20,20000,0.5128205128,0.3619936288,0.6613482467,20,20000,0.8163265306,0.6395053168,0.9175936408,20,40000,0.8163265306,0.6395053168,0.9175936408,20,40000,2,1.923531896,2.079508017,2,1.923531896,2.079508017,0x100
0.4871794872,0.3386517533,0.6380063712,19,19000,0.4871794872,0.3386517533,0.6380063712,19,19000,0.1836734694,0.08240635919,0.3604946832,18,9000,0.1836734694,0.08240635919,0.3604946832,18,9000,0.4736842105,0.4195114117,0.5348525094,0.4736842105,0.4195114117,0.5348525094,0x200
END

check "--limit is for groups in csv, too" sh -c '
	[ $("$SPROF" report --group -s symbol --format csv --limit 1 -i "$1" | wc -l) = 2 ]
	' sh "$tmp/group"

"$SPROF" report --group -s symbol --format json -i "$tmp/group" | sed -n '/"groups"/,/]$/p' >"$tmp/json"
prints "a group in json" cat "$tmp/json" <<END
 "groups": [
  {
   "name": "",
   "events": ["cycles", "instructions"],
   "rows": [
    {"events": [{"self": 0.5128205128, "self_low": 0.3619936288, "self_high": 0.6613482467, "self_samples": 20, "self_weight": 20000, "total": 0.5128205128, "total_low": 0.3619936288, "total_high": 0.6613482467, "total_samples": 20, "total_weight": 20000}, {"self": 0.8163265306, "self_low": 0.6395053168, "self_high": 0.9175936408, "self_samples": 20, "self_weight": 40000, "total": 0.8163265306, "total_low": 0.6395053168, "total_high": 0.9175936408, "total_samples": 20, "total_weight": 40000}], "ratios": [{"name": "IPC", "value": 2, "low": 1.923531896, "high": 2.079508017}], "total_ratios": [{"name": "IPC", "value": 2, "low": 1.923531896, "high": 2.079508017}], "symbol": "0x100"},
    {"events": [{"self": 0.4871794872, "self_low": 0.3386517533, "self_high": 0.6380063712, "self_samples": 19, "self_weight": 19000, "total": 0.4871794872, "total_low": 0.3386517533, "total_high": 0.6380063712, "total_samples": 19, "total_weight": 19000}, {"self": 0.1836734694, "self_low": 0.08240635919, "self_high": 0.3604946832, "self_samples": 18, "self_weight": 9000, "total": 0.1836734694, "total_low": 0.08240635919, "total_high": 0.3604946832, "total_samples": 18, "total_weight": 9000}], "ratios": [{"name": "IPC", "value": 0.4736842105, "low": 0.4195114117, "high": 0.5348525094}], "total_ratios": [{"name": "IPC", "value": 0.4736842105, "low": 0.4195114117, "high": 0.5348525094}], "symbol": "0x200"}
   ]
END

# Events that were sampled each by itself.
recording "$tmp/apart" <<END
event cache-references
event cache-misses
mmap 1 0x10000 0x1000 0 /a.so
sample 0 1 1 0 1000 1000 0x10100
sample 0 1 1 0 1001 1000 0x10100
sample 0 1 1 0 1002 1000 0x10100
sample 1 1 1 0 1003 100 0x10100
sample 1 1 1 0 1004 100 0x10100
sample 0 1 1 0 1005 1000 0x10200
sample 1 1 1 0 1006 100 0x10300
END

prints "a rate of misses" report --group -s symbol -i "$tmp/apart" <<END
cache-references   low-high  cache-misses   low-high  cache-miss-rate  low-high  symbol
          75.00%  30.1-95.4        66.67%  20.8-93.9            6.67%     0-100  [.] 0x100
          25.00%   4.6-69.9         0.00%   0.0-56.1            0.00%         ?  [.] 0x200
           0.00%   0.0-49.0        33.33%   6.1-79.2                ?         ?  [.] 0x300
END

# Rows with more misses than references: 0x100 by chance, 0x200 by far.
recording "$tmp/above" <<END
event cache-references
event cache-misses
mmap 1 0x10000 0x1000 0 /a.so
sample 0 1 1 0 1000 1000 0x10100
sample 0 1 1 0 1001 1000 0x10100
sample 1 1 1 0 1003 1200 0x10100
sample 1 1 1 0 1004 1200 0x10100
sample 0 1 1 0 1005 100 0x10200
sample 1 1 1 0 1006 901 0x10200
END

prints "rates end at 100 %" report --group -s symbol -i "$tmp/above" <<END
cache-references   low-high  cache-misses   low-high  cache-miss-rate  low-high  symbol
          95.24%  33.0-99.9        72.71%  24.0-95.7          100.00%     3-100  [.] 0x100
           4.76%   0.1-67.0        27.29%   4.3-76.0                ?         ?  [.] 0x200
END

prints "of some events only" report --group -e cache-misses -s symbol -i "$tmp/apart" <<END
  self   low-high  symbol
66.67%  20.8-93.9  [.] 0x100
33.33%   6.1-79.2  [.] 0x300
END

perf=$(command -v perf)
case $([ -z "$perf" ] || "$perf" --version) in
*" 6.1."*)
	compares_keys "branches are perf's" "$perf" "$tmp/branches" \
		dso_from,symbol_from,dso_to,symbol_to,cycles,mispredict,in_tx,abort -b --symfs "$empty"
	compares_keys "memory is perf's" "$perf" "$tmp/memory" \
		dso_daddr,mem,snoop,tlb,locked,blocked,local_weight,phys_daddr,data_page_size \
		--mem-mode --symfs "$empty"
	# perf does not show the number of a cgroup without a name.
	normalise='s/cgroup 8/unknown/'
	compares_keys "pages, cgroups and transactions are perf's" "$perf" "$tmp/memory" \
		dso,code_page_size,transaction,cgroup,cgroup_id,weight --symfs "$empty"
	normalise=
	compares_keys "weights are perf's" "$perf" "$tmp/weights" \
		dso,local_weight,weight,local_ins_lat,ins_lat
	;;
*) skip "keys are perf's" "needs perf 6.1" ;;
esac

finish

# SPDX-License-Identifier: GPL-2.0-or-later
# A recording with waits, for scripts that sourced tests/cli/lib.sh. It lasts 1 s, from 5 s on:
#
#	main    (tid 7) 0.1 s on the CPU, waits 0.5 s for a futex, 0.4 s on the CPU
#	worker  (tid 8) 0.3 s on the CPU, preempted for 0.05 s, 0.25 s on the CPU, sleeps 0.4 s to the end
#	(tid 9) begins at 0.6 s; 0.02 s on the CPU, blocked for 0.38 s to the end; it has no samples

waits_recording() {
	recording waits <<'END'
event cpu-clock chain
event offcpu-time chain addr
arch x86_64
comm 7 7 main
comm 7 8 worker
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
switch 7 7 0 5000000000 in
switch 7 8 1 5000000000 in
sample 0 7 7 0 5050000000 1000000 0x401010 0x401010 0x401020
sample 0 7 8 1 5060000000 1000000 0x401030 0x401030 0x401040
with addr 203
sample 1 7 7 0 5100000000 500000000 0x401050 0x401050 0x401020
with
switch 7 7 0 5100000000 out
sample 0 7 8 1 5200000000 1000000 0x401030 0x401030 0x401040
switch 7 8 1 5300000000 preempt
switch 7 8 1 5350000000 in
sample 0 7 8 1 5400000000 1000000 0x401060 0x401060 0x401040
switch 7 7 0 5600000000 in
fork 7 7 9 5600000000
switch 7 9 1 5600000000 in
with addr 36
sample 1 7 8 1 5600000000 400000000 0x401070 0x401070 0x401040
with
switch 7 8 1 5600000000 out
switch 7 9 1 5620000000 out
sample 0 7 7 0 5700000000 1000000 0x401010 0x401010 0x401020
sample 0 7 7 0 5800000000 1000000 0x401080 0x401080 0x401020
switch 7 7 0 6000000000 out
END
}

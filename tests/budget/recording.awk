# SPDX-License-Identifier: GPL-2.0-or-later
# recording.awk -v kind=chain|copies|wall -v count=N -v id=HEX: input of tests/cli/recording.
#
# Reads a program's functions (nm -nSt d). The recording has N samples of two processes with two threads
# each, on four CPUs. Each maps program0 to program3 of the current folder, with that digit
# and HEX as build-ids. The samples have 500 call chains of up to 28 frames, which share their callers, and four leaf
# addresses for each. In wall mode each fourth sample is a wait.
function random(bound) {
	seed = seed * 16807 % 2147483647
	return seed % bound
}
# An address after the prologue of a function, in one of the programs.
function address(level, node,  i) {
	i = (level * 7919 + node * 104729) % functions
	return at[i] + 8 + (level * 31 + node * 17) % (size[i] - 24) + node % 4 * 16777216
}
function print_sample(event, tid, cpu, time, period,  chain, depth, level, text) {
	chain = random(500)
	depth = 4 + chain % 25
	for (level = depth - 1; level > 0; level--)
		text = text " " address(level, chain % 2 ^ (level < 11 ? level : 11))
	level = address(depth, chain) + random(4)
	printf "sample %d %d %d %d %.0f %d %d %d%s\n", event, tid - tid % 2, tid, cpu, time, period, level, level, text
}
BEGIN {
	seed = 1
	functions = 0
}
/ [Tt] f/ {
	at[functions] = $1 + 0
	size[functions++] = $2 + 0
}
END {
	print "arch x86_64"
	printf "span 1000000000 %.0f\n", 1000000000 + (count - 1) * 250000
	print "event cpu-clock user " (kind == "copies" ? kind : "chain")
	if (kind == "wall")
		print "event offcpu-time user chain addr"
	for (tid = 10; tid < 14; tid++)
		print "comm", tid - tid % 2, tid, "worker" tid
	for (i = 0; i < 8; i++)
		print "mmap", 10 + i % 2 * 2, at[0] + int(i / 2) * 16777216, 65536, 4096,
			"/proc/self/cwd/program" int(i / 2), int(i / 2) id
	for (tid = 10; kind == "wall" && tid < 14; tid++)
		print "switch", tid - tid % 2, tid, tid - 10, 999999999, "in"
	for (i = 0; i < count; i++) {
		tid = 10 + i % 4
		time = 1000000000 + i * 250000
		if (kind == "wall" && int(i / 4) % 4 == 3) {
			print "with addr 202"
			print_sample(1, tid, i % 4, time, 200000)
			print "with"
			printf "switch %d %d %d %.0f out\n", tid - tid % 2, tid, i % 4, time
			printf "switch %d %d %d %.0f in\n", tid - tid % 2, tid, i % 4, time + 200000
		} else {
			print_sample(0, tid, i % 4, time, 1000000)
		}
	}
}

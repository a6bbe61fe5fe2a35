# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings for tests of comparisons, for scripts that sourced tests/cli/lib.sh:
#
#	call_recordings       call-old.1 to .3 and call-new.1 to .3: parse is slower, and hash_find has another
#	                      name; `--symfs root` has the names
#	random_recordings     random-old.1 to .3 and random-new.1 to .3: more call paths than a page has room for; with the same option

# calls NAME PID PARSE HASH: samples of 1 ms in two functions below main > run.
calls() {
	{
		echo "event cpu-clock chain"
		echo "event page-faults chain"
		echo "cmdline sprof record -- ./app"
		echo "comm $2 $2 app"
		echo "mmap $2 0x10000 0x10000 0 //anon"
		echo "stacks complete"
		awk -v pid="$2" -v a="$3" -v b="$4" 'BEGIN {
			for (i = 0; i < a + b; i++)
				printf "sample 0 %d %d 0 %.0f 1000000 %s %s 0x10110 0x10010\n", pid, pid, 1000000000 + i * 1000000, \
					i < a ? "0x10210" : "0x10310", i < a ? "0x10210" : "0x10310"
			printf "sample 1 %d %d 0 1000000000 1 0x10210 0x10210 0x10110 0x10010\n", pid, pid
		}'
	} | recording "$1"
}

call_recordings() {
	mkdir -p root/tmp
	printf '%s\n' "10000 100 main" "10100 100 run" "10200 100 parse" "10300 100 hash_find" >root/tmp/perf-7.map
	printf '%s\n' "10000 100 main" "10100 100 run" "10200 100 parse" "10300 100 hash_lookup" >root/tmp/perf-8.map
	for i in 1 2 3; do
		calls "call-old.$i" 7 $((400 + i)) $((100 + i))
		calls "call-new.$i" 8 $((600 + i)) $((100 + i))
	done
}

random_recordings() {
	mkdir -p root/tmp
	awk 'BEGIN {
		for (i = 0; i < 4000; i++)
			printf "%x 10 f%d\n", 4198400 + i * 16, i
	}' >root/tmp/perf-9.map
	for i in 1 2 3; do
		for side in old new; do
			awk -v seed="$i$side" -v first="$(test $side = old; echo $?)" 'BEGIN {
				print "event cpu-clock chain\nmmap 9 0x401000 0x10000 0 //anon\ncomm 9 9 t"
				srand(first + 2 * seed)
				for (i = 0; i < 40000; i++) {
					at = 4198400 + int(rand() * 4000) * 16
					printf "sample 0 9 9 0 %d 1000000 %#x", 1000000 + i * 31250, at
					for (j = 0; j < 12; j++) {
						printf " %#x", at
						at = 4198400 + int(rand() * (j < 9 ? 4000 : 30)) * 16
					}
					print ""
				}
			}' | recording "random-$side.$i"
		done
	done
}

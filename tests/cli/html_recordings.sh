# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of the tests of HTML pages, for scripts that sourced tests/cli/lib.sh:
#
#	hostile_recording     names are markup, script, and marks that reorder text
#	small_recordings      uneven, one, none, timeless, damaged
#	deep_recording        stacks of 8,000 frames
#	threads_recording     10,000 threads
#	million_recording     1,000,000 random stacks of 32 threads
#	program_recording     data: a program with two threads and inlined functions, in samples of one
#	                      weight; prints why it cannot be recorded

# Writes a library with hostile function names, and prints the address of the first.
hostile_library() {
	{
		echo .text
		for symbol in '</script><script>window.pwned=4</script>' '<img src=x onerror=window.pwned=5>' \
			"$(printf 'r\342\200\256evil\342\200\250line')"; do
			printf '.globl "%s"\n.type "%s", @function\n"%s":\n.zero 16\n.size "%s", 16\n' \
				"$symbol" "$symbol" "$symbol" "$symbol"
		done
	} >library.s
	$CC -shared -nostdlib -o "$1" library.s 2>err && nm "$1" | sed -n 's/ T <\/script>.*//p'
}

hostile_recording() {
	library=$tmp/library.so
	address=$(hostile_library "$library")
	cat >hostile.txt <<'END'
event cpu-clock chain
event page-faults chain
hostname <b>host</b>
cmdline prog </script><script>window.pwned=1</script> --key=secret
comm 7 7 <img\x20src=x\x20onerror=pwned=1>
comm 7 8 worker\x22<\xff\x0a>
comm 9 9 other
mmap 7 0x401000 0x1000 0x1000 /nowhere/</script><script>window.pwned=2</script>
mmap 9 0x401000 0x1000 0x1000 /nowhere/<img\x20src=x\x20onerror=pwned=3>\xe2\x80\xae\xe2\x80\xa8-->
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020 0x401030
sample 0 7 8 0 2000000 1000000 0x401010 0x401010 0x401020 0x401020 0x401030
sample 0 7 7 0 3000000 1000000 0x401040 0x401040 0x401020
sample 0 9 9 1 3000000 1000000 0xffffffff81000010 0xffffffff81000010 0x401020
sample 1 9 9 1 3500000 1 0x401010 0x401010 0x401020
lost 0 5
full 0 3 2500000
full 0 4 2500100
END
	if [ -n "$address" ]; then
		echo "mmap 7 0x500000 0x4000 0 $library"
		for i in 0 16 32; do
			printf 'sample 0 7 7 0 %d 1000000 %#x %#x 0x401020\n' $((3100000 + i)) \
				$((0x500000 + 0x$address + i)) $((0x500000 + 0x$address + i))
		done
	fi >>hostile.txt
	recording hostile <hostile.txt
}

small_recordings() {
	cat >uneven.txt <<'END'
event cycles chain
comm 7 7 main
mmap 7 0x401000 0x1000 0x1000 /nowhere/a
sample 0 7 7 0 1000000 1000000 0x401010 0x401010 0x401020
sample 0 7 7 0 3000000 7000000 0x401040 0x401040 0x401020
END
	recording uneven <uneven.txt
	head -n 4 uneven.txt | recording one
	head -n 3 uneven.txt | recording none
	{
		head -n 3 uneven.txt
		echo 'sample 0 7 7 0 0 1000000 0x401010 0x401010 0x401020'
		echo 'sample 0 7 7 0 0 1000000 0x401010 0x401010 0x401020'
	} | recording timeless
	{
		cat uneven.txt
		echo bytes 0000000000000000
	} | recording damaged
}

deep_recording() {
	{
		cat uneven.txt
		for i in 1 2; do
			echo "sample 0 7 7 0 ${i}4000000 1000000 0x401010" \
				"$(awk -v begin=$i 'BEGIN {
					for (i = begin; i < 8000; i++)
						printf " %#x", 4198400 + i % 60 * 16
				}')"
		done
	} | recording deep
}

threads_recording() {
	awk 'BEGIN {
		print "event cpu-clock chain\nmmap 7 0x401000 0x1000 0x1000 /nowhere/a"
		for (i = 0; i < 10000; i++)
			printf "comm 7 %d t%d\nsample 0 7 %d 0 %d 1000000 0x401010 0x401010 0x401020\n", 100 + i, i,
				100 + i, 1000000 + i * 50000
	}' | recording threads
}

million_recording() {
	awk 'BEGIN {
		print "event cpu-clock chain\nmmap 7 0x401000 0x10000 0x1000 /nowhere/a"
		srand(1)
		for (i = 0; i < 32; i++)
			printf "comm 7 %d t%d\n", 7 + i, i
		for (i = 0; i < 1000000; i++) {
			printf "sample 0 7 %d 0 %d 1000000 %#x", 7 + i % 32, 1000000 + i * 31250,
				4198400 + int(rand() * 4000) * 16
			for (j = 0; j < 6; j++)
				printf " %#x", 4198400 + int(rand() * (j < 3 ? 4000 : 30)) * 16
			print ""
		}
	}' | recording million
}

program_recording() {
	cat >prog.c <<'END'
#include <pthread.h>
#define LOOP(n) for (unsigned int i = 0; i < (n); i++) __asm__ volatile("" ::: "memory")
static inline __attribute__((always_inline)) void inner(void)
{
	LOOP(3000000); // </script><script>window.pwned=6</script><img src=x onerror=window.pwned=7>
}
static __attribute__((noinline)) void *outer(void *rounds)
{
	for (int i = *(int *)rounds; i > 0; i--) {
		inner();
		LOOP(1000000);
	}
	return rounds;
}
int main(void)
{
	int rounds[] = {80, 40};
	pthread_t thread;
	pthread_create(&thread, NULL, outer, &rounds[1]);
	outer(&rounds[0]);
	pthread_join(thread, NULL);
	return 0;
}
END
	if ! $CC -g -O2 -fno-omit-frame-pointer -pthread -o prog prog.c 2>err; then
		echo "the compiler makes no such program"
	elif ! "$SPROF" record -q --no-dither --call-graph fp -F 1999 -o data -- ./prog >err 2>&1; then
		echo "sampling is refused: $(tail -n 1 err)"
	fi
}

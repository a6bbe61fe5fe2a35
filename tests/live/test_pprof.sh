#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Go's tools read the pprof file: samples by instruction, and a profile for the Go compiler.
#
# Noisy: a run under load may have too few samples.
. "$top_srcdir/tests/tap.sh"
need_sampling
for tool in gcc go nm objdump python3; do
	command -v $tool >"$tmp/.which" || skip_all "needs $tool"
done
export XDG_CACHE_HOME="$tmp/cache" GOCACHE="$tmp/go" GOPATH="$tmp/gopath" GO111MODULE=off GOFLAGS= \
	GOTOOLCHAIN=local
cd "$tmp" || exit 99

cat >spin.c <<'EOF'
static inline __attribute__((always_inline)) unsigned int mix(unsigned int x)
{
	x ^= x >> 15;
	x *= 0x2c1b3c6dU;
	return x ^ x >> 12;
}
__attribute__((noinline)) unsigned int work(unsigned int x)
{
	for (int i = 0; i < 100000; i++)
		x += mix(x) / 7;
	return x;
}
int main(void)
{
	volatile unsigned int x = 1;
	for (int i = 0; i < 3000; i++)
		x = work(x);
	return 0;
}
EOF

# Prints "ADDRESS COUNT" of the samples in the program by pprof; inlined functions share an address.
by_pprof() {
	go tool pprof -raw "$1.pb.gz" 2>messages | python3 -c '
import collections, re, sys
place, program, part, counts = {}, "", "", collections.Counter()
text = sys.stdin.read().splitlines()
for line in text:
    part = line if line in ("Samples:", "Locations", "Mappings") else part
    where = re.match(r" *(\d+): 0x([0-9a-f]+) M=1 ", line)
    if part == "Locations" and where:
        place[where[1]] = int(where[2], 16)
part = ""
for line in text:
    part = line if line in ("Samples:", "Locations", "Mappings") else part
    sample = re.match(r" *(\d+) +\d+: (\d+)", line)
    if part == "Samples:" and sample and sample[2] in place:
        counts[place[sample[2]]] += int(sample[1])
for address in sorted(counts):
    print("%x" % address, counts[address])'
}

# Prints the same by the recorded addresses. Symbols of `script` are NAME+OFFSET, by the file. The loader
# has functions of the program's names, such as _start.
by_script() {
	nm "$1" | sed -n 's/^\([0-9a-f]*\) [tT] /\1 /p' >symbols
	"$SPROF" script --no-inline -F ip,sym,symoff,dso -G -i "$1.data" 2>messages | python3 -c '
import collections, re, sys
starts = dict(reversed(line.split()) for line in open("symbols"))
counts = collections.Counter()
for line in sys.stdin:
    found = re.search(r" ([\w.]+)\+0x([0-9a-f]+) \(.*/(.*)\)$", line.rstrip())
    if found and found[3] == sys.argv[1] and found[1] in starts:
        counts[int(starts[found[1]], 16) + int(found[2], 16)] += 1
for address in sorted(counts):
    print("%x" % address, counts[address])' "$1"
}

# Positions of a program change its addresses: by their place in the file, or as linked.
disassembles() {
	for option in -pie -no-pie; do
		gcc -g -O2 $option -o spin$option spin.c || return
		"$SPROF" record -q -F 2000 -g -o spin$option.data ./spin$option 2>messages
		"$SPROF" report -q -i spin$option.data -o spin$option.pb.gz
		by_pprof spin$option >got
		by_script spin$option >wanted
		check "$option: samples are at several addresses" sh -c '[ $(wc -l <wanted) -gt 2 ]'
		same "$option: addresses are those of the symbol table" wanted got
		go tool pprof -disasm=work spin$option spin$option.pb.gz >disassembly 2>messages
		check "$option: several instructions of work() have samples" sh -c \
			'[ $(grep -cE "^ +[1-9][0-9.]*[mu]?s .* [0-9a-f]+: " disassembly) -gt 2 ]'
	done
}
noisy disassembles

mkdir -p gopath/src/hot
cat >gopath/src/hot/main.go <<'EOF'
package main

import "os"

func step(x uint64) uint64 {
	return x*6364136223846793005 + x>>7
}

//go:noinline
func spin(x uint64) uint64 {
	for i := 0; i < 300000000; i++ {
		x = step(x)
	}
	return x
}

func main() {
	if spin(uint64(len(os.Args))) == 0 {
		os.Exit(1)
	}
}
EOF
lines() {
	for flags in '' '-s -w'; do
		go build -ldflags="$flags" -o hot gopath/src/hot/main.go 2>messages || return
		"$SPROF" record -q -F 2000 -g -o hot.data ./hot 2>messages
		"$SPROF" report -q -i hot.data -o hot.pb.gz
		go tool pprof -raw hot.pb.gz >raw 2>messages
		case $(go version) in
		*go1.1[0-9]*) skip "Go, ${flags:-as built}: functions have the lines of their declarations" "Go before 1.20" ;;
		*)
			check "Go, ${flags:-as built}: functions have the lines of their declarations" \
				grep -qE ' main\.spin .*main.go:1[0-4] s=10\b' raw
			;;
		esac
		if go tool -n preprofile >.which 2>messages; then
			go tool preprofile -i hot.pb.gz >profile 2>messages
			check "Go, ${flags:-as built}: the compiler's profile has the hot call" \
				grep -q '^main.spin$' profile
		else
			skip "Go, ${flags:-as built}: the compiler's profile has the hot call" "needs Go 1.23"
		fi
	done
}
noisy lines
finish

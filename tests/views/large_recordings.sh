# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/views/test_agreement.sh: recordings of real programs, which take minutes. Those that
# cannot be made here are skipped with a reason.

# large NAME RECORDING [OPTION]...: agree, if there is the recording; else $why is the reason.
large() {
	if [ -f "$2" ]; then
		agree "$@"
	else
		skip "$1" "$why"
	fi
}

# record FILE TOOL [OPTION]... -- COMMAND...: makes FILE, or sets $why. Its names are stored: in a part of
# the time, functions have the names that they have in the whole.
record() {
	record_file=$1 why="needs $2"
	shift
	command -v "$1" >.which 2>&1 || return 0
	shift
	"$SPROF" record -q -o "$record_file" "$@" >err 2>&1 || true
	[ -s "$record_file" ] || why="not recorded: $(tail -n 1 err)"
	"$SPROF" archive -q -i "$record_file" >err 2>&1 || true
}

# Compiling the same file twice at a time gives more than 300,000 distinct stacks.
cat >build.cc <<'END'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <unordered_map>
int main(int argc, char **argv)
{
	std::regex expression(argv[0]);
	std::map<std::string, std::vector<std::function<int(int)>>> functions;
	std::unordered_map<std::string, std::set<int>> sets;
	sets[argv[0]].insert(argc);
	functions[argv[0]].push_back([](int x) { return x; });
	auto &list = functions[argv[0]];
	std::sort(list.begin(), list.end(), [](auto &a, auto &b) { return a(1) < b(1); });
	return std::regex_match(argv[0], expression) + (std::cout << argc).bad();
}
END
record build g++ -F 20000 -- sh -c 'for options in -O0 -O1 -O2 -O3; do
	for i in 1 2; do
		g++ $options -g -c -o build$i.o build.cc &
	done
	wait
done'
large "a build" build
[ ! -f build ] || comment "distinct stacks of the build: $("$SPROF" report -q -i build --format folded | wc -l)"
rm -f build

record all sh -a --wakers --off-cpu -- "$workload/ping_pong" 20000
large "all CPUs" all --mode cpu
large "all CPUs: wall time" all --mode wall --all-threads
large "all CPUs: wake-ups" all --wakers

record threads python3 --off-cpu -- python3 -c '
import threading, time
def work():
    for i in range(40):
        sum(range(200000))
        time.sleep(0.01)
threads = [threading.Thread(target=work) for i in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
'
for mode in wall latency off-cpu cpu; do
	large "Python: $mode" threads --mode $mode
	large "Python: $mode, without the interpreter's frames" threads --mode $mode --no-interpreter-frames
done

cat >Main.java <<'END'
import java.util.*;
public class Main {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] a) {
		TreeMap<String, Integer> map = new TreeMap<>();
		for (int i = 0; i < 300000; i++)
			map.put("k" + i % 5000, fib(i % 18));
		System.out.println(map.size());
	}
}
END
record java java -F 2000 -- java -XX:+PreserveFramePointer Main.java
large "Java" java

mkdir -p go
cat >go/main.go <<'END'
package main

import ("fmt"; "sort"; "sync")

func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }

func main() {
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			list := []int{}
			for j := 0; j < 2000000; j++ { list = append(list, j*7919%10007) }
			sort.Ints(list)
			fmt.Println(fib(32), len(list))
		}()
	}
	group.Wait()
}
END
(cd go && HOME=$tmp GOFLAGS=-mod=mod go build -o prog main.go >err 2>&1)
record goroutines go -F 2000 -- ./go/prog
large "Go" goroutines

record events sh -e cpu-clock,page-faults,context-switches -- "$workload/forks" 300 2 exec
large "several events of many short processes" events

# Recordings of other machines.
why="no recordings at $SPROF_CORPUS (SPROF_CORPUS)"
others=$SPROF_CORPUS/../recordings
large "events of two kinds of CPUs" "$others/hybrid-cpus.data"
large "branches" "$others/branch-3.4.data" -b
large "samples with branches" "$others/branch-3.4.data" --no-branch-stack
large "stacks of branches" "$others/lbr.data" --no-branch-stack

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined functions, files and lines are what other readers of DWARF say, for programs of
# each kind; and the same program says the same whichever way its debug information is
# stored.
#
# Oracles: llvm-symbolizer, where it is there, must agree on every address. binutils' addr2line
# (places only: its names of inlined functions are often those of the symbol table) and
# elfutils' eu-addr2line err now and then, and must agree on most.
. "$top_srcdir/tests/cli/lib.sh"

sources=$top_builddir/tests/cli/sources
data=$(cd "$top_srcdir/tests/data/lines" && pwd)
normal=$top_srcdir/tests/cli/sources.awk
: "${CXX:=g++}"

command -v "$CXX" >/dev/null || skip_all "no C++ compiler"
command -v addr2line >/dev/null || skip_all "no addr2line"

# Functions that are not compared with an oracle, with reasons. VARIANT ORACLE REASON
exceptions() {
	cat <<'END'
split? llvm-symbolizer 14 does not read all ranges in .dwo files of g++
*split? addr2line 2.40 does not read .dwo files
*split? eu-addr2line 0.188 finds no inlined functions in .dwo files
clang-* eu-addr2line 0.188 finds units by .debug_aranges alone
go eu-addr2line 0.188 finds units by .debug_aranges alone
rust eu-addr2line 0.188 finds units by .debug_aranges alone
gcc-fdebug-types-section addr2line 2.40 finds no inlined functions there
gcc-gdwarf64 addr2line 2.40 does not read offsets of 8 bytes
clang-* addr2line 2.40 does not read ranges by index
gcc-flto eu-addr2line 0.188 does not look for abstract functions in other units
END
}

# Every address of the code, or each STEP-th.
addresses() {
	readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v step="${2:-1}" '
		function hex(text,    i, n) {
			n = 0
			for (i = 1; i <= length(text); i++)
				n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return n
		}
		$1 == ".text" {
			start = hex($3)
			end = start + hex($5)
			for (at = start; at < end; at += step)
				printf "0x%x\n", at
		}'
}

ours() {
	"$sources" "$1" <"$tmp/addresses" 2>"$tmp/ours.err" >"$tmp/said"
	awk -v mode=lines -f "$normal" "$tmp/said"
}

# Prints the oracle's reason not to be asked.
excepted() {
	exceptions | while read -r pattern oracle reason; do
		case $1 in
		$pattern) [ "$2" != "$oracle" ] || echo "$reason" ;;
		esac
	done
}

# $tmp/differs.ORACLE: where it differs.
ask_oracle() {
	case $1 in
	addr2line) addr2line -a -f -i -e "$2" <"$3" | awk -v mode=lines -v short=1 -f "$normal" ;;
	eu-addr2line)
		eu-addr2line -a -f -i -e "$2" <"$3" 2>/dev/null |
			awk -v mode=lines -v column=1 -v short=1 -f "$normal"
		;;
	llvm-symbolizer)
		llvm-symbolizer --obj="$2" --inlines --no-demangle --functions=linkage -a <"$3" |
			awk -v mode=lines -v column=1 -f "$normal"
		;;
	esac >"$tmp/oracle.$1"
	names=1 short=1
	[ "$1" != addr2line ] || names=0
	[ "$1" != llvm-symbolizer ] || short=0
	awk -v mode=lines -v short=$short -f "$normal" "$tmp/said" >"$tmp/ours"
	awk -v mode=compare -v names=$names -f "$normal" "$tmp/ours" "$tmp/oracle.$1" \
		>"$tmp/differs.$1"
}

# agrees ORACLE ASKED: the known errors of eu-addr2line (another chain where inlined functions
# overlap) and of addr2line (the file of index 1 in version 5) are a few percent.
agrees() {
	errors=$(($(wc -l <"$2") * 10 / 100))
	[ "$1" != llvm-symbolizer ] || errors=0
	[ "$(wc -l <"$tmp/differs.$1")" -le $errors ]
}

compares_with() {
	variant=$1 program=$2
	for oracle in llvm-symbolizer addr2line eu-addr2line; do
		title="$variant: $oracle"
		if ! command -v $oracle >/dev/null; then
			skip "$title" "not installed"
			continue
		fi
		reason=$(excepted "$variant" $oracle)
		if [ -n "$reason" ]; then
			skip "$title" "$reason"
			continue
		fi
		asked=$tmp/addresses
		if [ $oracle = eu-addr2line ]; then
			asked=$tmp/some
			awk 'NR % 23 == 1' "$tmp/addresses" >"$asked"
		fi
		ask_oracle $oracle "$program" "$asked"
		if agrees $oracle "$asked"; then
			ok "$title"
		else
			not_ok "$title" "$(explain $oracle)"
		fi
	done
}

explain() {
	echo "differs at $(wc -l <"$tmp/differs.$1") addresses:"
	sed -n 1,3p "$tmp/differs.$1" | while read -r address; do
		echo "ours $(grep "^$address	" "$tmp/ours")"
		echo "it   $(grep "^$address	" "$tmp/oracle.$1")"
	done
}

# build VARIANT CC CXX [FLAG]...: $tmp/VARIANT/program.
build() {
	variant=$1 cc=$2 cxx=$3
	shift 3
	mkdir -p "$tmp/$variant"
	cp -r "$data" "$tmp/src" 2>/dev/null || :
	(
		cd "$tmp/$variant" &&
			$cc -O2 -g "$@" -c ../src/part.c -o part.o &&
			$cc -g -c ../src/assembled.S -o assembled.o &&
			$cxx -O2 -g -std=c++17 "$@" -c ../src/main.cc -o main.o &&
			$cxx -O2 -g "$@" -Wl,--gc-sections main.o part.o assembled.o -o program
	) >"$tmp/build.log" 2>&1
}

variant() {
	name=$1
	if ! command -v "$2" >/dev/null; then
		skip "$name" "there is no $2"
		return
	fi
	if ! build "$@"; then
		skip "$name" "cannot be built: $(grep -m1 -i error "$tmp/build.log")"
		return
	fi
	addresses "$tmp/$name/program" >"$tmp/addresses"
	ours "$tmp/$name/program" >"$tmp/ours"
	check "$name: nothing is damaged" test ! -s "$tmp/ours.err"
	compares_with "$name" "$tmp/$name/program"
}

# The same program, stored otherwise: says the same.
stored() {
	ours "$2" >"$tmp/stored"
	check "$1: nothing is damaged" test ! -s "$tmp/ours.err"
	same "$1: the same is said" "$tmp/reference" "$tmp/stored"
}

need() {
	command -v "$1" >/dev/null || {
		skip "$2" "there is no $1"
		return 1
	}
}

for compiler in gcc clang; do
	cxx=g++
	[ $compiler = gcc ] || cxx=clang++
	for flags in -gdwarf-5 -gdwarf-4 -gdwarf-3 -gdwarf-2 -g1 -gz -flto -ffunction-sections \
		-fdebug-types-section -gdwarf64 -O0; do
		case $compiler$flags in
		# clang's are as its others; and each takes seconds.
		clang-gdwarf-[23] | clang-gz | clang-fdebug* | clang-gdwarf64 | clang-O0) continue ;;
		esac
		variant "$compiler$flags" $compiler $cxx $flags
	done
done
variant split5 gcc g++ -gdwarf-5 -gsplit-dwarf
variant split4 gcc g++ -gdwarf-4 -gsplit-dwarf
variant clang-split5 clang clang++ -gdwarf-5 -gsplit-dwarf

if [ -x "$tmp/gcc-gdwarf-4/program" ]; then
	program=$tmp/gcc-gdwarf-4/program
	addresses "$program" >"$tmp/addresses"
	ours "$program" >"$tmp/reference"
	check "functions are found" grep -q "squares@" "$tmp/reference"
	check "lines of assembler are found" grep -q '@.*assembled.S:7$' "$tmp/reference"
	check "nested functions are found" grep -q "nested@" "$tmp/reference"
	check "lambdas are named by their function" \
		grep -q "outer::counted::{lambda}::operator()@" "$tmp/reference"
	for kind in zlib zlib-gnu; do
		if objcopy --compress-debug-sections=$kind "$program" "$tmp/$kind" 2>/dev/null; then
			stored $kind "$tmp/$kind"
		else
			skip $kind "objcopy cannot"
		fi
	done
	objcopy --only-keep-debug "$program" "$tmp/linked.debug"
	objcopy --strip-all --add-gnu-debuglink="$tmp/linked.debug" "$program" "$tmp/linked"
	stored "a debug file" "$tmp/linked"
	if need eu-strip "eu-strip"; then
		eu-strip -f "$tmp/stripped.debug" -o "$tmp/stripped" "$program"
		stored "a debug file of eu-strip" "$tmp/stripped"
	fi
	if need dwz dwz; then
		cp "$program" "$tmp/dwz"
		dwz "$tmp/dwz"
		stored dwz "$tmp/dwz"
		for version in 4 5; do
			cp "$tmp/gcc-gdwarf-$version/program" "$tmp/dwz-common$version"
			cp "$tmp/gcc-O0/program" "$tmp/dwz-third"
			option=
			[ $version = 4 ] || option=--dwarf-5
			(cd "$tmp" && dwz $option -m common$version dwz-common$version dwz-third)
			addresses "$tmp/gcc-gdwarf-$version/program" >"$tmp/addresses"
			ours "$tmp/gcc-gdwarf-$version/program" >"$tmp/reference"
			if [ -f "$tmp/common$version" ]; then
				stored "dwz, version $version, with a common file" \
					"$tmp/dwz-common$version"
			else
				skip "dwz, version $version, with a common file" "dwz made none"
			fi
		done
	fi
fi

# A .dwp says what the .dwo files say; where they are gone, that is said.
packed() {
	name=$1 tool=$2 folder=$tmp/$3
	[ -x "$folder/program" ] && need "$tool" "$name" || return
	addresses "$folder/program" >"$tmp/addresses"
	ours "$folder/program" >"$tmp/reference"
	if ! (cd "$folder" && "$tool" -e program -o program.dwp) >"$tmp/build.log" 2>&1; then
		skip "$name" "$(sed 1q "$tmp/build.log")"
		return
	fi
	mkdir "$folder/away"
	mv "$folder"/*.dwo "$folder/away"
	stored "$name" "$folder/program"
	mv "$folder/program.dwp" "$folder/away"
	ours "$folder/program" >"$tmp/stored"
	check "$name: what is missing is said" grep -q 'is not there' "$tmp/ours.err"
	check "$name: lines are still known" grep -q 'main.cc:[1-9]' "$tmp/stored"
	mv "$folder/away"/* "$folder"
}
packed package4 dwp split4
packed package5 llvm-dwp clang-split5

if need gfortran fortran; then
	mkdir "$tmp/fortran"
	if (cd "$tmp/fortran" && gfortran -O1 -g "$data/part.f90" -o program) >"$tmp/build.log" 2>&1; then
		addresses "$tmp/fortran/program" >"$tmp/addresses"
		ours "$tmp/fortran/program" >"$tmp/ours"
		compares_with fortran "$tmp/fortran/program"
	else
		skip fortran "$(sed 1q "$tmp/build.log")"
	fi
fi

if need go Go; then
	cat >"$tmp/program.go" <<'END'
package main

import (
	"fmt"
	"sort"
	"strings"
)

type shape interface{ area() uint64 }
type square struct{ side uint64 }

func (s square) area() uint64 { return s.side * s.side }

func main() {
	var parts []string
	for i := uint64(0); i < 20; i++ {
		var s shape = square{i}
		parts = append(parts, fmt.Sprint(s.area()))
	}
	sort.Strings(parts)
	fmt.Println(strings.Join(parts, " "))
}
END
	if GO111MODULE=off GOFLAGS= GOCACHE="$tmp/gocache" GOPATH="$tmp/gopath" \
		go build -o "$tmp/go" "$tmp/program.go" >"$tmp/build.log" 2>&1; then
		addresses "$tmp/go" 101 >"$tmp/addresses"
		ours "$tmp/go" >"$tmp/ours"
		compares_with go "$tmp/go"
	else
		skip Go "$(sed 1q "$tmp/build.log")"
	fi
fi

if need rustc rust; then
	cat >"$tmp/program.rs" <<'END'
#[inline(always)]
fn square(x: u64) -> u64 {
    x * x + 1
}
fn main() {
    let mut v: Vec<u64> = (0..100).map(|i| square(i) % 7).collect();
    v.sort_by(|a, b| b.cmp(a));
    println!("{:?}", v);
}
END
	if rustc -O -g "$tmp/program.rs" -o "$tmp/rust" >"$tmp/build.log" 2>&1; then
		addresses "$tmp/rust" 101 >"$tmp/addresses"
		ours "$tmp/rust" >"$tmp/ours"
		compares_with rust "$tmp/rust"
	else
		skip rust "$(sed 1q "$tmp/build.log")"
	fi
fi
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh FOLDER KIND: makes FOLDER/stacks and what belongs to it, by $CC and $CXX:
#
#	omit        without frame pointers, as distributions build
#	fp          with them
#	static, static-pie, lld (text in a mapping that begins elsewhere in the file)
#	streams, throws   FOLDER/KIND, C++
#
# Fails, with the reason, where the tools for a kind are not there.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
folder=$1 kind=$2
: "${CC:=cc}"
: "${CXX:=c++}"
mkdir -p "$folder"
cd "$folder"
flags="-D_GNU_SOURCE -std=gnu11 -O2 -g -pthread -fomit-frame-pointer"
parts='main deep frames control jit cases'
link=
case $kind in
omit) ;;
fp) flags="$flags -DSTACKS_FP -fno-omit-frame-pointer" ;;
static) flags="$flags -DSTACKS_STATIC" link=-static ;;
static-pie) flags="$flags -DSTACKS_STATIC -fPIE" link=-static-pie ;;
lld) link='-fuse-ld=lld -Wl,-z,separate-loadable-segments' ;;
streams | throws)
	$CXX -O2 -g -fomit-frame-pointer -o "$kind" "$source/$kind.cc"
	exit 0
	;;
*)
	echo "build.sh: what is $kind?" >&2
	exit 2
	;;
esac
flags="$flags -fPIE"
for part in $parts; do
	$CC $flags -c "$source/$part.c" -o "$part.o"
done
$CC -c "$source/cases_x86_64.S" -o assembler.o
# No unwind tables, and no -g, which would bring .debug_frame instead.
bare="-D_GNU_SOURCE -std=gnu11 -O2 -fPIE -fno-asynchronous-unwind-tables -fno-unwind-tables"
$CC $bare -DPOINTED -fno-omit-frame-pointer -c "$source/bare.c" -o pointed.o
$CC $bare -fomit-frame-pointer -c "$source/bare.c" -o bare.o
objects='assembler.o pointed.o bare.o'
for part in $parts; do
	objects="$objects $part.o"
done
case $kind in
static*) $CC $flags $link -o stacks $objects ;;
*)
	$CC $flags -fPIC -shared -Wl,-z,lazy -o libstacks.so "$source/library.c"
	$CC $flags -c "$source/libraries.c" -o libraries.o
	$CC $flags -pie $link -Wl,-z,lazy -Wl,-rpath,'$ORIGIN' -o stacks $objects libraries.o \
		-L. -lstacks -ldl
	;;
esac
rm -f $objects libraries.o

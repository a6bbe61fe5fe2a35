#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# big.sh [FOLDER]: makes FOLDER/big (bench/data/big/big of the build folder), a C++ program
# with about 100 MB of DWARF, and prints its path. Takes two minutes on two processors;
# done again, nothing. The same compiler makes the same program from anywhere.
#
#	bench/big.sh                 make it
#	bench/data/big/big 5 2       5 s of CPU time in each of 2 threads
#	bench/data/big/big x20000    20,000 runs of its parts, however long that takes
#
# Environment: CXX (g++), BIG_FLAGS (-O2 -g), BIG_PARTS (10), BIG_KINDS (8: instances of
# everything in a part), JOBS (one per processor).
set -eu
source=$(cd "$(dirname "$0")" && pwd)/big
folder=${1:-${top_builddir:-.}/bench/data/big}
: "${CXX:=g++}"
: "${BIG_FLAGS:=-O2 -g}"
: "${BIG_PARTS:=10}"
: "${BIG_KINDS:=8}"
: "${JOBS:=$(getconf _NPROCESSORS_ONLN)}"
command -v "$CXX" >/dev/null || {
	echo "there is no C++ compiler (CXX=$CXX)" >&2
	exit 1
}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

# Inputs and tools that determine the data: it is made again if any of them changed.
"$CXX" --version | sed 1q >"$folder/made.new"
echo "$BIG_FLAGS $BIG_PARTS $BIG_KINDS" >>"$folder/made.new"
cksum <"$source/part.cc" >>"$folder/made.new"
cksum <"$source/main.cc" >>"$folder/made.new"
if [ -x "$folder/big" ] && cmp -s "$folder/made" "$folder/made.new"; then
	rm "$folder/made.new"
	echo "$folder/big"
	exit 0
fi
rm -f "$folder/made" "$folder"/*.o

echo "making a large C++ program in $folder (some minutes)" >&2
flags="-std=c++20 $BIG_FLAGS -pthread -ffile-prefix-map=$source=bench/big -frandom-seed=big"
parts=$(seq "$BIG_PARTS")
printf '%s\n' $parts | (cd "$source" && xargs -P "$JOBS" -I {} \
	nice "$CXX" $flags -DPART={} -DKINDS="$BIG_KINDS" -c part.cc -o "$folder/part_{}.o")
table="-DPARTS(x)=$(for part in $parts; do printf 'x(%d) ' "$part"; done)"
objects=$(for part in $parts; do echo "part_$part.o"; done)
(cd "$source" && "$CXX" $flags "$table" -c main.cc -o "$folder/main.o")
(cd "$folder" && "$CXX" -pthread -o big.new main.o $objects)
rm -f "$folder"/*.o
mv "$folder/big.new" "$folder/big"
mv "$folder/made.new" "$folder/made"
echo "$folder/big"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions and lines of kernel modules: relocatable files; their debug information has no
# addresses yet. addr2line, which relocates it by itself, is the oracle.
. "$top_srcdir/tests/tap.sh"
for tool in addr2line objcopy readelf gcc; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
# addr2line finds fewer inlined functions in clang's output while it is not linked.
CC=gcc
sources=$top_builddir/tests/cli/sources
modules=$tmp/lib/modules/6.1.0-test/kernel
debug=$tmp/usr/lib/debug/lib/modules/6.1.0-test/kernel
mkdir -p "$modules" "$debug"

cat >"$tmp/a.c" <<'END'
struct point { int x, y; };
static inline __attribute__((always_inline)) int deep(struct point *p, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += p[i].x * p[i].y;
	return sum;
}
static inline __attribute__((always_inline)) int shallow(struct point *p, int n)
{
	if (n < 3)
		return p->x;
	return deep(p, n) + deep(p + 1, n - 1);
}
int first(struct point *p) { return shallow(p, 17) / 3; }
int second(struct point *p, int n)
{
	return shallow(p, n) + first(p + n);
}
__attribute__((section(".init.text"))) int setup(struct point *p)
{
	p->x = 3;
	return second(p, 4);
}
__attribute__((section(".exit.text"))) void leave(struct point *p)
{
	p->x = second(p, 2);
}
__attribute__((cold, noinline)) int rare(struct point *p)
{
	return p->y * deep(p, 5);
}
END
cat >"$tmp/b.c" <<'END'
struct point { int x, y; };
int second(struct point *p, int n);
static __attribute__((noinline)) int local(struct point *p)
{
	return p->x ^ second(p, 9);
}
int third(struct point *p)
{
	for (int i = 0; i < 3; i++)
		p[i].x += local(p + i);
	return p[2].x;
}
END

# Prints distance from the first, size, and name of each section of code but .init's.
layout() {
	readelf -SW "$1" | sed 's/^ *\[ *//; s/\]//' | awk '
		function hex(text,    i, value) {
			for (i = 1; i <= length(text); i++)
				value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return value
		}
		$1 ~ /^[0-9]+$/ && $8 ~ /X/ && $8 ~ /A/ && $2 !~ /^\.init/ {
			align = $11 > 0 ? $11 : 1
			at = int((at + align - 1) / align) * align
			print at, hex($6), $2
			at += hex($6)
		}'
}

# expected FILE: for every third byte what addr2line says, as tests/cli/sources prints it.
expected() {
	layout "$1" | while read -r at size name; do
		awk -v at="$at" -v size="$size" 'BEGIN {
			for (i = 0; i < size; i += 3)
				printf "%x %x\n", i, at + i
		}' >"$tmp/asked"
		cut -d ' ' -f 1 "$tmp/asked" | addr2line -j "$name" -a -f -i -e "$1" |
			awk -v at="$at" '
			function hex(text,    i, value) {
				for (i = 1; i <= length(text); i++)
					value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
				return value
			}
			/^0x[0-9a-f]+$/ {
				if (NR > 1)
					print ""
				printf "0x%x\n", hex(substr($0, 3)) + at
				next
			}
			{ sub(/ \(discriminator [0-9]+\)$/, ""); print }
			END { if (NR) print "" }'
	done
}

# answers NAME FILE-BELOW-TMP: to the addresses of $tmp/wanted.
answers() {
	sed -n 's/^0x//p' "$tmp/wanted" | "$sources" -k -s "$tmp" "$2" >"$tmp/got" 2>"$tmp/err"
	cat "$tmp/err" >>"$tmp/got"
	same "$1" "$tmp/wanted" "$tmp/got"
}

made() {
	"$CC" -ffunction-sections -fno-pic -mcmodel="$model" -c -o "$tmp/a.o" "$@" "$tmp/a.c" &&
		"$CC" -ffunction-sections -fno-pic -c -o "$tmp/b.o" "$@" "$tmp/b.c" &&
		"${LD:-ld}" -r --build-id -o "$modules/play.ko" "$tmp/a.o" "$tmp/b.o"
}

case $(uname -m) in
x86_64) model=kernel ;;
aarch64) model=small ;;
*) skip_all "relocations of $(uname -m) are not known" ;;
esac
play=/lib/modules/6.1.0-test/kernel/play.ko
for how in '-gdwarf-5' '-gdwarf-4' '-gdwarf-5 -gz=zlib'; do
	if ! made -O2 $how 2>"$tmp/err"; then
		skip "$how" "$(tail -n 1 "$tmp/err")"
		continue
	fi
	expected "$modules/play.ko" >"$tmp/wanted"
	comment "$(grep -c '^0x' "$tmp/wanted") addresses, $how"
	check "$how: there is something to compare" grep -q '^deep$' "$tmp/wanted"
	answers "$how: a module's own debug information" $play
done

made -O2 -gdwarf-5
expected "$modules/play.ko" >"$tmp/wanted"
for pack in xz zstd; do
	suffix=$(echo $pack | sed s/zstd/zst/)
	if command -v $pack >/dev/null && $pack -q -k -f "$modules/play.ko" \
		-c >"$modules/packed.ko.$suffix"; then
		answers "packed by $pack" /lib/modules/6.1.0-test/kernel/packed.ko.$suffix
	else
		skip "packed by $pack" "there is no $pack"
	fi
done

# Installed as by distributions.
objcopy --only-keep-debug "$modules/play.ko" "$debug/play.ko"
cp "$modules/play.ko" "$tmp/whole.ko"
objcopy --strip-debug "$modules/play.ko"
answers "a debug file below /usr/lib/debug" $play
mv "$debug/play.ko" "$debug/play.ko.debug"
answers "and one that ends in .debug" $play

# Another build's is not taken.
made -O1 -gdwarf-5
cp "$modules/play.ko" "$debug/play.ko.debug"
objcopy --strip-debug "$tmp/whole.ko" "$modules/play.ko"
sed -n 's/^0x//p' "$tmp/wanted" | "$sources" -k -s "$tmp" $play >"$tmp/got" 2>"$tmp/err"
check "another build's debug information is not taken" \
	awk '/\.c:/ { bad++ } END { exit bad || !NR }' "$tmp/got"

# Damage is said, and nothing worse.
cp "$tmp/whole.ko" "$modules/play.ko"
rela=$(readelf -SW "$modules/play.ko" | sed 's/^ *\[ *//; s/\]//' |
	awk '$2 == ".rela.debug_info" { print $5 }')
printf '\377\377\377\377\377\377\377\177' |
	dd of="$modules/play.ko" bs=1 seek=$((0x$rela)) conv=notrunc 2>/dev/null
sed -n 's/^0x//p' "$tmp/wanted" | "$sources" -k -s "$tmp" $play >"$tmp/got" 2>"$tmp/err"
check "damaged relocations are told" grep -q "play.ko: a relocation" "$tmp/err"
finish

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Code of a stripped program, in every output: by functions of its call frame information, and by
# gaps between these, in addresses of the ELF file.
. "$top_srcdir/tests/cli/lib.sh"

mkdir "$tmp/root"
cd "$tmp" || exit 99
# Each of another size; `bare` is in no entry.
cat >prog.S <<'END'
	.text
	.globl _start
	.p2align 6
_start:	.cfi_startproc
	.skip 0x40, 0x90
	.cfi_endproc
outer:	.cfi_startproc
	.skip 0x80, 0x90
	.cfi_endproc
again:	.cfi_startproc
	.skip 0xc0, 0x90
	.cfi_endproc
bare:	.skip 0x40, 0x90
last:	.cfi_startproc
	.skip 0x40, 0x90
	.cfi_endproc
end:	.skip 0x20, 0x90
END
$CC -nostdlib -static -no-pie -Wl,--build-id=none -o whole prog.S 2>err || skip_all "$(cat err)"
readelf -lW whole | awk '$1 == "LOAD" && / R E / { print $3, $6, $2 }' >segment
read -r start size offset <segment
[ $((start)) != $((offset)) ] || skip_all "addresses of the program are positions in its file"
strip -o root/prog whole

# at FUNCTION DISTANCE: the address, in hex.
at() {
	printf '0x%x' $((0x$(nm whole | sed -n "s/ [tT] $1\$//p") + $2))
}
outer=$(at outer 0) again=$(at again 0) begin=$(at _start 0)
# The linker may fill the section up behind the last function.
text=$(readelf -SW whole | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print $3, $5 }')
gap=$(at bare 0)-$(at last 0) tail=$(at end 0)-$(printf '0x%x' $((0x${text% *} + 0x${text#* })))

# Two return addresses in again() are one function.
recording data <<END
event cpu-clock chain
comm 7 7 demo
mmap 7 $start $size $offset /prog
stacks complete
sample 0 7 7 0 1000000000 1000 $(at again 0x10) $(at again 0x10) $(at again 0x31) $(at again 0x51) $(at outer 0x11) $(at _start 5)
sample 0 7 7 0 1000001000 1000 $(at again 0x20) $(at again 0x20) $(at again 0x51) $(at outer 0x21) $(at _start 9)
sample 0 7 7 0 1000002000 1000 $(at outer 0x7f) $(at outer 0x7f) $(at _start 9)
sample 0 7 7 0 1000003000 1000 $(at bare 0x10) $(at bare 0x10) $(at _start 9)
sample 0 7 7 0 1000004000 1000 $(at bare 0x3f) $(at bare 0x3f) $(at _start 9)
sample 0 7 7 0 1000005000 1000 $(at end 0x8) $(at end 0x8) $(at _start 9)
END
report() {
	"$SPROF" report --symfs "$tmp/root" -i data "$@"
}

rows() {
	report --no-children -s symbol --format csv --interval within -q | awk -F , 'NR > 1 { print $NF, $4 }' | sort
}
{
	echo "$gap 2"
	echo "$tail 1"
	echo "fn@$again 2"
	echo "fn@$outer 1"
} | sort >wanted
rows >got
same "rows are functions, and gaps between them, in addresses of the ELF file" wanted got

report --no-children >out
check "a finding counts them as without a symbol" \
	grep -q '! 100% of samples have no symbols: prog' out
check "with the remedy" sh -c "tr -s '\\n ' ' ' <out | grep -q 'install its debug symbols'"
check "the table has them as functions of the program" grep -q "\[\.\] fn@$again\$" out

report -g caller >out
sed -n '/call tree, callers first/,$p' out | sed '1d;s/^.*%  //' >got
cat >wanted <<END
fn@$begin [prog]
|- fn@$outer
|  \`- fn@$again (recursive, up to 3 deep)
|- $gap
\`- $tail
END
same "the tree knows recursion" wanted got

report --format folded -q >got
cat >wanted <<END
demo;fn@$begin [prog];$gap [prog] 2
demo;fn@$begin [prog];$tail [prog] 1
demo;fn@$begin [prog];fn@$outer [prog] 1
demo;fn@$begin [prog];fn@$outer [prog];fn@$again [prog];fn@$again [prog] 1
demo;fn@$begin [prog];fn@$outer [prog];fn@$again [prog];fn@$again [prog];fn@$again [prog] 1
END
same "folded stacks have the file with them" wanted got

report -g caller --format json >json
check "JSON says of rows and nodes where names are from" \
	test "$(grep -o '"name_source": "cfi"' json | wc -l)" = 8
check "gaps have a source of their own" \
	test "$(grep -o '"name_source": "gap"' json | wc -l)" = 4
report -S "fn@$again" --no-children -s symbol --format csv --interval within -q | tail -n +2 >got
check "a filter takes the name" test "$(awk -F , '{ print $NF, $4 }' got)" = "fn@$again 2"

report -s addr --no-children --format csv --interval within -q | awk -F , 'NR > 1 { print $NF, $4 }' | sort >got
for place in "again 0x10" "again 0x20" "outer 0x7f" "bare 0x10" "bare 0x3f" "end 0x8"; do
	# shellcheck disable=SC2086 # words
	echo "$(at $place) prog 1"
done | sort >wanted
same "the key addr has addresses of the ELF file" wanted got

"$SPROF" script -q --symfs "$tmp/root" -i data -F ip,sym,symoff --time ,1.0000005 >got
cat >wanted <<END

$(for place in "$(at again 0x10) $again 10" "$(at again 0x31) $again 31" \
	"$(at again 0x51) $again 51" "$(at outer 0x11) $outer 11" "$(at _start 5) $begin 5"; do
	# shellcheck disable=SC2086 # words
	set -- $place
	printf '\t%16s fn@%s+0x%s\n' "${1#0x}" "$2" "$3"
done)

END
same "script has them with distances" wanted got
"$SPROF" script --symfs "$tmp/root" -i data >out 2>err
check "and says how many samples have no symbol" \
	grep -q '6 samples in prog without a symbol' err
"$SPROF" script -q --symfs "$tmp/root" -i data --format json >json
check "its JSON, too, says where names are from" \
	grep -q "{\"name\": \"fn@$again\", \"name_source\": \"cfi\", \"offset\": \"0x10\"}" json
ip=$(at again 0x10)
position=$(printf '0x%x' $((ip - start + offset)))
check "its addresses are the offset in the file, and that of the ELF file" \
	grep -q "\"file_offset\": \"$position\", \"elf_address\": \"$ip\"" json
check "what is in no range has no name" grep -q ' \[unknown\] ' out

# Hand-written code: a symbol without a size names the code up to the next symbol, function or section.
cat >hand.S <<'END'
	.text
	.globl _start
_start:	.cfi_startproc
	.skip 0x40, 0x90
	.cfi_endproc
label:	.skip 0x40, 0x90
	.type typed, @function
typed:	.skip 0x40, 0x90
	.cfi_startproc
	.skip 0x40, 0x90
	.cfi_endproc
	.skip 0x40, 0x90
	.section more, "ax", @progbits
	.skip 0x40, 0x90
END
if $CC -nostdlib -static -no-pie -Wl,--build-id=none -o root/hand hand.S 2>err &&
	readelf -lW root/hand | awk '$1 == "LOAD" && / R E / { print $3, $6, $2 }' >segment &&
	objdump -d root/hand >listing; then
	read -r start size offset <segment
	begin=0x$(nm root/hand | sed -n 's/ T _start$//p')
	more=0x$(readelf -SW root/hand | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == "more" { print $3 }')
	for place in 0x44 0x7f 0x80 0xbf 0xc4 0x110; do
		printf '0x%x\n' $((begin + place))
	done >places
	printf '0x%x\n' $((more + 4)) >>places
	{
		printf 'event cpu-clock\ncomm 7 7 demo\nmmap 7 %s %s %s /hand\n' "$start" "$size" "$offset"
		awk '{ print "sample 0 7 7 0 " 1000000000 + NR " 1000 " $1 }' places
	} >text
	recording hand.data <text
	"$SPROF" report --symfs "$tmp/root" -i hand.data -q -s addr,symbol --format csv --interval within |
		awk -F , 'NR > 1 { split($NF, at, " "); print at[1], $(NF - 1) }' |
		sort >got
	hex=$(printf '%x' $((begin + 0xc0))) after=$(printf '%x' $((begin + 0x100)))
	end=$((0x$(readelf -SW root/hand | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print $3 }') + 0x140))
	paste -d ' ' places - <<END | sort >wanted
label
label
typed
typed
fn@0x$hex
0x$after-$(printf '0x%x' $end)
$(printf '0x%x-0x%x' $more $((more + 0x40)))
END
	same "labels do not name code after the next function or section" wanted got
	# objdump's headers, "ADDRESS <NAME>:", before each address.
	while read -r place; do
		awk -v place="${place#0x}" '/^[0-9a-f]+ <.*>:$/ { name = $2 }
			$1 == place ":" { gsub(/[<>:]/, "", name); print "0x" place, name }' listing
	done <places | sort >theirs
	check "where a label names code, objdump does, too" \
		test "$(grep -c 'label$\|typed$' got)" = 4 -a "$(comm -12 got theirs | wc -l)" = 4
else
	skip "labels do not name code after the next function or section" "$(head -n 1 err)"
fi
finish

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the sources of the program whose code is named: program.py FOLDER.

The functions are of many kinds: static ones with equal names in two files, inlined three deep, outlined
cold parts, clones with fewer parameters, switch tables, aliases, equal bodies, resolvers, overloads,
templates, lambdas, thunks, functions of assembler without type, size or call frame information, and
functions that nothing calls.
"""
import os
import sys

HEADER = """\
#ifndef SHARED_H
#define SHARED_H
#define KEPT __attribute__((noinline, used))
#define SEPARATE __attribute__((noinline))
#ifdef __cplusplus
extern "C" {
#endif
extern volatile int sink;
int from_c(int), from_cc(int), bare(int), labelled(int), sized_only(int), with_inner(int);
void rare(int);
#ifdef __cplusplus
}
#endif
static inline __attribute__((always_inline)) int inner_step(int x)
{
	sink += x;
	return sink * 7 + 1;
}
static inline __attribute__((always_inline)) int middle_step(int x, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += inner_step(x + i) ^ i;
	return sum;
}
static inline __attribute__((always_inline)) int outer_step(int x)
{
	if (sink == x)
		return inner_step(x);
	return middle_step(x, x & 15) + inner_step(x / 3);
}
#endif
"""

C_KINDS = [
    """\
KEPT int plain_{i}(int x)
{{
	int sum = {i};
	for (int i = 0; i < x; i++)
		sum += outer_step(i) + {i};
	return sum;
}}
""",
    """\
static KEPT int switched_{i}(int x)
{{
	switch (x) {{
	case 0: return inner_step({i});
	case 1: return middle_step(x, {i});
	case 2: return sink / 3;
	case 3: sink = {i}; break;
	case 4: return x + sink * {i};
	case 5: sink -= {i}; return 2;
	case 6: return outer_step({i} + x);
	default: return -1;
	}}
	return sink;
}}
""",
    """\
int unlikely_{i}(int x)
{{
	if (__builtin_expect(sink == {i}, 0)) {{
		rare(x);
		sink = inner_step(x) * {i};
		rare(sink);
	}}
	return middle_step(x, 3) - {i};
}}
""",
    """\
static __attribute__((noinline)) int constant_{i}(int x, int always)
{{
	return inner_step(x * always) + always * {i};
}}
int calls_constant_{i}(int x)
{{
	return constant_{i}(x, 5) + constant_{i}(x + 1, 5);
}}
""",
    """\
int original_{i}(int x)
{{
	return inner_step(x) - {i};
}}
int aliased_{i}(int x) __attribute__((alias("original_{i}")));
int weakly_{i}(int x) __attribute__((weak, alias("original_{i}")));
""",
    """\
int same_{i}(int x)
{{
	return outer_step(x) % 11;
}}
""",
    """\
int dropped_{i}(int x)
{{
	int sum = outer_step(x);
	for (int i = 0; i < {i}; i++)
		sum += middle_step(i, sum) * outer_step(sum);
	return sum;
}}
""",
    """\
static int fast_{i}(int x)
{{
	return inner_step(x) << 1;
}}
static int slow_{i}(int x)
{{
	return outer_step(x) >> 1;
}}
int (*resolve_{i}(void))(int)
{{
	return {i} % 2 ? fast_{i} : slow_{i};
}}
int picked_{i}(int x) __attribute__((ifunc("resolve_{i}")));
""",
    """\
__attribute__((cold)) int cold_{i}(int x)
{{
	return outer_step(x) + {i};
}}
""",
    """\
int tiny_{i}(int x)
{{
	return x + {i};
}}
""",
]

# Calls of kind K's functions in `from_c`.
C_CALLS = ["plain_{i}(x)", "switched_{i}(x)", "unlikely_{i}(x)", "calls_constant_{i}(x)",
           "aliased_{i}(x) + weakly_{i}(x)", "same_{i}(x)", None, "picked_{i}(x)", "cold_{i}(x)", "tiny_{i}(x)"]

CC_KINDS = [
    """\
namespace space_{i}
{{
KEPT int over(int x)
{{
	return inner_step(x) + {i};
}}
KEPT int over(long x)
{{
	return outer_step((int)x) - {i};
}}
KEPT int over(const char *x)
{{
	return middle_step(*x, {i});
}}
namespace
{{
KEPT int hidden(int x)
{{
	return outer_step(x) + outer_step({i});
}}
}}
static int calls(int x)
{{
	return over(x) + over((long)x) + over("x") + hidden(x);
}}
}}
""",
    """\
template <typename T, int N> struct Holder_{i} {{
	T value;
	SEPARATE explicit Holder_{i}(T x) : value(x + N)
	{{
		sink += inner_step((int)value);
	}}
	SEPARATE ~Holder_{i}()
	{{
		sink -= outer_step((int)value);
	}}
	SEPARATE T get() const
	{{
		return value + (T)middle_step((int)value, N);
	}}
}};
namespace space_{i}
{{
static int calls(int x)
{{
	Holder_{i}<int, {i}> a(x);
	Holder_{i}<short, {i}> b((short)x);
	return a.get() + b.get();
}}
}}
""",
    """\
namespace space_{i}
{{
struct Left {{
	virtual int left(int x)
	{{
		return inner_step(x) + {i};
	}}
}};
struct Right {{
	virtual int right(int x)
	{{
		return inner_step(x) * {i};
	}}
}};
struct Both : Left, Right {{
	int right(int x) override
	{{
		return outer_step(x) ^ {i};
	}}
}};
static KEPT int through(Right *thing, int x)
{{
	return thing->right(x);
}}
static int calls(int x)
{{
	Both both;
	return both.left(x) + through(&both, x);
}}
}}
""",
    """\
namespace space_{i}
{{
static int calls(int x)
{{
	auto doubled = [&](int y) __attribute__((noinline))
	{{
		return y * x + inner_step({i});
	}};
	struct Local {{
		static KEPT int method(int y)
		{{
			return outer_step(y);
		}}
	}};
	auto small = [&](int y) {{
		return inner_step(y) + {i};
	}};
	return doubled(x) + Local::method(x) + small(x);
}}
}}
""",
]

ASSEMBLY = """\
/* SPDX-License-Identifier: GPL-2.0-or-later */
	.text
	/* No type, no size, no call frame information. */
	.globl bare
bare:
	.rept 9
	lea 1(%rdi), %eax
	.endr
	ret
	.balign 16
	.globl labelled
	.type labelled, @function
labelled:
	.cfi_startproc
	.rept 6
	add $2, %edi
	.endr
	/* A label within a function. */
	.globl inner_label
inner_label:
	.rept 6
	mov %edi, %eax
	.endr
	ret
	.cfi_endproc
	.size labelled, . - labelled
	.balign 16
	.globl sized_only
	.type sized_only, @function
sized_only:
	.rept 12
	lea 3(%rdi), %eax
	.endr
	ret
	.size sized_only, . - sized_only
	/* Data between functions. */
	.balign 32
	.globl table_of_text
table_of_text:
	.quad 1, 2, 3, 4, 5, 6
	.globl with_inner
	.type with_inner, @function
with_inner:
	.cfi_startproc
	.rept 5
	lea 4(%rdi), %eax
	.endr
	/* A function within another, with a size of its own. */
	.globl nested_function
	.type nested_function, @function
nested_function:
	.rept 5
	lea 5(%rdi), %eax
	.endr
	ret
	.size nested_function, . - nested_function
	.rept 8
	nop
	.endr
	ret
	.cfi_endproc
	.size with_inner, . - with_inner
	.globl hidden_label
	.hidden hidden_label
hidden_label:
	.rept 4
	lea 6(%rdi), %eax
	.endr
	ret
	.section .note.GNU-stack, "", @progbits
"""

MAIN = """\
#include "shared.h"
volatile int sink;
static KEPT int helper(int x)
{
	return outer_step(x) + 3;
}
__attribute__((noinline, cold)) void rare(int x)
{
	sink ^= x;
}
int main(int argc, char **argv)
{
	(void)argv;
	return helper(argc) + from_c(argc) + from_cc(argc) + bare(argc) + labelled(argc) + sized_only(argc) +
	       with_inner(argc);
}
"""


def unit(kinds, count, calls, ending):
    text = '#include "shared.h"\n'
    sums = []
    for i in range(count):
        kind = i % len(kinds)
        text += kinds[kind].format(i=i)
        if calls[kind]:
            sums.append("sum += " + calls[kind].format(i=i) + ";")
    return text + ending.format(calls="\n\t".join(sums))


def write(folder, count=40):
    """Writes the sources, with about 4 * count functions."""
    sources = {
        "shared.h": HEADER,
        "part.c": unit(C_KINDS, count, C_CALLS, """\
static KEPT int helper(int x)
{{
	return inner_step(x) + 1;
}}
#ifdef LARGE
/* If its start becomes 0, it seems to cover the code that is there. */
int dropped_large(int x)
{{
	int sum = outer_step(x);
	__asm__ volatile(".fill 40000, 1, 0x90");
	return sum + middle_step(sum, x);
}}
#endif
int from_c(int x)
{{
	int sum = helper(x);
	{calls}
	return sum;
}}
"""),
        "classes.cc": unit(CC_KINDS, count // 2, ["space_{i}::calls(x)"] * len(CC_KINDS), """\
extern "C" int from_cc(int x)
{{
	int sum = 0;
	{calls}
	return sum;
}}
"""),
        "main.c": MAIN,
        "code.S": ASSEMBLY,
    }
    for name, text in sources.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    write(sys.argv[1])

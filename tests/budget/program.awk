# SPDX-License-Identifier: GPL-2.0-or-later
# Prints a C program of 400 functions, with three levels of inlined ones. It is symbolized, never run.
function begin(is_inline, name) {
	printf "%sunsigned %s(unsigned x)\n{\n", is_inline ? "static inline __attribute__((always_inline)) " : "", name
}
BEGIN {
	for (i = 0; i < 16; i++) {
		begin(1, "inner" i)
		printf "\tfor (unsigned n = 0; n < x; n++)\n\t\tx = x * %d + (x >> %d);\n\treturn x;\n}\n", 3 + 2 * i, 1 + i
		begin(1, "middle" i)
		printf "\tx ^= inner%d(x);\n\treturn x + %d;\n}\n", i, i
		begin(1, "outer" i)
		printf "\tx = middle%d(x);\n\treturn x ^ inner%d(x + 1);\n}\n", i, (i * 7 + 3) % (i + 1)
	}
	for (i = 0; i < 400; i++) {
		begin(0, "f" i)
		printf "\tvolatile unsigned y = outer%d(x);\n\ty += middle%d(y + %d);\n\treturn y;\n}\n", i % 16, (i + 5) % 16, i
	}
}

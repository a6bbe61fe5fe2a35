/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instructions: reads code in hex, an instruction a line, and prints where its length is another. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sprof/private/instruction.h>

int main(void)
{
	char line[256];
	size_t lines = 0;
	while (fgets(line, sizeof(line), stdin)) {
		uint8_t code[64] = {0};
		size_t size = 0;
		unsigned int byte;
		for (const char *at = line; sscanf(at, "%2x", &byte) == 1 && size < 32; at += 3)
			code[size++] = (uint8_t)byte;
		lines++;
		/* Bytes after the instruction are no part of it. */
		memset(code + size, 0x0f, 16);
		size_t length = sp_instruction_length(EM_X86_64, code, size + 16);
		if (length != size)
			printf("%zu: %s", length, line);
	}
	fprintf(stderr, "%zu\n", lines);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize FILE [one]: symbolizes the file's virtual addresses on standard input, in hexadecimal, and
 * prints their functions and lines as addr2line -f -i does. With "one", each is a call of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>

#define ADDRESSES_MAX 1000000

static int fail(struct sp_error *error)
{
	fprintf(stderr, "symbolize: %s\n", sp_error_message(error));
	sp_error_free(error);
	return 1;
}

static size_t read_addresses(uint64_t *ret)
{
	size_t count = 0;
	char line[64];
	while (count < ADDRESSES_MAX && fgets(line, sizeof(line), stdin))
		ret[count++] = strtoull(line, NULL, 16);
	return count;
}

static void print(const struct sp_symbols *symbols)
{
	for (size_t i = 0; i < sp_symbols_count(symbols); i++)
		for (size_t depth = 0; depth < sp_symbols_frame_count(symbols, i); depth++) {
			const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, i, depth);
			printf("%s\n%s:%" PRIu32 "\n", frame->function ?: "??", frame->file ?: "??",
			       frame->line);
		}
}

int main(int argc, char **argv)
{
	struct sp_ctx *ctx;
	struct sp_symbolizer *symbolizer;
	struct sp_space *space;
	uint64_t *addresses = calloc(ADDRESSES_MAX, sizeof(*addresses));
	if (argc < 2 || !addresses) {
		fprintf(stderr, "usage: symbolize FILE [one] <ADDRESSES\n");
		return 2;
	}
	size_t count = read_addresses(addresses), step = argc > 2 ? 1 : count;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error || (error = sp_symbolizer_new(ctx, NULL, &symbolizer)) ||
	    (error = sp_symbolizer_add_file(symbolizer, argv[1], SP_FILE_VADDR, &space)))
		return fail(error);
	for (size_t i = 0; i < count; i += step) {
		struct sp_symbols *symbols;
		error = sp_space_symbolize(space, addresses + i, step, &symbols);
		if (error)
			return fail(error);
		print(symbols);
		sp_symbols_free(symbols);
	}
	sp_space_free(space);
	sp_symbolizer_free(symbolizer);
	sp_ctx_free(ctx);
	free(addresses);
	return 0;
}

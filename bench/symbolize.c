/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize [-1] [-a] [-r] [-d DEBUG_PATH] FILE: symbolizes the file's virtual addresses on
 * standard input, in hexadecimal, and prints their functions and lines as addr2line -f -i does.
 * -1: each is a call of its own. -a: prints the addresses, too, as llvm-symbolizer -a does. -r:
 * names as the symbol table and debug information spell them, and none of ranges.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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

/* Options of the output. */
struct output {
	bool is_raw, has_addresses;
};

static void print(const struct sp_symbols *symbols, const uint64_t *addresses,
		  const struct output *output)
{
	for (size_t i = 0; i < sp_symbols_count(symbols); i++) {
		size_t count = sp_symbols_frame_count(symbols, i);
		if (output->has_addresses)
			printf("0x%" PRIx64 "\n", addresses[i]);
		for (size_t depth = 0; depth < count; depth++) {
			const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, i, depth);
			const char *name = output->is_raw ? frame->raw_name : frame->function;
			printf("%s\n%s:%" PRIu32 "\n", name ?: "??", frame->file ?: "??",
			       frame->line);
		}
		if (!count)
			puts("??\n??:0");
		if (output->has_addresses)
			puts("");
	}
}

int main(int argc, char **argv)
{
	struct sp_ctx *ctx;
	struct sp_symbolizer *symbolizer;
	struct sp_space *space;
	uint64_t *addresses = calloc(ADDRESSES_MAX, sizeof(*addresses));
	struct output output = {0};
	bool one_by_one = false;
	struct sp_error *error = sp_ctx_new(&ctx);
	for (int option; !error && (option = getopt(argc, argv, "1ard:")) != -1;) {
		if (option == '1')
			one_by_one = true;
		else if (option == 'a')
			output.has_addresses = true;
		else if (option == 'r')
			output.is_raw = true;
		else if (option == 'd')
			error = sp_ctx_set_debug_path(ctx, optarg);
		else
			return 2;
	}
	if (!argv[optind] || !addresses) {
		fprintf(stderr,
			"usage: symbolize [-1] [-a] [-r] [-d DEBUG_PATH] FILE <ADDRESSES\n");
		return 2;
	}
	size_t count = read_addresses(addresses), step = one_by_one ? 1 : count;
	if (error || (error = sp_symbolizer_new(ctx, NULL, &symbolizer)) ||
	    (error = sp_symbolizer_add_file(symbolizer, argv[optind], SP_FILE_VADDR, &space)))
		return fail(error);
	for (size_t i = 0; i < count; i += step) {
		struct sp_symbols *symbols;
		error = sp_space_symbolize(space, addresses + i, step, &symbols);
		if (error)
			return fail(error);
		print(symbols, addresses + i, &output);
		sp_symbols_free(symbols);
	}
	sp_space_free(space);
	sp_symbolizer_free(symbolizer);
	sp_ctx_free(ctx);
	free(addresses);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints functions, inlined functions and lines of addresses in a file, a process or the kernel, as
 * addr2line does:
 *
 *	cc -o example-symbolizer example-symbolizer.c $(pkg-config --cflags --libs libsprof)
 *	./example-symbolizer FILE|PID|kernel ADDRESS...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sprof/sprof.h>

static int fail(struct sp_error *error)
{
	const char *remedy = sp_error_remedy(error);
	fprintf(stderr, "%s%s%s\n", sp_error_message(error), remedy ? "; " : "", remedy ? remedy : "");
	sp_error_free(error);
	return 1;
}

static void print(const struct sp_symbols *symbols, size_t index, uint64_t address)
{
	const char *remedy, *problem = sp_symbols_problem(symbols, index, &remedy);
	uint64_t vaddr;
	const char *file = sp_symbols_file(symbols, index, &vaddr);
	printf("0x%" PRIx64, address);
	if (file && vaddr != UINT64_MAX)
		printf(" is 0x%" PRIx64 " of %s", vaddr, file);
	putchar('\n');
	for (size_t i = 0; i < sp_symbols_frame_count(symbols, index); i++) {
		const struct sp_symbol_frame *frame = sp_symbols_frame(symbols, index, i);
		printf("\t%s at %s:%" PRIu32 "%s\n", frame->function ? frame->function : "??",
		       frame->file ? frame->file : "??", frame->line, frame->is_inlined ? " (inlined)" : "");
	}
	if (problem)
		printf("\t%s; %s\n", problem, remedy ? remedy : "no remedy is known");
}

int main(int argc, char **argv)
{
	uint64_t addresses[64];
	size_t count = 0;
	struct sp_ctx *ctx;
	struct sp_symbolizer *symbolizer;
	struct sp_space *space;
	struct sp_symbols *symbols;
	for (int i = 2; i < argc && count < 64; i++)
		addresses[count++] = strtoull(argv[i], NULL, 16);
	uint32_t pid = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error || (error = sp_symbolizer_new(ctx, NULL, &symbolizer)))
		return fail(error);
	const char *name = argc > 1 ? argv[1] : argv[0];
	error = !strcmp(name, "kernel") ? sp_symbolizer_add_kernel(symbolizer, &space)
		: pid ? sp_symbolizer_add_process(symbolizer, pid, &space)
		      : sp_symbolizer_add_file(symbolizer, name, SP_FILE_VADDR, &space);
	if (error || (error = sp_space_symbolize(space, addresses, count, &symbols)))
		return fail(error);
	for (size_t i = 0; i < sp_symbols_count(symbols); i++)
		print(symbols, i, addresses[i]);
	sp_symbols_free(symbols);
	sp_space_free(space);
	sp_symbolizer_free(symbolizer);
	sp_ctx_free(ctx);
	return 0;
}

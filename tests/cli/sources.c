/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what the resolver says of addresses, for comparison with other tools:
 *
 *	sources [-d DEBUG_PATH] [-D] [-t THREADS] [-T] [-k] [-s SYMFS] FILE <vaddrs in hexadecimal
 *
 * For each: "0xVADDR", then of each function, the innermost first, its name as in the debug
 * information, and "FILE:LINE", each on a line of its own; an empty line. -D: servers may be
 * asked. -T: only the time. -k: FILE is that of a kernel module below SYMFS; vaddrs are the
 * distances from where its code begins.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "elf/image.h"
#include "base/format.h"
#include "symbol/ko.h"
#include "symbol/resolver.h"

/* Address of the kernel module. */
#define START 0xffffffffc0100000

struct input {
	uint64_t vaddr, offset;
};

static void fail(struct sp_error *error)
{
	fprintf(stderr, "sources: %s\n", sp_error_message(error));
	exit(1);
}

static int compare(const void *a, const void *b)
{
	const struct input *x = a, *y = b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Ascending and distinct, as the resolver demands. */
static size_t read_inputs(const struct image *image, bool is_ko, struct input **ret)
{
	struct input *inputs = NULL;
	size_t count = 0, kept = 0;
	unsigned long long vaddr;
	while (scanf("%llx", &vaddr) == 1) {
		if (count % 4096 == 0)
			inputs = realloc(inputs, (count + 4096) * sizeof(*inputs));
		bool found = is_ko;
		if (is_ko)
			inputs[count] = (struct input){vaddr, START + vaddr};
		for (size_t i = 0; i < image->loads.count; i++) {
			const struct image_load *load = &image->loads.items[i];
			if (load->executable && vaddr >= load->vaddr &&
			    vaddr - load->vaddr < load->file_size) {
				found = true;
				inputs[count] = (struct input){
					vaddr, vaddr - load->vaddr + load->file_offset};
			}
		}
		count += found;
	}
	qsort(inputs, count, sizeof(*inputs), compare);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || inputs[i].offset != inputs[i - 1].offset)
			inputs[kept++] = inputs[i];
	*ret = inputs;
	return kept;
}

static void print(const struct input *input, const struct source_frame *innermost)
{
	printf("0x%llx\n", (unsigned long long)input->vaddr);
	for (const struct source_frame *frame = innermost; frame; frame = frame->caller)
		printf("%s\n%s:%u\n", frame->raw_name ?: "??", frame->file ?: "??", frame->line);
	if (!innermost)
		printf("??\n??:0\n");
	printf("\n");
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	unsigned int threads = 1;
	bool only_time = false, is_ko = false;
	struct sp_ctx *ctx;
	struct resolver *resolver = NULL;
	struct resolver_options options = {0};
	struct image *image = NULL;
	struct sp_error *error = sp_ctx_new(&ctx);
	for (int option; !error && (option = getopt(argc, argv, "d:Dt:Tks:")) != -1;) {
		if (option == 'd')
			error = sp_ctx_set_debug_path(ctx, optarg);
		else if (option == 'D')
			sp_ctx_set_debuginfod(ctx, true);
		else if (option == 't')
			threads = (unsigned int)atoi(optarg);
		else if (option == 'T')
			only_time = true;
		else if (option == 'k')
			is_ko = true;
		else if (option == 's')
			options.symfs = optarg;
		else
			return 2;
	}
	char *path = format_text("%s%s", options.symfs ?: "", argv[optind]);
	if (!error)
		error = is_ko ? ko_open_file(NULL, path, &image) : image_open(path, &image);
	if (!error)
		error = resolver_new(ctx, &options, &resolver);
	if (error)
		fail(error);
	struct module module = {
		.kind = MODULE_FILE,
		.path = argv[optind],
		.name = argv[optind],
		.is_64bit = true,
		.ino = image->inode,
		.maj = major(image->device),
		.min = minor(image->device),
	};
	if (is_ko) {
		module.kind = MODULE_KERNEL_MODULE;
		module.start = START;
		memcpy(module.build_id, image->build_id, image->build_id_size);
		module.build_id_size = image->build_id_size;
	}
	struct input *inputs;
	size_t count = read_inputs(image, is_ko, &inputs);
	uint64_t *offsets = calloc(count + 1, sizeof(*offsets));
	struct source_frames frames = {.items = calloc(count + 1, sizeof(*frames.items)),
				       .lines = true};
	for (size_t i = 0; i < count; i++)
		offsets[i] = inputs[i].offset;
	double start = now();
	error = resolver_sources(resolver, &(struct source_query){&module, 0, offsets, count, threads},
				 &frames);
	if (error)
		fail(error);
	if (only_time)
		printf("%zu addresses: %.1f ms\n", count, now() - start);
	for (size_t i = 0; i < count && !only_time; i++)
		print(&inputs[i], frames.items[i]);
	const char *text, *remedy;
	if (resolver_sources_problem(resolver, &module, &text, &remedy) != RESOLVER_OK)
		fprintf(stderr, "sources: %s\n", text);
	resolver_free(resolver);
	image_free(image);
	sp_ctx_free(ctx);
	free(inputs);
	free(offsets);
	free(frames.items);
	free(path);
	return 0;
}

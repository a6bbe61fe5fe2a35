/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What does a part of this program cost? Page faults of it, and instructions where the machine
 * counts them; and where the faults were, by the samples that a meter takes.
 *
 *	cc example-meter.c $(pkg-config --cflags --libs libsprof)
 */
#include <stdio.h>
#include <stdlib.h>
#include <sprof/sprof.h>

static int fail(struct sp_error *error)
{
	const char *remedy = sp_error_remedy(error);
	fprintf(stderr, "%s%s%s\n", sp_error_message(error), remedy ? "; " : "", remedy ? remedy : "");
	sp_error_free(error);
	return 1;
}

/* The part that is measured: it touches some memory. */
static void work(void)
{
	const size_t size = (size_t)1 << 20;
	volatile char *memory = (volatile char *)malloc(size);
	for (size_t i = 0; memory && i < size; i += 512)
		memory[i] = 1;
	free((void *)(size_t)memory);
}

static struct sp_error *count(struct sp_ctx *ctx, const char *events)
{
	struct sp_meter_options options = {};
	struct sp_count counts[8];
	struct sp_meter *meter;
	options.size = sizeof(options);
	options.events = events;
	struct sp_error *error = sp_meter_open(ctx, &options, &meter);
	if (error)
		return error;
	error = sp_meter_begin(meter);
	work();
	if (!error)
		error = sp_meter_end(meter, counts);
	for (size_t i = 0; !error && i < sp_meter_count(meter); i++)
		printf("%-16s %.0f\n", sp_meter_name(meter, i), sp_count_scaled(&counts[i]));
	sp_meter_free(meter);
	return error;
}

static struct sp_error *sample(struct sp_ctx *ctx)
{
	struct sp_meter_options options = {};
	const struct sp_record *record;
	struct sp_meter *meter;
	unsigned int samples = 0;
	options.size = sizeof(options);
	options.events = "page-faults:u";
	options.period = 10; /* each tenth */
	options.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	options.ring_bytes = 1 << 16;
	struct sp_error *error = sp_meter_open(ctx, &options, &meter);
	if (error)
		return error;
	work();
	while (!(error = sp_meter_next(meter, &record)) && record)
		samples += record->type == PERF_RECORD_SAMPLE && record->sample.addr != 0;
	printf("samples          %u\n", samples);
	sp_meter_free(meter);
	return error;
}

int main(void)
{
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	if (error)
		return fail(error);
	if ((error = count(ctx, "page-faults:u")) || (error = sample(ctx)))
		return fail(error);
	if ((error = count(ctx, "{instructions:u,cycles:u}"))) {
		/* A virtual machine has no counters, as a rule. */
		printf("no instructions: %s\n", sp_error_message(error));
		sp_error_free(error);
	}
	sp_ctx_free(ctx);
	return 0;
}

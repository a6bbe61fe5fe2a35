/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data files and pipes: header, features, every record of both passes.
 * Whatever the bytes are: no crash, no hang, the records lie within the file, and
 * what cannot be read is said.
 */
#include <assert.h>
#include <string.h>
#include <sprof/reader.h>
#include "base/cleanup.h"
#include "fuzz.h"
#include "reader/feature_payloads.h"

/* Touches all that a record of the kinds with strings and arrays points to. */
static size_t touch(const struct sp_record *record)
{
	size_t sum = 0;
	for (size_t i = 0; i < record->size; i++)
		sum += record->bytes[i];
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return sum + strlen(record->mmap.filename);
	case PERF_RECORD_COMM:
		return sum + strlen(record->comm.comm);
	case PERF_RECORD_KSYMBOL:
		return sum + strlen(record->ksymbol.name);
	case SP_RECORD_HEADER_BUILD_ID:
		return sum + strlen(record->build_id.filename);
	case PERF_RECORD_SAMPLE:
		for (size_t i = 0; i < record->sample.ip_count; i++)
			sum += record->sample.ips[i];
		for (size_t i = 0; i < record->sample.stack.size; i++)
			sum += record->sample.stack.bytes[i];
		return sum + record->sample.counters.count;
	default:
		return sum;
	}
}

static size_t read_all(struct sp_reader *reader, size_t *records_ret)
{
	size_t sum = 0;
	*records_ret = 0;
	for (;;) {
		const struct sp_record *record = NULL;
		struct sp_error *error = sp_reader_next(reader, &record);
		if (error) {
			assert(sp_error_message(error)[0]);
			assert(sp_error_code(error) == SP_ERROR_FORMAT);
			sp_error_free(error);
			continue;
		}
		if (!record)
			return sum;
		sum += touch(record);
		++*records_ret;
	}
}

static size_t read_info(const struct sp_reader *reader)
{
	const struct sp_file_info *info = sp_reader_info(reader);
	size_t sum = 0;
	for (const char *const *argument = info->cmdline; argument && *argument; argument++)
		sum += strlen(*argument);
	for (size_t i = 0; i < info->build_id_count; i++)
		sum += strlen(sp_file_build_id(info, i)->filename);
	for (size_t i = 0; i < sp_reader_event_count(reader); i++)
		sum += strlen(sp_reader_event(reader, i)->name);
	for (unsigned int bit = 0; bit < 40; bit++) {
		struct sp_bytes payload = reader_feature(reader, bit);
		for (size_t i = 0; i < payload.size; i++)
			sum += payload.bytes[i];
	}
	for (size_t i = 0; i < sp_reader_damage_count(reader); i++)
		sum += strlen(sp_reader_damage(reader, i)->what);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct sp_ctx *ctx;
	struct sp_error *error = sp_ctx_new(&ctx);
	assert(!error);
	struct sp_reader *reader = NULL;
	error = sp_reader_open_memory(ctx, bytes, size, "input", &reader);
	if (!error) {
		size_t records, again;
		size_t sum = read_all(reader, &records) + read_info(reader);
		sp_reader_rewind(reader);
		sum += read_all(reader, &again);
		__asm__ volatile("" : : "r"(sum));
		assert(records == again);
		sp_reader_free(reader);
	} else {
		assert(sp_error_message(error)[0]);
	}
	sp_error_free(error);
	sp_ctx_free(ctx);
	return 0;
}

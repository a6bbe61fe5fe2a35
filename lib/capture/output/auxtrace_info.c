/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * AUXTRACE_INFO: u32 type, u32 0, and words of u64. The type decides their meaning. They are those
 * of perf 6.1, in the order of its enums (INTEL_PT_PMU_TYPE, …), which newer versions read, too.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "capture/output/auxtrace.h"
#include "proc/sysfs.h"
#include "record/put.h"
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define PMU_PATH "/sys/bus/event_source/devices"

/* Event of s390's sampling facility that has an AUX area. */
#define S390_DIAGNOSTIC 0xbd000

/* Tracing PMUs, by the beginning of the name. */
static const struct kind {
	const char *name;
	enum auxtrace_type type;
	bool is_prefix;
} kinds[] = {
	{"intel_pt", AUXTRACE_INTEL_PT, false},
	{"intel_bts", AUXTRACE_INTEL_BTS, false},
	{"cs_etm", AUXTRACE_CS_ETM, false},
	{"arm_spe_", AUXTRACE_ARM_SPE, true},
	{"cpum_sf", AUXTRACE_S390_CPUMSF, false},
	{"hisi_ptt", AUXTRACE_HISI_PTT, true},
	{"vpa_dtl", AUXTRACE_VPA_DTL, false},
};

static enum auxtrace_type type_of(const char *name)
{
	for (size_t i = 0; i < count_of(kinds); i++)
		if (!(kinds[i].is_prefix ? strncmp(name, kinds[i].name, strlen(kinds[i].name))
					 : strcmp(name, kinds[i].name)))
			return kinds[i].type;
	return AUXTRACE_NONE;
}

static DIR *open_pmus(const struct sp_ctx *ctx)
{
	CLEANUP_FREE char *path = format_text("%s" PMU_PATH, ctx_root(ctx));
	return path ? opendir(path) : NULL;
}

/* A number of a PMU's folder; -1 where there is none. */
static int64_t number_of(const struct sp_ctx *ctx, const char *pmu, const char *file)
{
	CLEANUP_FREE char *path = format_text(PMU_PATH "/%s/%s", pmu, file);
	int64_t number = -1;
	struct sp_error *error = path ? sysfs_read_i64(ctx, path, &number) : NULL;
	if (error)
		number = -1;
	sp_error_free(error);
	return number;
}

struct auxtrace_pmu auxtrace_pmu_of(const struct sp_ctx *ctx, const struct perf_event_attr *attr)
{
	struct auxtrace_pmu pmu = {.number = attr->type};
	CLEANUP(cleanup_closedir) DIR *dir = attr->type < PERF_TYPE_MAX ? NULL : open_pmus(ctx);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		enum auxtrace_type type = type_of(entry->d_name);
		if (type == AUXTRACE_NONE ||
		    number_of(ctx, entry->d_name, "type") != (int64_t)attr->type)
			continue;
		if (type == AUXTRACE_S390_CPUMSF && attr->config != S390_DIAGNOSTIC)
			continue;
		pmu.type = type;
		snprintf(pmu.name, sizeof(pmu.name), "%.63s", entry->d_name);
		break;
	}
	return pmu;
}

char *auxtrace_pmus_here(const struct sp_ctx *ctx)
{
	CLEANUP(cleanup_closedir) DIR *dir = open_pmus(ctx);
	const struct dirent *entry;
	char *list = NULL;
	while (dir && (entry = readdir(dir))) {
		if (type_of(entry->d_name) == AUXTRACE_NONE)
			continue;
		char *longer = format_text("%s%s%s", list ? list : "", list ? ", " : "", entry->d_name);
		free(list);
		list = longer;
	}
	return list;
}

/* Returns the bits of a term of the PMU: "config:9" is 1 << 9; 0 if there is none. */
static uint64_t bits_of(const struct sp_ctx *ctx, const char *pmu, const char *term)
{
	CLEANUP_FREE char *path = format_text(PMU_PATH "/%s/format/%s", pmu, term);
	CLEANUP_FREE char *text = NULL;
	unsigned int low, high;
	if (!path || sysfs_read(ctx, path, &text, NULL))
		return 0;
	int count = sscanf(text, "config:%u-%u", &low, &high);
	if (count == 1)
		high = low;
	if (count < 1 || high < low || high > 63)
		return 0;
	uint64_t all = high - low == 63 ? UINT64_MAX : (UINT64_C(1) << (high - low + 1)) - 1;
	return all << low;
}

/* The ratio of the time stamp counter to the crystal clock. */
static void tsc_ratio(uint32_t *numerator, uint32_t *denominator)
{
	*numerator = *denominator = 0;
#if defined(__x86_64__) || defined(__i386__)
	uint32_t a, b, c, d;
	if (__get_cpuid(0x15, &a, &b, &c, &d)) {
		*denominator = a;
		*numerator = b;
	}
#endif
}

static void put_clock(struct put *put, const struct perf_event_mmap_page *page)
{
	put_u64(put, page->time_shift);
	put_u64(put, page->time_mult);
	put_u64(put, page->time_zero);
	put_u64(put, page->cap_user_time_zero);
}

static void put_intel_pt(struct put *put, const struct sp_ctx *ctx, const struct auxtrace_pmu *pmu,
			 const struct perf_event_mmap_page *page,
			 const struct auxtrace_settings *settings)
{
	uint32_t numerator, denominator;
	int64_t ratio = number_of(ctx, pmu->name, "max_nonturbo_ratio");
	tsc_ratio(&numerator, &denominator);
	put_u64(put, pmu->number);
	put_clock(put, page);
	put_u64(put, bits_of(ctx, pmu->name, "tsc"));
	put_u64(put, bits_of(ctx, pmu->name, "noretcomp"));
	put_u64(put, settings->switches);
	put_u64(put, settings->snapshot);
	put_u64(put, 1); /* areas are of CPUs, not of tasks */
	put_u64(put, bits_of(ctx, pmu->name, "mtc"));
	put_u64(put, bits_of(ctx, pmu->name, "mtc_period"));
	put_u64(put, numerator);
	put_u64(put, denominator);
	put_u64(put, bits_of(ctx, pmu->name, "cyc"));
	put_u64(put, ratio > 0 ? (uint64_t)ratio : 0);
	put_u64(put, 0); /* the length of an address filter, which would follow */
}

static struct sp_error *put_words(struct put *put, const struct sp_ctx *ctx,
				  const struct auxtrace_pmu *pmu,
				  const struct perf_event_mmap_page *page,
				  const struct auxtrace_settings *settings)
{
	switch (pmu->type) {
	case AUXTRACE_INTEL_PT:
		put_intel_pt(put, ctx, pmu, page, settings);
		return NULL;
	case AUXTRACE_INTEL_BTS:
		put_u64(put, pmu->number);
		put_clock(put, page);
		put_u64(put, settings->snapshot);
		return NULL;
	case AUXTRACE_ARM_SPE:
		put_u64(put, pmu->number);
		put_u64(put, 1); /* numbers of CPUs */
		return NULL;
	case AUXTRACE_HISI_PTT:
	case AUXTRACE_VPA_DTL:
		put_u64(put, pmu->number);
		return NULL;
	case AUXTRACE_S390_CPUMSF:
		return NULL;
	default:
		return error_set_remedy(error_new(SP_ERROR_UNSUPPORTED,
						  "%s: sprof does not record the trace units' registers, "
						  "which a decoder needs", pmu->name),
					"use perf record for CoreSight; its recordings can be read");
	}
}

struct sp_error *auxtrace_put_info(const struct sp_ctx *ctx, const struct auxtrace_pmu *pmu,
				   const struct perf_event_mmap_page *page,
				   const struct auxtrace_settings *settings,
				   struct record_buffer *buffer)
{
	struct put put = {.buffer = buffer};
	size_t begin = buffer->count;
	put_u32(&put, SP_RECORD_AUXTRACE_INFO);
	put_u16(&put, 0);
	put_u16(&put, 0);
	put_u32(&put, pmu->type);
	put_u32(&put, 0);
	struct sp_error *error = put_words(&put, ctx, pmu, page, settings);
	if (!error && put.no_memory)
		error = error_no_memory();
	if (error) {
		buffer->count = begin;
		return error;
	}
	uint16_t size = buffer->count - begin;
	memcpy(buffer->items + begin + 6, &size, sizeof(size));
	return NULL;
}

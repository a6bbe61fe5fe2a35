/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces that PMUs write into AUX areas, as records. Bytes of an area follow an AUXTRACE record. An
 * AUXTRACE_INFO record near the start of the file states machine and settings for the decoder.
 */
#pragma once

#include <linux/perf_event.h>
#include "base/ctx.h"
#include "capture/output/write_queue.h"
#include "record/encode.h"
#include "ring/aux.h"

/* perf's enum auxtrace_type, the first word of AUXTRACE_INFO. */
enum auxtrace_type {
	AUXTRACE_NONE,
	AUXTRACE_INTEL_PT,
	AUXTRACE_INTEL_BTS,
	AUXTRACE_CS_ETM,
	AUXTRACE_ARM_SPE,
	AUXTRACE_S390_CPUMSF,
	AUXTRACE_HISI_PTT,
	AUXTRACE_VPA_DTL,
};

struct auxtrace_pmu {
	enum auxtrace_type type;
	uint32_t number; /* attr.type */
	char name[64];
};

/*
 * Returns the type of an event's tracing PMU, if perf has a decoder for it: intel_pt, intel_bts,
 * cs_etm, arm_spe_*, cpum_sf (its diagnostic event), hisi_ptt*, vpa_dtl; AUXTRACE_NONE otherwise.
 */
struct auxtrace_pmu auxtrace_pmu_of(const struct sp_ctx *ctx, const struct perf_event_attr *attr);

/* Returns the names of tracing PMUs in sysfs: "intel_pt, intel_bts"; NULL: none. Free it. */
char *auxtrace_pmus_here(const struct sp_ctx *ctx);

struct auxtrace_settings {
	bool snapshot;
	/* Records of context switches: 0 none, 2 of the tasks recorded, 3 of whole CPUs. */
	uint32_t switches;
};

/*
 * Appends the AUXTRACE_INFO record. `page`: a ring's control page, from which the clock conversion
 * is copied. Fails with SP_ERROR_UNSUPPORTED if data for the decoder cannot be found (CoreSight's
 * registers).
 */
struct sp_error *auxtrace_put_info(const struct sp_ctx *ctx, const struct auxtrace_pmu *pmu,
				   const struct perf_event_mmap_page *page,
				   const struct auxtrace_settings *settings,
				   struct record_buffer *buffer) SP_MUST_CHECK;

/* An AUX area, with its CPU or task. */
struct auxtrace_area {
	struct aux aux;
	uint32_t index, cpu; /* number of the area; UINT32_MAX: of a task on any CPU */
	int32_t tid;         /* -1: of all tasks of the CPU */
};

/*
 * Hands on what was traced since the last time, and gives the room back; *taken_ret is how many
 * bytes. With a queue that is full nothing is taken: the PMU then stops by itself, and says so in
 * an AUX record. Of an area that may be overwritten, which has to be stopped: all that is there.
 */
struct sp_error *auxtrace_drain(struct auxtrace_area *area, struct write_queue *write_queue,
				uint64_t *taken_ret) SP_MUST_CHECK;

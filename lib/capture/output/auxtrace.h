/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Traces: what PMUs write into AUX areas, on its way into the file. An area's bytes become an
 * AUXTRACE record, its trace behind it; an AUXTRACE_INFO record near the start of the file tells
 * the decoder what machine and what settings it is of.
 */
#ifndef CAPTURE_OUTPUT_AUXTRACE_H
#define CAPTURE_OUTPUT_AUXTRACE_H

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
 * The tracing PMU that an event is of; type AUXTRACE_NONE if it is of none. Of the PMUs that
 * perf's decoders know: intel_pt, intel_bts, cs_etm, arm_spe_*, cpum_sf (its diagnostic
 * event), hisi_ptt*, vpa_dtl.
 */
struct auxtrace_pmu auxtrace_pmu_of(const struct sp_ctx *ctx, const struct perf_event_attr *attr);

/* Returns the names of tracing PMUs in sysfs: "intel_pt, intel_bts"; NULL: none. Free it. */
char *auxtrace_pmus_here(const struct sp_ctx *ctx);

struct auxtrace_settings {
	bool snapshot;
	bool per_cpu;        /* areas are of CPUs, not of tasks */
	/* Records of context switches: 0 none, 2 of the tasks recorded, 3 of whole CPUs. */
	uint32_t switches;
};

/*
 * Appends the AUXTRACE_INFO record. `page` is a ring's control page: its clock conversion is
 * part of it. Fails with SP_ERROR_UNSUPPORTED where what the decoder needs cannot be found
 * (CoreSight's registers).
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

#endif

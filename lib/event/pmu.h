/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The PMUs that the kernel describes below /sys/bus/event_source/devices (Documentation/ABI/
 * testing/sysfs-bus-event_source-devices-*): their types, the fields of their configs, and the
 * events that they name.
 */
#ifndef EVENT_PMU_H
#define EVENT_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"
#include "proc/tracefs.h"

/* A directory of each. */
#define PMU_DEVICES "/sys/bus/event_source/devices"

#define PMU_CONFIG_COUNT 5 /* config, config1 to config4 */

/* A field: "umask" is "config:8-15". Its value's bits go to the bits that are set, from below. */
struct pmu_format {
	const char *name;
	uint32_t config; /* below PMU_CONFIG_COUNT */
	uint64_t bits;
};

/* One PMU. Strings and arrays are of the pmus' arena. */
struct pmu {
	const char *name;
	uint32_t type; /* attr.type */
	bool is_core;   /* counts what a processor executes, and follows tasks */
	bool is_uncore; /* it has a cpumask: counts on those CPUs, and for all that runs */
	bool loaded;    /* the members below have been read */
	struct pmu_format *formats;
	size_t format_count;
	const uint32_t *cpus; /* cpumask, or (hybrid) the CPUs that are of this kind; NULL: all */
	size_t cpu_count;
};

/* Zeroed: empty. */
struct pmus {
	VEC(struct pmu);
	const struct sp_ctx *ctx;
	struct arena arena;
};

/*
 * Names and types of all, by name. Where there is no sysfs there are none. Fails for want of
 * memory, and with SP_ERROR_FORMAT where a type is no number.
 */
struct sp_error *pmus_read(struct pmus *pmus, const struct sp_ctx *ctx) SP_MUST_CHECK;
void pmus_deinit(struct pmus *pmus);

/* The PMU of exactly that name, or NULL. */
struct pmu *pmus_find(const struct pmus *pmus, const char *name, size_t size);

/*
 * True if `typed` selects the PMU by perf's rules: the same name, a glob, or the name without
 * the prefix "uncore_" and the suffix "_NUMBER".
 */
bool pmu_matches(const struct pmu *pmu, const char *typed, size_t size);

/* Reads formats and cpumask, once. SP_ERROR_FORMAT names the file that is damaged. */
struct sp_error *pmu_load(struct pmus *pmus, struct pmu *pmu) SP_MUST_CHECK;

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name, size_t size);

/* The largest value of a field. */
uint64_t pmu_format_max(const struct pmu_format *format);

/* The field's bits for a value. */
uint64_t pmu_format_place(const struct pmu_format *format, uint64_t value);

/* An event that a PMU names. */
struct pmu_event {
	const char *name;  /* spelled as in sysfs */
	const char *terms; /* "event=0x3c,umask=1" */
	const char *unit;  /* NULL: none */
	double scale;      /* 1: none */
	bool snapshot, per_package;
};

/* The event of that name, whatever its case; ret->name is NULL where there is none. */
struct sp_error *pmu_event_find(struct pmus *pmus, const struct pmu *pmu, const char *name,
				size_t size, struct pmu_event *ret) SP_MUST_CHECK;

/* The names of all its events, sorted. */
struct sp_error *pmu_event_names(const struct pmus *pmus, const struct pmu *pmu,
				 struct name_list *list) SP_MUST_CHECK;

#endif

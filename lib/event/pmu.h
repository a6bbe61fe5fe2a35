/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PMUs in /sys/bus/event_source/devices (Documentation/ABI/testing/sysfs-bus-event_source-devices-*):
 * their types, the fields of their configs, and their named events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"
#include "proc/tracefs.h"

/* Directory with one directory for each PMU. */
#define PMU_DEVICES "/sys/bus/event_source/devices"

#define PMU_CONFIG_COUNT 5 /* config, and config1 to config4 */

/*
 * A named field: "umask" is "config:8-15". The value's bits are put at the set bits of `bits`, lowest
 * first.
 */
struct pmu_format {
	const char *name;
	uint32_t config; /* index of the config word */
	uint64_t bits;
};

/* One PMU. Strings and arrays are of the pmus' arena. */
struct pmu {
	const char *name;
	uint32_t type; /* attr.type */
	bool is_core;   /* counts code of a CPU, and can follow tasks */
	bool is_uncore; /* counts on the CPUs of its cpumask, for all tasks */
	bool loaded;    /* pmu_load() has read is_uncore and the members below */
	struct pmu_format *formats;
	size_t format_count;
	const uint32_t *cpus; /* cpumask, or the CPUs of this kind (hybrid); NULL: all */
	size_t cpu_count;
};

/* List of PMUs. Zeroed: empty. */
struct pmus {
	VEC(struct pmu);
	const struct sp_ctx *ctx;
	struct arena arena;
};

/*
 * Reads names and types of all PMUs, sorted by name. Without sysfs there are none. Fails when out of
 * memory, or with SP_ERROR_FORMAT if a type is not a number.
 */
struct sp_error *pmus_read(struct pmus *pmus, const struct sp_ctx *ctx) SP_MUST_CHECK;
void pmus_deinit(struct pmus *pmus);

/* Returns the PMU with exactly that name, or NULL. */
struct pmu *pmus_find(const struct pmus *pmus, const char *name, size_t size);

/*
 * True if `typed` selects the PMU by perf's rules: the same name, a glob, or the name without
 * the prefix "uncore_" and the suffix "_NUMBER".
 */
bool pmu_matches(const struct pmu *pmu, const char *typed, size_t size);

/* Reads the PMU's formats and cpumask, once. SP_ERROR_FORMAT has the path of a damaged file. */
struct sp_error *pmu_load(struct pmus *pmus, struct pmu *pmu) SP_MUST_CHECK;

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name, size_t size);

/* Returns the field's largest value. */
uint64_t pmu_format_max(const struct pmu_format *format);

/* Returns the config bits for a value of the field. */
uint64_t pmu_format_encode(const struct pmu_format *format, uint64_t value);

/* A named event of a PMU. */
struct pmu_event {
	const char *name;  /* spelled as in sysfs */
	const char *terms; /* "event=0x3c,umask=1" */
	const char *unit;  /* unit of the scaled count; NULL: none */
	double scale;      /* factor of the count; 1: none */
	bool snapshot, per_package;
};

/* Finds an event by name, ignoring case; ret->name is NULL if there is none. */
struct sp_error *pmu_event_find(struct pmus *pmus, const struct pmu *pmu, const char *name,
				size_t size, struct pmu_event *ret) SP_MUST_CHECK;

/* Lists the names of the PMU's events, sorted. */
struct sp_error *pmu_event_names(const struct pmus *pmus, const struct pmu *pmu,
				 struct name_list *list) SP_MUST_CHECK;

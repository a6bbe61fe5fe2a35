/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Header features that are prepared as payloads: caches, memory, PMUs, groups, BPF. */
#pragma once

#include "base/ctx.h"
#include "record/put.h"
#include "writer/writer.h"

/* Limit of features, above the number of kinds below. */
#define HOST_FEATURES_MAX 16

/* Zeroed: empty. */
struct host_features {
	struct record_buffer bytes;
	struct { unsigned int bit; size_t begin, end; } items[HOST_FEATURES_MAX];
	size_t count;
	struct writer_feature features[HOST_FEATURES_MAX]; /* set by host_features_done() */
};

void host_features_deinit(struct host_features *features);

/*
 * Begins and ends a feature: bytes that are appended between the two calls are its payload. Fails
 * only without memory.
 */
struct put host_feature_begin(struct host_features *features, unsigned int bit);
struct sp_error *host_feature_end(struct host_features *features,
				  const struct put *put) SP_MUST_CHECK;

/* Removes the begun feature, which is empty. */
void host_feature_drop(struct host_features *features);

/* Ends the feature if `keep`, else removes it. */
struct sp_error *host_feature_end_or_drop(struct host_features *features, const struct put *put,
					  bool keep) SP_MUST_CHECK;

/* Sets the count at offset `at` of the bytes, when all counted items are appended. */
void host_feature_set_count(struct host_features *features, size_t at, uint32_t count);

/* Fills `features`. Nothing may be added afterwards. */
void host_features_done(struct host_features *features);

/*
 * Adds CACHE, MEM_TOPOLOGY, CPU_PMU_CAPS, PMU_CAPS and HYBRID_TOPOLOGY, as far as sysfs has them.
 * The PMUs are those of `info`.
 */
struct sp_error *host_features_machine(struct host_features *features, const struct sp_ctx *ctx,
				       const struct writer_info *info) SP_MUST_CHECK;

/* Adds BPF_PROG_INFO and BPF_BTF of the loaded programs, if bpf(2) is permitted. */
struct sp_error *host_features_bpf(struct host_features *features,
				   const struct sp_ctx *ctx) SP_MUST_CHECK;

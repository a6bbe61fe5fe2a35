/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Features of the file that are payloads from here on: caches, memory, PMUs, groups, BPF. */
#ifndef CAPTURE_METADATA_HOST_FEATURES_H
#define CAPTURE_METADATA_HOST_FEATURES_H

#include "base/ctx.h"
#include "record/put.h"
#include "writer/writer.h"

/* More than there are kinds below. */
#define HOST_FEATURES_MAX 16

/* Zeroed: empty. */
struct host_features {
	struct record_buffer bytes;
	struct { unsigned int bit; size_t begin, end; } items[HOST_FEATURES_MAX];
	size_t count;
	struct writer_feature features[HOST_FEATURES_MAX]; /* by host_features_done() */
};

void host_features_deinit(struct host_features *features);

/* Bytes that are put between the two are the payload of that bit. Fails only without memory. */
struct put host_feature_begin(struct host_features *features, unsigned int bit);
struct sp_error *host_feature_end(struct host_features *features,
				  const struct put *put) SP_MUST_CHECK;

/* Takes the one that was begun back: there was nothing to say. */
void host_feature_drop(struct host_features *features);

/* One or the other. */
struct sp_error *host_feature_end_or_drop(struct host_features *features, const struct put *put,
					  bool keep) SP_MUST_CHECK;

/* A count at `at` of the bytes, which is known only when all it counts has been put. */
void host_feature_set_count(struct host_features *features, size_t at, uint32_t count);

/* Fills `features`; nothing is to be added afterwards. */
void host_features_done(struct host_features *features);

/*
 * CACHE, MEM_TOPOLOGY, CPU_PMU_CAPS, PMU_CAPS and HYBRID_TOPOLOGY, as far as sysfs says them.
 * PMUs are those of `info`.
 */
struct sp_error *host_features_machine(struct host_features *features, const struct sp_ctx *ctx,
				       const struct writer_info *info) SP_MUST_CHECK;

/* BPF_PROG_INFO and BPF_BTF of the programs that are loaded, where bpf(2) may be asked. */
struct sp_error *host_features_bpf(struct host_features *features,
				   const struct sp_ctx *ctx) SP_MUST_CHECK;

#endif

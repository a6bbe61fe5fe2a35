/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by a script and its tellers. Tellers are the threads' iterators over batches of records.
 */
#pragma once

#include <sprof/script.h>
#include <stdatomic.h>
#include "script/order.h"
#include "script/places.h"
#include "sideband/pass_one.h"
#include "stacks/stacks.h"

struct sp_script {
	struct sp_ctx *ctx;
	struct sp_reader *reader;
	struct sp_script_options options; /* its groups are the two below */
	struct sp_filter filter;
	struct sp_files files;
	struct pass_one_result read;
	struct place_sources place_sources;
	struct order order;
	VEC(size_t) batches; /* each batch's first index in `order`, and the end */
	unsigned int threads;
	atomic_ullong *nameless; /* by module: number of shown samples without a symbol */
};

/* Returns the teller's places, for the pass that only collects places to look up. */
struct places *teller_places(struct sp_teller *teller);

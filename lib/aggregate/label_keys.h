/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts of a frame that the keys of rows and the tree need. */
#ifndef AGGREGATE_LABEL_KEYS_H
#define AGGREGATE_LABEL_KEYS_H

#include "aggregate/labels.h"

/* Whether keys of branch ends and data addresses need symbols, dsos, or source lines. */
bool side_symbols(const bool *keys);
bool side_dsos(const bool *keys);
bool side_lines(const bool *keys);

/* Whether a key or the tree needs source lines. */
bool needs_lines(const struct label_options *options);

#endif

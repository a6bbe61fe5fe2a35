/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties of a set of keys: which data of frames they need. */
#ifndef FRAMES_LABEL_KEYS_H
#define FRAMES_LABEL_KEYS_H

#include "frames/labels.h"

/* Return whether any key for branch ends or data addresses needs symbols, dsos, or source lines. */
bool side_keys_need_symbols(const bool *keys);
bool side_keys_need_dsos(const bool *keys);
bool side_keys_need_lines(const bool *keys);

/* Returns whether any key, or the tree, needs source lines. */
bool needs_lines(const struct label_options *options);

#endif

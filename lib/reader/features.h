/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interprets the contents of features, for sp_reader_info(). */
#ifndef READER_FEATURES_H
#define READER_FEATURES_H

#include "base/error.h"

struct sp_reader;

/* Fills in the info and the events' names from the payloads that have been added. */
struct sp_error *features_interpret(struct sp_reader *reader) SP_MUST_CHECK;

#endif

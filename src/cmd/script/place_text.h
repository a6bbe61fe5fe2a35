/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places of code as text, in the form of perf script. Text goes to printer->out. */
#ifndef CMD_SCRIPT_PLACE_TEXT_H
#define CMD_SCRIPT_PLACE_TEXT_H

#include "cmd/script/script.h"

/* Appends "(DSO)" or, with DSOFF, "(DSO+0xOFFSET)". */
void place_put_dso(struct buffer *out, const struct sp_place *place, uint64_t fields);

/* Appends "NAME" or "NAME+0xOFFSET"; "[unknown]" without a name. */
void place_put_symbol(struct buffer *out, const struct sp_place_frame *frame, bool offset);

/* Appends the sampled place, on the line of its sample. */
void place_put(struct printer *printer, const struct sp_place *place, uint64_t fields);

/* Appends the call chain, a line for each function, until --stop-bt ends it. */
void place_put_chain(struct printer *printer, const struct sp_script_item *item, uint64_t fields);

#endif

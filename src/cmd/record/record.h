/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMD_RECORD_RECORD_H
#define CMD_RECORD_RECORD_H

#include <sprof/ctx.h>

/* Runs `sprof record`. `summary`: print the hottest functions at the end (record_print_hottest()). */
int record_run(struct sp_ctx *ctx, int argc, char **argv, bool summary);

#endif

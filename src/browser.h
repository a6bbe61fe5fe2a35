/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BROWSER_H
#define BROWSER_H

#include <stdbool.h>

/* Opens a file in the user's browser, without waiting for it. Returns false after printing an error. */
bool browser_open(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BROWSER_H
#define BROWSER_H

/* Opens a file in the user's browser, without waiting for it. If that fails, prints why. */
void browser_open(const char *path);

#endif

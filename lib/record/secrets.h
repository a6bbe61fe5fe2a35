/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Secrets in command lines. A word that contains password, passwd, token, secret, key, credential,
 * auth or bearer, in any case, introduces a value, which is replaced by ***:
 *
 *	--password=X  PASSWORD=X  "Authorization: X"	the rest of the word
 *	--password X  AUTH X				the next word, unless it names a file
 *	scheme://user:X@host  user:X@host		the user information of URLs
 *
 * A script that is one word ("sh -c '...'") is cut from its first secret to its end. Values without
 * such a word (mysql -pX, curl -u user:X, sshpass -p X) cannot be recognised.
 */
#pragma once

#include <stdbool.h>
#include "record/encode.h"

/* State of a command line: words are given in order. Zeroed, the program's name is next. */
struct secrets {
	bool started, cut_next;
};

/*
 * Appends a word without its secrets, and a NUL, to `text`. `is_file`: it names a file. Returns
 * false when out of memory.
 */
bool secrets_cut(struct secrets *secrets, const char *word, bool is_file,
		 struct record_buffer *text);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/secrets.h"
#include <stdio.h>
#include <string.h>
#include "test.h"

#define WORDS_MAX 6

/* A command line, and what is kept of it. Words that begin with "file:" name files. */
static const struct {
	const char *words[WORDS_MAX], *kept[WORDS_MAX];
} lines[] = {
	{{"p", "--password=X"}, {"p", "--password=***"}},
	{{"p", "--password", "X", "y"}, {"p", "--password", "***", "y"}},
	{{"p", "--PassWord", "-X"}, {"p", "--PassWord", "***"}},
	{{"p", "--db-passwd=X"}, {"p", "--db-passwd=***"}},
	{{"p", "--password-for-db=X"}, {"p", "--password-for-db=***"}},
	{{"p", "PASSWORD=X", "y"}, {"p", "PASSWORD=***", "y"}},
	{{"p", "API_TOKEN=X", "AWS_SECRET_ACCESS_KEY=X"},
	 {"p", "API_TOKEN=***", "AWS_SECRET_ACCESS_KEY=***"}},
	{{"p", "--token", "X", "--secret", "X"}, {"p", "--token", "***", "--secret", "***"}},
	{{"p", "--token", "--secret", "X", "y"}, {"p", "--token", "***", "***", "y"}},
	{{"p", "-key", "X"}, {"p", "-key", "***"}},
	{{"p", "--credential=X", "--auth=u:X"}, {"p", "--credential=***", "--auth=***"}},
	{{"redis-cli", "AUTH", "X"}, {"redis-cli", "AUTH", "***"}},
	{{"p", "--password=", "X"}, {"p", "--password=", "***"}},
	{{"curl", "-H", "Authorization: Bearer X"}, {"curl", "-H", "Authorization: ***"}},
	{{"curl", "-H", "Authorization:", "Bearer", "X"},
	 {"curl", "-H", "Authorization:", "***", "***"}},
	{{"curl", "-H", "X-Auth-Token:X"}, {"curl", "-H", "X-Auth-Token:***"}},
	{{"curl", "http://h/?a=b&token=X&c=d"}, {"curl", "http://h/?a=b&token=***"}},
	{{"curl", "-d", "{\"password\": \"X\"}"}, {"curl", "-d", "{\"password\": ***"}},
	{{"sh", "-c", "export SECRET='X'; make -j2"}, {"sh", "-c", "export SECRET=***"}},
	{{"sh", "-c", "p --password X"}, {"sh", "-c", "p --password ***"}},
	{{"git", "clone", "https://u:X@host/a"}, {"git", "clone", "https://***@host/a"}},
	{{"git", "clone", "https://X@host/a"}, {"git", "clone", "https://***@host/a"}},
	{{"p", "--url=https://u:X=X@h"}, {"p", "--url=https://***@h"}},
	{{"p", "a://u:X@h,a://u:X@h"}, {"p", "a://***@h"}},
	{{"p", "https://u:X'X@h/X/X@x"}, {"p", "https://***@x"}},
	{{"sh", "-c", "curl 'https://u:X@h' x"}, {"sh", "-c", "curl 'https://***@h' x"}},
	{{"p", "--db=u:X@h"}, {"p", "--db=***@h"}},
	/* No secrets: the program's name, files, words without a value. */
	{{"/usr/bin/passwd", "user"}, {"/usr/bin/passwd", "user"}},
	{{"gcc", "-DUSE_KEY", "file:x.c"}, {"gcc", "-DUSE_KEY", "x.c"}},
	{{"gcc", "file:keyboard.c", "-o", "x"}, {"gcc", "keyboard.c", "-o", "x"}},
	{{"gcc", "auth.c", "-o", "x"}, {"gcc", "auth.c", "-o", "x"}},
	{{"p", "--key-file", "file:/k/a.pem", "y"}, {"p", "--key-file", "/k/a.pem", "y"}},
	{{"scp", "git@host:a", "http://host/a"}, {"scp", "git@host:a", "http://host/a"}},
	{{"p", "", "@", "://@", ":"}, {"p", "", "@", "://***@", ":"}},
};

TEST(secrets_of_each_form_are_cut)
{
	struct record_buffer text = {0};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct secrets secrets = {0};
		for (size_t j = 0; j < WORDS_MAX && lines[i].words[j]; j++) {
			const char *word = lines[i].words[j];
			bool file = !strncmp(word, "file:", 5);
			text.count = 0;
			ck_assert(secrets_cut(&secrets, word + 5 * file, file, &text));
			ck_assert_msg(!strcmp((const char *)text.items, lines[i].kept[j]),
				      "line %zu: '%s' became '%s', not '%s'", i, word,
				      (const char *)text.items, lines[i].kept[j]);
			ck_assert_uint_eq(text.count, strlen((const char *)text.items) + 1);
		}
	}
	vec_deinit(&text);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "capture/config/command_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/cleanup.h"
#include "base/error.h"
#include "base/format.h"
#include "base/io.h"
#include "base/regular_file.h"

/* Limit of a script's first line. */
#define SCRIPT_LINE 256

char *command_path_find(const char *name)
{
	if (strchr(name, '/'))
		return strdup(name);
	const char *places = getenv("PATH");
	if (!places)
		places = "/bin:/usr/bin";
	while (*places) {
		size_t size = strcspn(places, ":");
		char *path = format_text("%.*s%s%s", (int)size, places, size ? "/" : "", name);
		if (!path || !access(path, X_OK))
			return path;
		free(path);
		places += size + (places[size] == ':');
	}
	return NULL;
}

bool command_path_follow(char **path)
{
	char line[SCRIPT_LINE + 1] = "";
	CLEANUP_CLOSE int fd = -1;
	struct stat status;
	sp_error_free(regular_file_open(NULL, *path, 0, &fd, &status));
	if (fd < 0 || io_read(fd, line, SCRIPT_LINE, NULL) || strncmp(line, "#!", 2))
		return false;
	line[strcspn(line, "\n")] = '\0';
	char *rest = line + 2 + strspn(line + 2, " \t");
	char *word = strsep(&rest, " \t");
	/* "/usr/bin/env python3" */
	const char *slash = strrchr(word, '/');
	bool is_env = rest && slash && !strcmp(slash, "/env");
	char *next = is_env ? command_path_find(strsep(&rest, " \t")) : strdup(word);
	free(*path);
	*path = next;
	return next;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "users.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef SP_STATIC
/* Returns the user with a name, or with a number if `name` is NULL. Valid until the next call. */
static const struct passwd *find(const char *name, uid_t uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;
	while (file && (user = fgetpwent(file)))
		if (name ? !strcmp(user->pw_name, name) : user->pw_uid == uid)
			break;
	if (file)
		fclose(file);
	return user;
}

static bool is_member(const struct group *group, const char *name)
{
	char **member = group->gr_mem;
	while (*member && strcmp(*member, name))
		member++;
	return *member;
}

/* Sets the groups of this process to those of a user. */
static bool set_groups(const struct passwd *user)
{
	gid_t groups[NGROUPS_MAX > 4096 ? 4096 : NGROUPS_MAX];
	size_t count = 0, most = sizeof(groups) / sizeof(*groups);
	FILE *file = fopen("/etc/group", "re");
	const struct group *group;
	groups[count++] = user->pw_gid;
	while (file && count < most && (group = fgetgrent(file)))
		if (is_member(group, user->pw_name))
			groups[count++] = group->gr_gid;
	if (file)
		fclose(file);
	return !setgroups(count, groups);
}
#else
static const struct passwd *find(const char *name, uid_t uid)
{
	return name ? getpwnam(name) : getpwuid(uid);
}

static bool set_groups(const struct passwd *user)
{
	return !initgroups(user->pw_name, user->pw_gid);
}
#endif

bool user_find(const char *name, uid_t *ret)
{
	const struct passwd *user = find(name, 0);
	if (user)
		*ret = user->pw_uid;
	return user;
}

bool user_become(uid_t uid, gid_t other)
{
	const struct passwd *user = find(NULL, uid);
	gid_t group = user ? user->pw_gid : other;
	return (user ? set_groups(user) : !setgroups(0, NULL)) && !setresgid(group, group, group) &&
	       !setresuid(uid, uid, uid);
}

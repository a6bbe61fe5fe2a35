/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Users of this machine. A program without shared libraries cannot ask the services that
 * nsswitch.conf names (LDAP, systemd): it reads /etc/passwd and /etc/group.
 */
#ifndef SPROF_USERS_H
#define SPROF_USERS_H

#include <stdbool.h>
#include <sys/types.h>

/* Gets the number of a user; false: there is none of that name. */
bool user_find(const char *name, uid_t *ret);

/*
 * Gives up root's rights for good: this process gets the user's number and groups. A user without
 * an entry gets no groups but `other`. Returns false and sets errno on failure.
 */
bool user_become(uid_t uid, gid_t other);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Evidence that a file is the recorded one, if the recording has no build-id for it. From strong
 * to weak:
 *
 *	machine    of the ELF file: must be able to run on the recorded architecture
 *	content    its size and hash, if our recorder stored them: proof, either way
 *	inode      must be equal, if it was recorded. The device may differ: on btrfs and overlayfs
 *	           a mapping has the underlying file's, stat(2) another. On overlayfs inode numbers
 *	           may differ, too: a different one counts as not recorded
 *	mtime      must not be after the recording
 *	ctime      after the recording: a finding
 *	host       another one: a finding if the inode is equal (containers have their own host
 *	           names); without an inode the file is refused
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/diagnosis.h"
#include "elf/image.h"
#include "machine/module.h"

enum host {
	HOST_UNKNOWN,
	HOST_SAME,
	HOST_OTHER,
};

/* Facts about a recording. Zeroed: unknown. */
struct provenance {
	bool same_kernel;   /* it was recorded under the running kernel */
	enum host host;     /* whether it was recorded on this host */
	const char *arch;   /* `uname -m`; borrowed; NULL: unknown */
	uint64_t until_ns;  /* end of the recording, in ns since 1970; 0: unknown */
};

enum identity {
	IDENTITY_SAME,
	IDENTITY_UNPROVEN, /* usable; the diagnosis has the cause of doubt */
	IDENTITY_OTHER,    /* refused; the diagnosis has the reason */
};

/*
 * Checks a file for a `module` without build-id. The diagnosis's problems are of enum binary_problem.
 */
enum identity identity_of(const struct provenance *provenance, const struct module *module,
			  const struct image *image, struct diagnosis *diagnosis);

/* Returns whether `arch` runs programs of that ELF machine; true if the architecture is unknown. */
bool identity_runs_on(uint16_t machine, const char *arch);

/* Returns whether an open file's st_ino may differ from the inode number in its mappings. */
bool identity_inode_unreliable(int fd);

/* Hashes a file as record/content.h states; false if it cannot be read. */
bool identity_hash(const struct image *image, uint64_t *ret);

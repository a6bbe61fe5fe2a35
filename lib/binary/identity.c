/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "binary/identity.h"

#include <elf.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include "base/io.h"
#include "binary/binary.h"
#include "record/content.h"

#define USE_SYMFS "use --symfs DIR with the recorded files, or --symfs / to use this one anyway"

#define BLOCK ((size_t)256 << 10)

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* Architectures by prefix of `uname -m`, with the ELF machines of programs that they run. */
static const struct {
	const char *arch;
	uint16_t machines[2];
} runs[] = {
	{"x86_64", {EM_X86_64, EM_386}},
	{"i", {EM_386, EM_386}}, /* i386 to i686; Linux no longer supports ia64 */
	{"aarch64", {EM_AARCH64, EM_ARM}},
	{"arm64", {EM_AARCH64, EM_ARM}},
	{"arm", {EM_ARM, EM_ARM}},
	{"ppc64", {EM_PPC64, EM_PPC}},
	{"ppc", {EM_PPC, EM_PPC}},
	{"s390", {EM_S390, EM_S390}},
	{"riscv", {EM_RISCV, EM_RISCV}},
	{"mips", {EM_MIPS, EM_MIPS}},
	{"loongarch", {EM_LOONGARCH, EM_LOONGARCH}},
	{"sparc64", {EM_SPARCV9, EM_SPARC32PLUS}},
};

bool identity_runs_on(uint16_t machine, const char *arch)
{
	for (size_t i = 0; arch && i < count_of(runs); i++)
		if (!strncmp(arch, runs[i].arch, strlen(runs[i].arch)))
			return machine == runs[i].machines[0] || machine == runs[i].machines[1];
	return true;
}

bool identity_inode_unreliable(int fd)
{
	struct statfs status;
	return fd >= 0 && fstatfs(fd, &status) == 0 && status.f_type == OVERLAYFS_SUPER_MAGIC;
}

bool identity_hash(const struct image *image, uint64_t *ret)
{
	CLEANUP_FREE uint8_t *block = malloc(BLOCK);
	uint64_t size = image->size < CONTENT_HASHED ? image->size : CONTENT_HASHED;
	uint64_t hash = 0;
	for (uint64_t at = 0; at < size; at += BLOCK) {
		size_t wanted = size - at < BLOCK ? (size_t)(size - at) : BLOCK, done;
		if (!block || io_pread(image->fd, block, wanted, at, &done) || done != wanted)
			return false;
		hash = content_hash_add(hash, block, wanted);
	}
	*ret = hash;
	return true;
}

static enum identity refuse(struct diagnosis *diagnosis, const struct image *image,
			    const char *what, uint64_t here, uint64_t recorded)
{
	diagnosis_set(diagnosis, BINARY_WRONG, USE_SYMFS,
		      "%s is not the recorded file: %s %llu, recorded %llu", image->path, what,
		      (unsigned long long)here, (unsigned long long)recorded);
	return IDENTITY_OTHER;
}

static enum identity compare_content(const struct module *module, const struct image *image,
				     struct diagnosis *diagnosis)
{
	uint64_t hash;
	if (image->size != module->content_size)
		return refuse(diagnosis, image, "size", image->size, module->content_size);
	if (identity_hash(image, &hash) && hash == module->content_hash)
		return IDENTITY_SAME;
	diagnosis_set(diagnosis, BINARY_WRONG, USE_SYMFS,
		      "%s is not the recorded file: its content differs", image->path);
	return IDENTITY_OTHER;
}

static enum identity compare_times(const struct provenance *provenance, const struct image *image,
				   struct diagnosis *diagnosis)
{
	if (!provenance->until_ns || image->changed_ns <= provenance->until_ns)
		return IDENTITY_SAME;
	bool modified = image->modified_ns > provenance->until_ns;
	diagnosis_set(diagnosis, modified ? BINARY_WRONG : BINARY_UNPROVEN, USE_SYMFS,
		      modified ? "%s was modified after it was recorded" :
				 "%s was changed (ctime) after it was recorded", image->path);
	return modified ? IDENTITY_OTHER : IDENTITY_UNPROVEN;
}

static enum identity compare_host(const struct provenance *provenance, const struct image *image,
				  bool has_inode, struct diagnosis *diagnosis)
{
	if (provenance->host == HOST_SAME || (provenance->host == HOST_UNKNOWN && has_inode))
		return IDENTITY_SAME;
	bool refused = provenance->host == HOST_OTHER && !has_inode;
	diagnosis_set(diagnosis, refused ? BINARY_WRONG : BINARY_UNPROVEN, USE_SYMFS,
		      provenance->host == HOST_UNKNOWN ?
			      "the recording has neither inode nor build-id of %s" :
		      refused ? "%s was recorded on another host, without inode or build-id" :
				"%s has the recorded inode, but was recorded on another host",
		      image->path);
	return refused ? IDENTITY_OTHER : IDENTITY_UNPROVEN;
}

enum identity identity_of(const struct provenance *provenance, const struct module *module,
			  const struct image *image, struct diagnosis *diagnosis)
{
	bool same_inode = module->ino == image->inode;
	bool has_inode = module->ino && (same_inode || !identity_inode_unreliable(image->fd));
	if (!identity_runs_on(image->machine, provenance->arch)) {
		diagnosis_set(diagnosis, BINARY_WRONG, USE_SYMFS,
			      "%s is not the recorded file: ELF machine %u, recorded on %s",
			      image->path, image->machine, provenance->arch);
		return IDENTITY_OTHER;
	}
	if (module->content_size)
		return compare_content(module, image, diagnosis);
	if (has_inode && !same_inode)
		return refuse(diagnosis, image, "inode", image->inode, module->ino);
	enum identity times = compare_times(provenance, image, diagnosis);
	if (times == IDENTITY_OTHER)
		return times;
	enum identity host = compare_host(provenance, image, has_inode, diagnosis);
	return host == IDENTITY_SAME ? times : host;
}

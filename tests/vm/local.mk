# SPDX-License-Identifier: GPL-2.0-or-later
# The live tests on other kernels, and the readers on other architectures: tests/vm/check-vm.
EXTRA_DIST += \
	tests/vm/boot \
	tests/vm/check-static \
	tests/vm/check-vm \
	tests/vm/corpus \
	tests/vm/cross \
	tests/vm/expected \
	tests/vm/fetch \
	tests/vm/guest \
	tests/vm/init \
	tests/vm/judge.awk \
	tests/vm/kernels \
	tests/vm/readers \
	tests/vm/static-expected \
	tests/vm/static-init \
	tests/vm/tests

# VM='5.10-amd64 6.1-arm64': these alone.
.PHONY: check-vm clean-vm
check-vm: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		$(SHELL) $(top_srcdir)/tests/vm/check-vm $(VM)
clean-vm:
	rm -rf vm
mostlyclean-local: clean-vm

dnl SPDX-License-Identifier: GPL-2.0-or-later
dnl The project's own configure options, so that configure.ac names intentions.

dnl SP_CHECK_LINKS(option, flags, program): an option that the compiler cannot
dnl follow fails here and not in the middle of make.
AC_DEFUN([SP_CHECK_LINKS], [
AC_MSG_CHECKING([whether $CC can do $1])
sp_save_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $2"
AC_LINK_IFELSE([AC_LANG_SOURCE([$3])], [AC_MSG_RESULT([yes])],
	[AC_MSG_RESULT([no])
	 AC_MSG_ERROR([$CC cannot do $1: another CC, or its runtime libraries, may])])
CFLAGS=$sp_save_CFLAGS
])

dnl --enable-sanitize=LIST: one option for address, undefined, thread.
dnl clang leaves the sanitizer's runtime undefined in a shared library, so
dnl --no-undefined is only for builds without one.
AC_DEFUN([SP_SANITIZE], [
AC_ARG_ENABLE([sanitize],
	[AS_HELP_STRING([--enable-sanitize=LIST],
		[build with these sanitizers, e.g. address,undefined or thread])],
	[], [enable_sanitize=no])
SANITIZE_FLAGS= NO_UNDEFINED=
AS_CASE([$enable_sanitize],
	[no], [NO_UNDEFINED=-Wl,--no-undefined],
	[yes], [enable_sanitize=address,undefined])
AS_IF([test "x$enable_sanitize" != xno],
	[SANITIZE_FLAGS="-fsanitize=$enable_sanitize -fno-omit-frame-pointer -fno-sanitize-recover=all"
	 SP_CHECK_LINKS([--enable-sanitize=$enable_sanitize], [$SANITIZE_FLAGS], [int main(void) { return 0; }])])
AC_SUBST([SANITIZE_FLAGS])
AC_SUBST([NO_UNDEFINED])
])

dnl --enable-fuzzing: link the fuzz targets with libFuzzer (clang) instead of
dnl the plain driver that runs their corpus once.
AC_DEFUN([SP_FUZZING], [
AC_ARG_ENABLE([fuzzing],
	[AS_HELP_STRING([--enable-fuzzing], [link the fuzz targets with libFuzzer (needs clang and --enable-sanitize)])],
	[], [enable_fuzzing=no])
FUZZING_CFLAGS= FUZZING_LDFLAGS=
AS_IF([test "x$enable_fuzzing" = xyes], [
	AS_IF([test "x$enable_sanitize" = xno],
		[AC_MSG_ERROR([--enable-fuzzing: without sanitizers little is found; add --enable-sanitize=address,undefined])])
	FUZZING_CFLAGS=-fsanitize=fuzzer-no-link
	FUZZING_LDFLAGS=-fsanitize=fuzzer
	SP_CHECK_LINKS([--enable-fuzzing], [$FUZZING_LDFLAGS],
		[int LLVMFuzzerTestOneInput(const unsigned char *, __SIZE_TYPE__);
		 int LLVMFuzzerTestOneInput(const unsigned char *p, __SIZE_TYPE__ n) { return !p && n; }])])
AC_SUBST([FUZZING_CFLAGS])
AC_SUBST([FUZZING_LDFLAGS])
AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
])

dnl --enable-werror, for CI.
AC_DEFUN([SP_WARNINGS], [
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [treat warnings as errors])],
	[], [enable_werror=no])
AX_APPEND_COMPILE_FLAGS([-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wvla -Wundef -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wformat=2 -Wimplicit-fallthrough -Wduplicated-cond \
	-Wno-missing-field-initializers], [WARN_CFLAGS], [-Werror])
AS_IF([test "x$enable_werror" = xyes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
AC_SUBST([WARN_CFLAGS])
])

dnl --disable-rpath: the program finds its library without the linker's cache, in its own tree
dnl (DESTDIR, or moved) before the configured one. The configured directory is stored as well:
dnl the loader ignores $ORIGIN in a program that setcap gave capabilities.
AC_DEFUN([SP_RPATH], [
AC_ARG_ENABLE([rpath],
	[AS_HELP_STRING([--disable-rpath], [do not store the library directory in sprof])],
	[], [enable_rpath=yes])
RPATH_LDFLAGS=
AS_IF([test "x$enable_rpath" != xno],
	[RPATH_LDFLAGS='-Wl,--enable-new-dtags,-rpath,\$$ORIGIN/$(shell realpath -m --relative-to=$(bindir) $(libdir)),-rpath,$(libdir)'])
AC_SUBST([RPATH_LDFLAGS])
])

dnl SP_WITH_LIBRARY(name, VARIABLE, pkg-config module, what its absence costs)
AC_DEFUN([SP_WITH_LIBRARY], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=auto|yes|no], [use $1; without it $4])],
	[], [with_$1=auto])
have_$1=no
AS_IF([test "x$with_$1" != xno], [
	PKG_CHECK_MODULES([$2], [$3], [have_$1=yes], [
		AS_IF([test "x$with_$1" = xyes], [AC_MSG_ERROR([--with-$1=yes, but $3 was not found])])])])
AS_IF([test "x$have_$1" = xyes],
	[AC_DEFINE([HAVE_$2], [1], [$1 is available])
	 SP_OPTIONAL="$SP_OPTIONAL
  $1: yes"],
	[SP_OPTIONAL="$SP_OPTIONAL
  $1: no ($4)"])
AM_CONDITIONAL([HAVE_$2], [test "x$have_$1" = xyes])
])

dnl --enable-static-program: sprof needs no shared library, not even the C library's.
AC_DEFUN([SP_STATIC_PROGRAM], [
AC_ARG_ENABLE([static-program],
	[AS_HELP_STRING([--enable-static-program], [link the command without shared libraries])],
	[], [enable_static_program=no])
PROGRAM_LDFLAGS=
AS_IF([test "x$enable_static_program" = xyes], [
	AS_IF([test "x$enable_shared" = xyes],
		[AC_MSG_ERROR([--enable-static-program: add --disable-shared])])
	PROGRAM_LDFLAGS=-all-static
	with_debuginfod=no
	AC_DEFINE([SP_STATIC], [1], [nothing can be loaded at run time])])
AC_SUBST([PROGRAM_LDFLAGS])
AM_CONDITIONAL([STATIC_PROGRAM], [test "x$enable_static_program" = xyes])
])

dnl SP_STATIC_LIBS: after all libraries were found. An archive's needs follow it. `pkg-config --static` would
dnl also want what libdw needs, of which nothing is linked.
AC_DEFUN([SP_STATIC_LIBS], [
AS_IF([test "x$enable_static_program" = xyes],
	[LIBS="$LIBUNWIND_LIBS -lelf $LZMA_LIBS $ZSTD_LIBS $ZLIB_LIBS $LIBS"])
])

dnl --with-debuginfod: the library is loaded when it is asked for, so that nothing is
dnl needed to build but dlopen().
AC_DEFUN([SP_WITH_DEBUGINFOD], [
AC_ARG_WITH([debuginfod], [AS_HELP_STRING([--with-debuginfod=auto|yes|no],
	[load libdebuginfod when it is asked for; without it $1])],
	[], [with_debuginfod=auto])
AS_IF([test "x$with_debuginfod" != xno], [
	AC_SEARCH_LIBS([dlopen], [dl], [with_debuginfod=yes], [
		AS_IF([test "x$with_debuginfod" = xyes],
			[AC_MSG_ERROR([--with-debuginfod=yes, but there is no dlopen()])])
		with_debuginfod=no])])
AS_IF([test "x$with_debuginfod" = xyes],
	[SP_OPTIONAL="$SP_OPTIONAL
  debuginfod: if it is there when asked for"],
	[SP_OPTIONAL="$SP_OPTIONAL
  debuginfod: no ($1)"])
AM_CONDITIONAL([HAVE_DEBUGINFOD], [test "x$with_debuginfod" = xyes])
])

dnl --with-libpfm: its header is needed to build; the library is loaded when a vendor's name is
dnl asked for, since its tables would take longer to link than most commands run.
AC_DEFUN([SP_WITH_LIBPFM], [
AC_ARG_WITH([libpfm], [AS_HELP_STRING([--with-libpfm=auto|yes|no],
	[load libpfm when a vendor's event is asked for; without it $1])],
	[], [with_libpfm=auto])
have_libpfm=no
AS_IF([test "x$with_libpfm" != xno], [
	AC_CHECK_HEADER([perfmon/pfmlib_perf_event.h], [have_libpfm=yes])
	AC_SEARCH_LIBS([dlopen], [dl], [], [have_libpfm=no])
	AS_IF([test "x$enable_static_program" = xyes],
		[AC_CHECK_LIB([pfm], [pfm_initialize], [LIBPFM_LIBS=-lpfm], [have_libpfm=no])])
	AS_IF([test "x$with_libpfm$have_libpfm" = xyesno],
		[AC_MSG_ERROR([--with-libpfm=yes, but perfmon/pfmlib_perf_event.h was not found])])])
AS_IF([test "x$have_libpfm" = xyes],
	[SP_OPTIONAL="$SP_OPTIONAL
  libpfm: ${LIBPFM_LIBS:-if it is there when asked for}"],
	[SP_OPTIONAL="$SP_OPTIONAL
  libpfm: no ($1)"])
AC_SUBST([LIBPFM_LIBS])
AM_CONDITIONAL([HAVE_LIBPFM], [test "x$have_libpfm" = xyes])
])

dnl SP_WITH_CAPSTONE(WHAT IS LOST WITHOUT IT): its header is wanted here, it itself at run time.
AC_DEFUN([SP_WITH_CAPSTONE], [
AC_ARG_WITH([capstone], [AS_HELP_STRING([--with-capstone=auto|yes|no],
	[load capstone when disassembled code is asked for; without it $1])],
	[], [with_capstone=auto])
have_capstone=no
AS_IF([test "x$with_capstone" != xno], [
	AC_CHECK_HEADER([capstone/capstone.h], [have_capstone=yes])
	AC_SEARCH_LIBS([dlopen], [dl], [], [have_capstone=no])
	AS_IF([test "x$enable_static_program" = xyes],
		[AC_CHECK_LIB([capstone], [cs_open], [CAPSTONE_LIBS=-lcapstone], [have_capstone=no])])
	AS_IF([test "x$with_capstone$have_capstone" = xyesno],
		[AC_MSG_ERROR([--with-capstone=yes, but capstone/capstone.h was not found])])])
AS_IF([test "x$have_capstone" = xyes],
	[SP_OPTIONAL="$SP_OPTIONAL
  capstone: ${CAPSTONE_LIBS:-if it is there when asked for}"],
	[SP_OPTIONAL="$SP_OPTIONAL
  capstone: no ($1)"])
AC_SUBST([CAPSTONE_LIBS])
AM_CONDITIONAL([HAVE_CAPSTONE], [test "x$have_capstone" = xyes])
])

dnl SP_WITH_NCURSES(WHAT IS LOST WITHOUT IT): its header is needed to build; the library is loaded when
dnl the browser begins, so that other commands do not link it.
AC_DEFUN([SP_WITH_NCURSES], [
AC_ARG_WITH([ncurses], [AS_HELP_STRING([--with-ncurses=auto|yes|no],
	[load ncursesw for the browser in the terminal; without it $1])],
	[], [with_ncurses=auto])
have_ncurses=no
AS_IF([test "x$with_ncurses" != xno], [
	AC_MSG_CHECKING([for curses.h of ncurses with wide characters])
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
		#define NCURSES_WIDECHAR 1
		#include <curses.h>
		int try(WINDOW *window, MEVENT *mouse);
		int try(WINDOW *window, MEVENT *mouse)
		{
			wint_t key;
			return wget_wch(window, &key) + getmouse(mouse) + NCURSES_VERSION_MAJOR;
		}]])], [have_ncurses=yes])
	AC_MSG_RESULT([$have_ncurses])
	AC_SEARCH_LIBS([dlopen], [dl], [], [have_ncurses=no])
	AS_IF([test "x$enable_static_program$have_ncurses" = xyesyes], [
		NCURSES_LIBS=-lncursesw
		AC_CHECK_LIB([tinfo], [tigetstr], [NCURSES_LIBS="-lncursesw -ltinfo"])
		AC_CHECK_LIB([ncursesw], [wget_wch], [:], [have_ncurses=no NCURSES_LIBS=], [$NCURSES_LIBS])])
	AS_IF([test "x$with_ncurses$have_ncurses" = xyesno],
		[AC_MSG_ERROR([--with-ncurses=yes, but curses.h of ncursesw was not found])])])
AS_IF([test "x$have_ncurses" = xyes],
	[AC_DEFINE([HAVE_NCURSES], [1], [the browser in the terminal is built])
	 SP_OPTIONAL="$SP_OPTIONAL
  ncurses: ${NCURSES_LIBS:-if it is there when asked for}"],
	[SP_OPTIONAL="$SP_OPTIONAL
  ncurses: no ($1)"])
AC_SUBST([NCURSES_LIBS])
AM_CONDITIONAL([HAVE_NCURSES], [test "x$have_ncurses" = xyes])
])

dnl check, for `make check` alone: users can build without it.
AC_DEFUN([SP_CHECK], [
PKG_CHECK_MODULES([CHECK], [check >= 0.15], [have_check=yes], [
	have_check=no
	CHECK_CFLAGS='$(error the unit tests need the library check: install it and configure again)'])
])

AC_DEFUN([SP_SUMMARY], [
AC_MSG_NOTICE([
sprof $VERSION
  prefix:        $prefix
  compiler:      $CC $CFLAGS
  sanitizers:    $enable_sanitize
  fuzzing:       $enable_fuzzing
  unit tests:    $have_check
optional libraries:$SP_OPTIONAL
])
])

dnl SP_WITH_LIBIBERTY(what its absence costs): the demangler of GCC and binutils.
dnl It is a static archive without a .pc file; only a position-independent one
dnl can go into a shared library, so that is what is tried.
AC_DEFUN([SP_WITH_LIBIBERTY], [
AC_ARG_WITH([libiberty], [AS_HELP_STRING([--with-libiberty=auto|yes|no],
	[use libiberty; without it $1])],
	[], [with_libiberty=auto])
have_libiberty=no LIBIBERTY_LIBS=
AS_IF([test "x$with_libiberty" != xno], [
	demangle_h=
	AC_CHECK_HEADER([libiberty/demangle.h], [demangle_h='<libiberty/demangle.h>'], [
		AC_CHECK_HEADER([demangle.h], [demangle_h='<demangle.h>'])])
	AC_MSG_CHECKING([for a position-independent libiberty])
	sp_save_libs=$LIBS sp_save_cflags=$CFLAGS
	LIBS="-liberty $LIBS" CFLAGS="$CFLAGS -fPIC -shared -Wl,-z,defs"
	AS_IF([test -n "$demangle_h"], [
		AC_LINK_IFELSE([AC_LANG_SOURCE([[
			#include <stddef.h>
			#include $demangle_h
			int try(const char *name, demangle_callbackref callback);
			int try(const char *name, demangle_callbackref callback)
			{
				return dlang_demangle(name, 0) ||
				       rust_demangle_callback(name, 0, callback, NULL) ||
				       cplus_demangle_v3_callback(name, 0, callback, NULL);
			}]])], [have_libiberty=yes])])
	LIBS=$sp_save_libs CFLAGS=$sp_save_cflags
	AC_MSG_RESULT([$have_libiberty])
	AS_IF([test "x$with_libiberty$have_libiberty" = xyesno],
		[AC_MSG_ERROR([--with-libiberty=yes, but it was not found])])])
AS_IF([test "x$have_libiberty" = xyes],
	[LIBIBERTY_LIBS=-liberty
	 AC_DEFINE_UNQUOTED([SP_DEMANGLE_H], [$demangle_h], [libiberty's header])
	 SP_OPTIONAL="$SP_OPTIONAL
  libiberty: yes"],
	[SP_OPTIONAL="$SP_OPTIONAL
  libiberty: no ($1)"])
AC_SUBST([LIBIBERTY_LIBS])
AM_CONDITIONAL([HAVE_LIBIBERTY], [test "x$have_libiberty" = xyes])
])

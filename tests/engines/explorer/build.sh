#!/bin/sh
# Builds the explorer's program for one implementation: its sources and the battery's scenarios compiled
# with -fsanitize=thread, and linked with the explorer in place of ThreadSanitizer's library.
#
# usage: build.sh RC_H PROGRAM LIBRARY CHECKED OPTIMISATION [OBJECT_OR_LIBRARY...]
#   RC_H          absolute path of the implementation; *.c, *.cc, *.cpp beside it belong to it
#   LIBRARY       librclab_explorer.a
#   CHECKED       0 or 1: RC_CHECKED
#   OPTIMISATION  -O2, -O0
# CC and CXX name the compilers. What is compiled and what is not supported is said on standard output.
# Exit: 0 built, 1 a compiler or linker failed, 3 the machine lacks something, 4 not supported, 127 there
# is no such compiler. The last line says why.
set -u

if [ $# -lt 5 ]; then
    sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,13p' >&2
    exit 2
fi
header=$1
program=$2
library=$3
checked=$4
optimisation=$5
shift 5
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$program.parts
mkdir -p "$work" || exit 1

unsupported() {
    echo "unsupported: $*"
    exit 4
}

lacking() {
    echo "unsupported: $*"
    exit 3
}

for tool in objcopy objdump nm; do
    command -v $tool >/dev/null || lacking "$tool of binutils is not installed"
done
case $(uname -s)-$(uname -m) in
Linux-x86_64) ;;
*) lacking "the explorer runs on Linux on x86-64, this is $(uname -s) on $(uname -m)" ;;
esac
[ -f "$library" ] || lacking "there is no $library; build rclab again"

# Names of the C library that the subject must not reach.
renames=
for name in malloc calloc realloc aligned_alloc posix_memalign free memcpy memmove memset memcmp; do
    renames="$renames --redefine-sym $name=rcx_$name"
done
for name in init destroy lock trylock unlock; do
    renames="$renames --redefine-sym pthread_mutex_$name=rcx_mutex_$name"
    renames="$renames --redefine-sym mtx_$name=rcx_mtx_$name"
done
renames="$renames --redefine-sym sched_yield=rcx_yield --redefine-sym thrd_yield=rcx_thrd_yield"
for name in Znwm Znam ZdlPv ZdlPvm ZdaPv ZdaPvm ZnwmSt11align_val_t ZnamSt11align_val_t \
    ZnwmRKSt9nothrow_t ZnamRKSt9nothrow_t ZdlPvSt11align_val_t ZdlPvmSt11align_val_t \
    ZdaPvSt11align_val_t ZdaPvmSt11align_val_t; do
    renames="$renames --redefine-sym _$name=rcx_$name"
done

# check OBJECT NAME: is it something the model knows?
check() {
    nm "$1" | grep -q ' U __tsan_' ||
        unsupported "$2 is not instrumented (compiled without -fsanitize=thread)"
    # Atomics are calls; a locked instruction can only come from inline assembly.
    if objdump -d --no-show-raw-insn "$1" |
        grep -E -q '^[^:]*:[[:space:]]+lock |[[:space:]]xchg[bwlq]? +.*\('; then
        unsupported "$2 has atomic instructions of its own (inline assembly): the model cannot see them"
    fi
    wide=$(nm "$1" | sed -n 's/^ *U \(__atomic_[a-z_0-9]*\)$/\1/p' | head -1)
    [ -z "$wide" ] || unsupported "$2 uses atomics wider than 16 bytes ($wide)"
}

# What the subject may call beside itself, the explorer and the battery: functions that keep nothing and write
# nowhere that the explorer would have to see, and the parts of C++ that a compiler calls by itself. Whatever else
# (threads, signals, time, random numbers, string functions that write) would go on behind the model's back.
known='(__tsan_|rcx_|rcb_|rc_mem_|rc_trap).*|v?snprintf|f?printf|f?puts|putchar|fputc|fwrite|fflush|stderr|stdout|str(len|cmp|ncmp|chr|rchr|str)'
known="$known|memchr|abort|_?exit|__assert_fail|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__tls_get_addr|__errno_location"
known="$known|pthread_self|thrd_current|__libc_single_threaded|__dso_handle|__cxa_.*|__gxx_personality_v0|_Unwind_Resume"
known="$known|_ZT[VIS].*|_ZNKSt9type_info.*|_ZSt9terminatev|_ZSt[0-9]+__throw_.*|_ZSt7nothrow|_ZNSt[0-9]+(bad_[a-z_]+|exception|(logic|runtime|length)_error)[CD].*"
known="$known|_ZNSt19_Sp_make_shared_tag5_S_eq.*|_ZdlPv.*|_Znwm.*"

# check_calls OBJECT...: nothing is called that is not known.
check_calls() {
    nm --undefined-only "$@" | sed -n 's/^ *[UvwV] //p' | sort -u >"$work/called"
    nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u >"$work/defined"
    beyond=$(comm -23 "$work/called" "$work/defined" | grep -v -x -E "$known" | head -1)
    [ -z "$beyond" ] || unsupported "it calls $beyond, which the explorer does not know"
}

# Code that is not to be instrumented would not be seen.
if grep -q -s -E 'no_sanitize|disable_sanitizer' "${header%/*}"/*.h "${header%/*}"/*.c "${header%/*}"/*.cc \
    "${header%/*}"/*.cpp; then
    unsupported "some of it asks not to be instrumented (no_sanitize)"
fi

cc=${CC:-cc}
cxx=${CXX:-c++}
flags="$optimisation -g -D_GNU_SOURCE -DRC_PRESET=1 -DRC_EXPLORER=1 -DRC_CHECKED=$checked
    -fsanitize=thread -fno-builtin -U_FORTIFY_SOURCE -fno-pie -fno-stack-protector -w
    -I$root/impls -I$root/harness -I$root/tests/conformance -I$root/tests/engines/explorer"

# compile COMPILER STANDARD SOURCE OBJECT NAME FLAG...
compile() {
    compiler=$1
    standard=$2
    source=$3
    object=$4
    name=$5
    shift 5
    command -v "${compiler%% *}" >/dev/null || {
        echo "$compiler: cannot be run"
        exit 127
    }
    # shellcheck disable=SC2086 # lists of words
    $compiler $standard $flags "$@" -c "$source" -o "$object" || exit 1
    check "$object" "$name"
    # shellcheck disable=SC2086
    objcopy $renames "$object" || exit 1
}

compile "$cc" -std=gnu17 "$root/tests/engines/explorer/battery_program.c" "$work/program.o" \
    "${header##*/}" "-DRC_IMPL_HEADER=\"$header\""
objects=$work/program.o
linker=$cc
count=0
for source in "${header%/*}"/*.c "${header%/*}"/*.cc "${header%/*}"/*.cpp; do
    [ -f "$source" ] || continue
    count=$((count + 1))
    case $source in
    *.c) compile "$cc" -std=gnu17 "$source" "$work/own$count.o" "${source##*/}" ;;
    *)
        compile "$cxx" -std=gnu++20 "$source" "$work/own$count.o" "${source##*/}"
        linker=$cxx
        ;;
    esac
    objects="$objects $work/own$count.o"
done
for object; do
    case $object in
    *.o)
        check "$object" "${object##*/}"
        count=$((count + 1))
        # shellcheck disable=SC2086
        objcopy $renames "$object" "$work/own$count.o" || exit 1
        objects="$objects $work/own$count.o"
        ;;
    *) unsupported "$object is not instrumented (a library; give objects compiled with -fsanitize=thread)" ;;
    esac
done
# shellcheck disable=SC2086
check_calls $objects
# shellcheck disable=SC2086
$linker -no-pie -g $objects "$library" -pthread -ldl -lm -o "$program" || exit 1

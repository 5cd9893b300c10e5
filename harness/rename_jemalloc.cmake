# Makes OUT from ARCHIVE, Debian's libjemalloc.a: without the C++ member (it defines operator new), and
# with every public symbol renamed to je_*, so that malloc and free stay glibc's.
cmake_policy(VERSION 3.25)
set(work ${OUT}.work)
file(REMOVE_RECURSE ${work} ${OUT})
file(MAKE_DIRECTORY ${work})
configure_file(${ARCHIVE} ${work}/j.a COPYONLY)
execute_process(COMMAND ${AR} d j.a jemalloc_cpp.o WORKING_DIRECTORY ${work}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} -g --defined-only j.a WORKING_DIRECTORY ${work}
                OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ [A-Z] [^\n]+" rows "${symbols}")
set(renames "")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^[0-9a-f]+ [A-Z] " "" symbol "${row}")
  if(NOT symbol MATCHES "^je_")
    string(APPEND renames "${symbol} je_${symbol}\n")
  endif()
endforeach()
file(WRITE ${work}/renames "${renames}")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=renames j.a ${OUT} WORKING_DIRECTORY ${work}
                COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${work})

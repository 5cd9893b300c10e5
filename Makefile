# Front door. `make help` says what there is; the work is in CMake, rclab and the scripts.
#
#   QUICK=1        a coarser answer in less time
#   IMPL=PATH      one more implementation, an rc.h anywhere
#   IMPL_LIBS=...  objects or libraries that it needs
#   OUT=DIR        where results go (default results/<date and time>)
#   A=DIR B=DIR    runs to compare; ARGS=... more options for it
#   RUNS=N PAIRS=N KEEP=1   of calibrate: how many, and whether to keep what it found in results/reference
.PHONY: help deps build bench compare calibrate conform mutants explore-orders plots report check test lint clean
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
override IMPL_PATH := $(if $(IMPL),$(abspath $(IMPL)))
empty :=
space := $(empty) $(empty)
override LIBS := $(subst $(space),;,$(foreach lib,$(IMPL_LIBS),$(if $(wildcard $(lib)),$(abspath $(lib)),$(lib))))
RUN = $(or $(OUT),results/latest)

help:
	@echo "make deps bench   install what is missing, build, measure: about four minutes (QUICK=1: one)"
	@echo "make deps test    install what is missing, run every test: under 15 minutes on 2 cores"
	@echo "make check        the quick tests: under 2 minutes"
	@echo "make bench IMPL=/path/rc.h   the same with an implementation of yours beside the others"
	@echo "make conform IMPL=/path/rc.h put it to the test, clause by clause; without IMPL: all shipped ones"
	@echo "make compare A=results/before B=results/after   which cells differ, and by how much"
	@echo "make calibrate    how often compare is wrong, how small a change it finds: half an hour (QUICK=1: four minutes)"
	@echo "make mutants      does the battery find what is wrong on purpose? about five minutes (QUICK=1: one)"
	@echo "make explore-orders [IMPL=...]  the weakest memory order that each atomic operation needs: half a minute"
	@echo "make plots OUT=results/NAME  draw the plots of a run again"
	@echo "make report OUT=results/NAME a run as one page of HTML; without OUT: the latest run"
	@echo "make lint         formatting, clang-tidy, cppcheck, shellcheck"
	@echo "make clean        remove build/; results stay"
	@echo "Then: build/rclab --help"

deps:
	@sh deps/install.sh

build:
	@if [ -n "$(IMPL_PATH)" ] && [ ! -f "$(IMPL_PATH)" ]; then \
	    echo "IMPL: there is no file $(IMPL_PATH); give the path of an rc.h" >&2; exit 2; fi
	@cmake -S . -B build -G Ninja -DRCL_IMPL="$(IMPL_PATH)" -DRCL_IMPL_LIBS="$(LIBS)" \
	    -DRCL_SANITIZE= > build.log 2>&1 || { cat build.log >&2; rm -f build.log; exit 2; }
	@rm -f build.log
	@cmake --build build --target rclab -j $(JOBS)

bench: build
	@build/rclab bench $(if $(QUICK),--quick) $(if $(OUT),--out $(OUT))

compare: build
	@build/rclab compare $(if $(A),'$(A)') $(if $(B),'$(B)') $(ARGS)

calibrate:
	@sh tests/calibrate/run.sh $(if $(QUICK),--quick) $(if $(RUNS),--runs $(RUNS)) \
	    $(if $(PAIRS),--pairs $(PAIRS)) $(if $(OUT),--out $(OUT)) $(if $(KEEP),--keep)

# The implementation is compiled into the battery, not into rclab: one that does not build is told so.
conform:
	@$(MAKE) --no-print-directory build IMPL= IMPL_LIBS=
	@build/rclab conform $(if $(IMPL),--impl '$(IMPL_PATH)') $(if $(LIBS),--libs '$(LIBS)') \
	    $(if $(QUICK),--quick)

mutants:
	@sh tests/mutants/run.sh $(if $(QUICK),--quick)

# IMPL: the name of a shipped one, or an rc.h.
explore-orders:
	@$(MAKE) --no-print-directory build IMPL= IMPL_LIBS=
	@sh tests/engines/explorer/orders.sh $(IMPL)

plots:
	@sh plots/render.sh '$(RUN)'

# A machine without gnuplot has a report without plots.
report: build
	@ls '$(RUN)'/plots/*.svg >/dev/null 2>&1 || sh plots/render.sh '$(RUN)' || \
	    { status=$$?; [ $$status = 3 ] || exit $$status; }
	@build/rclab report '$(RUN)'

check:
	@sh tests/run.sh quick

test:
	@sh tests/run.sh full

lint:
	@sh tests/lint.sh

clean:
	rm -rf build build-*

// gbench: see gbench.h. The only C++ of the harness.
#include "gbench.h"

#include <benchmark/benchmark.h>

namespace
{

// Takes the one run that matters and prints nothing.
class Taker : public benchmark::BenchmarkReporter
{
  public:
    bool ReportContext(const Context &) override
    {
        return true;
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (const Run &run : runs) {
            if (run.run_type == Run::RT_Iteration) {
                operations = run.error_occurred ? 0 : static_cast<uint64_t>(run.iterations);
            }
        }
    }

    uint64_t operations = 0;
};

} // namespace

uint64_t rcl_gbench_run(const char *name, rcl_gbench_batch batch, void *context,
                        uint64_t operations, double min_seconds)
{
    auto *registered =
        benchmark::RegisterBenchmark(name, [batch, context](benchmark::State &state) {
            // One batch is the whole repetition: no call falls inside a timed operation.
            while (state.KeepRunningBatch(state.max_iterations)) {
                double seconds = batch(context, static_cast<uint64_t>(state.max_iterations));
                if (seconds < 0) {
                    state.SkipWithError("the batch failed");
                    break;
                }
                state.SetIterationTime(seconds);
            }
        });
    registered->UseManualTime();
    if (operations > 0) {
        registered->Iterations(static_cast<benchmark::IterationCount>(operations));
    } else {
        registered->MinTime(min_seconds);
    }
    Taker taker;
    benchmark::RunSpecifiedBenchmarks(&taker);
    benchmark::ClearRegisteredBenchmarks();
    return taker.operations;
}

const char *rcl_gbench_version(void)
{
    return "1.7"; // the library does not export its version; CMake asks for this one
}

// The C interface: a queue of replicas over threads. Replicas share the graph and nothing else,
// so a result depends neither on the number of threads nor on the replicas beside it.
#include <atomic>
#include <thread>
#include <vector>

#include "api.h"
#include "trainer.h"

namespace {

template <class T>
int64_t run(const hp_graph& problem, hp_replica* replicas, int64_t count, int32_t threads,
            int64_t* epochs_done, int32_t* stop) {
  const hp::Graph<T> graph(problem);
  std::atomic<int64_t> next{0}, finished{0};
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      try {
        hp::train_replica<T>(graph, problem, replicas[i], epochs_done + i, stop);
      } catch (const std::bad_alloc&) {
        replicas[i].status = HP_NO_MEMORY;
      }
      if (replicas[i].status != HP_INTERRUPTED) ++finished;
    }
  };
  std::vector<std::thread> pool;
  for (int32_t t = 1; t < threads && t < count; ++t) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return finished;
}

}  // namespace

#define HP_EXPORT __attribute__((visibility("default")))

extern "C" {

HP_EXPORT int64_t hp_train(const hp_graph* graph, hp_replica* replicas, int64_t count,
                           int32_t threads, int64_t* epochs_done, int32_t* stop) {
  return graph->is_double ? run<double>(*graph, replicas, count, threads, epochs_done, stop)
                          : run<float>(*graph, replicas, count, threads, epochs_done, stop);
}

HP_EXPORT void hp_dropout_mask(uint64_t seed, uint64_t step, uint64_t site, double rate,
                               int64_t count, uint8_t* kept) {
  const hp::Mask mask(seed, step, site, rate);
  for (int64_t i = 0; i < count; ++i) kept[i] = mask.keeps(static_cast<uint32_t>(i));
}

HP_EXPORT int32_t hp_vector_bytes() { return HP_VECTOR_BYTES; }
}

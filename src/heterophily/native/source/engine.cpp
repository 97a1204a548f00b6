// The C interface: a queue of replicas over threads. Replicas share the graph and nothing else,
// so a result depends neither on the number of threads nor on the replicas beside it.
#include <atomic>
#include <thread>
#include <vector>

#include "network.h"
#include "train_program.h"
#include "trainer.h"

namespace {

// train(number, threads for it) for every replica of a queue; replica_of(number) has the result.
template <class ReplicaOf, class Train>
int64_t run_queue(int64_t count, int32_t threads, ReplicaOf&& replica_of, Train&& train) {
  std::atomic<int64_t> next{0}, finished{0};
  const int side_by_side = static_cast<int>(std::max<int64_t>(1, std::min<int64_t>(threads, count)));
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) {
      hp_replica& each = replica_of(i);
      try {
        train(i, threads / side_by_side);
      } catch (const std::bad_alloc&) {
        each.status = HP_NO_MEMORY;
      }
      if (each.status != HP_INTERRUPTED) ++finished;
    }
  };
  std::vector<std::thread> pool;
  for (int t = 1; t < side_by_side; ++t) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return finished;
}

template <class T>
void train_model(const hp::Graph<T>& graph, const hp_graph& problem, hp_replica& replica,
                 const void* weights, int threads, int64_t* epochs_done, const int32_t* stop) {
  hp::Team team(threads);
  const auto make = [&] {
    return hp::Network<T>(graph, *replica.model, problem.num_classes, problem.labels,
                          static_cast<const T*>(weights), replica.seed, team);
  };
  hp::train_replica<T>(graph, problem, replica, make, epochs_done, stop);
}

template <class T>
int64_t train_models(const hp_graph& problem, hp_replica* replicas, int64_t count, int32_t threads,
                     int64_t* epochs_done, int32_t* stop) {
  const hp::Graph<T> graph(problem);
  const auto replica_of = [&](int64_t i) -> hp_replica& { return replicas[i]; };
  return run_queue(count, threads, replica_of, [&](int64_t i, int own_threads) {
    train_model<T>(graph, problem, replicas[i], nullptr, own_threads, epochs_done + i, stop);
  });
}

template <class T>
int64_t train_tasks(const hp_graph& problem, hp_task* tasks, int64_t count, int32_t threads,
                    int64_t* epochs_done, int32_t* stop) {
  const hp::Graph<T> graph(problem);
  const auto replica_of = [&](int64_t i) -> hp_replica& { return tasks[i].replica; };
  return run_queue(count, threads, replica_of, [&](int64_t i, int own_threads) {
    if (tasks[i].program != nullptr)
      hp::train_program<T>(graph, problem, tasks[i], own_threads, epochs_done + i, stop);
    else
      train_model<T>(graph, problem, tasks[i].replica, tasks[i].weights, own_threads, epochs_done + i, stop);
  });
}

}  // namespace

#define HP_EXPORT __attribute__((visibility("default")))

extern "C" {

HP_EXPORT int64_t hp_train(const hp_graph* graph, hp_replica* replicas, int64_t count,
                           int32_t threads, int64_t* epochs_done, int32_t* stop) {
  return graph->is_double ? train_models<double>(*graph, replicas, count, threads, epochs_done, stop)
                          : train_models<float>(*graph, replicas, count, threads, epochs_done, stop);
}

HP_EXPORT int64_t hp_train_tasks(const hp_graph* graph, hp_task* tasks, int64_t count,
                                 int32_t threads, int64_t* epochs_done, int32_t* stop) {
  return graph->is_double ? train_tasks<double>(*graph, tasks, count, threads, epochs_done, stop)
                          : train_tasks<float>(*graph, tasks, count, threads, epochs_done, stop);
}

HP_EXPORT void hp_dropout_mask(uint64_t seed, uint64_t step, uint64_t site, double rate,
                               int64_t count, uint8_t* kept) {
  const hp::Mask mask(seed, step, site, rate);
  for (int64_t i = 0; i < count; ++i) kept[i] = mask.keeps(static_cast<uint32_t>(i));
}

HP_EXPORT int32_t hp_vector_bytes() { return HP_VECTOR_BYTES; }

HP_EXPORT int64_t hp_step_bytes() { return sizeof(hp_step); }

HP_EXPORT int64_t hp_step_kinds() { return HP_NUM_STEP_KINDS; }
}

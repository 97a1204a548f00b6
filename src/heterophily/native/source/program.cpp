// Runs of networks that are lists of steps.
#include "program.h"

#include "train_program.h"
#include "trainer.h"

namespace hp {

template <class T>
void train_program(const Graph<T>& graph, const hp_graph& problem, hp_task& task, int threads,
                   int64_t* epochs_done, const int32_t* stop) {
  Team team(threads);
  const auto make = [&] {
    return Program<T>(graph, task, problem.num_classes, problem.labels, team);
  };
  train_replica<T>(graph, problem, task.replica, make, epochs_done, stop);
}

template void train_program<float>(const Graph<float>&, const hp_graph&, hp_task&, int, int64_t*,
                                   const int32_t*);
template void train_program<double>(const Graph<double>&, const hp_graph&, hp_task&, int, int64_t*,
                                    const int32_t*);

}  // namespace hp

// One run of a program; compiled by program.cpp.
#pragma once
#include "graph.h"
#include "program_api.h"

namespace hp {

template <class T>
void train_program(const Graph<T>& graph, const hp_graph& problem, hp_task& task, int threads,
                   int64_t* epochs_done, const int32_t* stop);

}  // namespace hp

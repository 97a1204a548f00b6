// Which class computes a kind of step.
#pragma once
#include <memory>
#include <vector>

#include "around_steps.h"
#include "attention_steps.h"
#include "attention_sums.h"
#include "coefficient_steps.h"
#include "gate_steps.h"
#include "plain_steps.h"
#include "row_steps.h"
#include "solve_step.h"
#include "weight_steps.h"

namespace hp {

template <class T>
std::unique_ptr<Step<T>> made_step(const Graph<T>& graph, const hp_program& program,
                                   const hp_step& spec, uint64_t seed, int workers) {
  std::vector<int64_t> widths;
  for (int i = 0; i < spec.num_inputs; ++i) widths.push_back(program.steps[spec.inputs[i]].width);
  switch (spec.kind) {
    case HP_FEATURES: return std::make_unique<FeaturesStep<T>>(spec, graph, seed);
    case HP_STRUCTURE: return std::make_unique<StructureStep<T>>(spec, graph);
    case HP_LINEAR: return std::make_unique<LinearStep<T>>(spec, widths[0]);
    case HP_PROPAGATE: return std::make_unique<PropagateStep<T>>(spec, graph);
    case HP_BATCH_NORM: return std::make_unique<BatchNormStep<T>>(spec);
    case HP_NORM: return std::make_unique<NormStep<T>>(spec, workers);
    case HP_GELU: return std::make_unique<GeluStep<T>>(spec);
    case HP_RELU: return std::make_unique<ReluStep<T>>(spec);
    case HP_DROPOUT: return std::make_unique<DropoutStep<T>>(spec, seed);
    case HP_ADD: return std::make_unique<AddStep<T>>(spec);
    case HP_CONCAT: return std::make_unique<ConcatStep<T>>(spec, widths);
    case HP_MAXIMUM: return std::make_unique<MaximumStep<T>>(spec);
    case HP_COMBINE: return std::make_unique<CombineStep<T>>(spec);
    case HP_JOIN: return std::make_unique<JoinStep<T>>(spec, widths, workers);
    case HP_COLUMNS: return std::make_unique<ColumnsStep<T>>(spec);
    case HP_UNIT: return std::make_unique<UnitStep<T>>(spec);
    case HP_SCORES: return std::make_unique<ScoresStep<T>>(spec, widths[0], workers);
    case HP_ATTENTION: return std::make_unique<AttentionStep<T>>(spec, graph, widths[1], seed, workers);
    case HP_SIGNED_SUM: return std::make_unique<SignedSumStep<T>>(spec, graph, widths[1], seed, workers);
    case HP_GATE: return std::make_unique<GateStep<T>>(spec, workers);
    case HP_BLEND: return std::make_unique<BlendStep<T>>(spec, widths[0], workers);
    case HP_SOLVE: return std::make_unique<SolveStep<T>>(spec);
    case HP_BIAS: return std::make_unique<BiasStep<T>>(spec);
    case HP_AVERAGE: return std::make_unique<AverageStep<T>>(spec);
    case HP_ELU: return std::make_unique<EluStep<T>>(spec);
    default: return std::make_unique<MixStep<T>>(spec, workers);
  }
}

}  // namespace hp

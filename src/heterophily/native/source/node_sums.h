// Sums over the nodes of each class, from the classes among the neighbours of every node.
#pragma once
#include "edges.h"

extern "C" {

// `counts` are labelled neighbours by class, `degrees` all neighbours. Shares s of a node are those of
// the classes among its labelled neighbours. All results are set, not added to.
struct hp_node_sums {
  int64_t num_rows, num_classes;
  const uint8_t* labels;  // one byte or four each; num_classes or above: unlabelled
  const uint32_t* counts;   // (rows, C)
  const int64_t* degrees;   // (rows,)
  int32_t label_bytes, reserved;
  int64_t *sizes, *nodes;   // (C,): labelled nodes; those with labelled neighbours
  double *pairs;            // (C, C): neighbours of class l
  double *aggregated;       // (C, C): (A + I) Z / (d + 1)
  double *shares, *squares; // (C, C): s; squared distances of s to its mean
  double *unit;             // (C, C): s / |s|
  double *grams;            // (C, C, C): outer products of s with itself
  double *others;           // (4,): nodes without edges; squares of known neighbours; squares of
                            // neighbours by class; degrees of labelled nodes
};

// How many nodes have a row of (A + I) Z / (d + 1) whose product with the row of `gap` of their own
// class is at least `least`.
struct hp_consistent {
  int64_t num_rows, num_classes;
  const uint8_t* labels;
  const uint32_t* counts;
  const int64_t* degrees;
  int32_t label_bytes, reserved;
  const double* gap;  // (C, C)
  double least;
  int64_t found;  // out
};
}

namespace hp {

template <class Label>
void node_sums(const hp_node_sums& of) {
  const int64_t classes = of.num_classes;
  const auto* labels = reinterpret_cast<const Label*>(of.labels);
  std::fill_n(of.sizes, classes, 0), std::fill_n(of.nodes, classes, 0);
  for (double* square : {of.pairs, of.aggregated, of.shares, of.squares, of.unit}) std::fill_n(square, classes * classes, 0.0);
  std::fill_n(of.grams, classes * classes * classes, 0.0);
  std::fill_n(of.others, 4, 0.0);
  std::vector<double> share(static_cast<size_t>(classes));
  std::vector<int64_t> present(static_cast<size_t>(classes));
  const auto known_of = [&](const uint32_t* counts) {
    uint64_t known = 0;
    for (int64_t k = 0; k < classes; ++k) known += counts[k];
    return known;
  };
  for (int64_t v = 0; v < of.num_rows; ++v) {
    const uint32_t* counts = of.counts + v * classes;
    const int64_t label = labels[v];
    const uint64_t known = known_of(counts);
    double matching = 0;
    for (int64_t k = 0; k < classes; ++k) matching += static_cast<double>(counts[k]) * counts[k];
    of.others[0] += of.degrees[v] == 0;
    of.others[1] += static_cast<double>(known) * static_cast<double>(known);
    of.others[2] += matching;
    if (label >= classes) continue;
    of.others[3] += static_cast<double>(of.degrees[v]);
    ++of.sizes[label];
    const double weight = 1.0 / (static_cast<double>(of.degrees[v]) + 1.0);
    of.aggregated[label * classes + label] += weight;
    if (!known) continue;
    ++of.nodes[label];
    const double part = 1.0 / static_cast<double>(known), inverse = 1.0 / __builtin_sqrt(matching);
    int64_t found = 0;
    for (int64_t k = 0; k < classes; ++k) {
      const double count = counts[k];
      of.pairs[label * classes + k] += count;
      of.aggregated[label * classes + k] += count * weight;
      share[k] = count * part;
      of.shares[label * classes + k] += share[k];
      of.unit[label * classes + k] += count * inverse;
      present[found] = k;
      found += counts[k] != 0;
    }
    double* gram = of.grams + label * classes * classes;
    for (int64_t i = 0; i < found; ++i)
      for (int64_t j = 0; j < found; ++j) gram[present[i] * classes + present[j]] += share[present[i]] * share[present[j]];
  }
  for (int64_t v = 0; v < of.num_rows; ++v) {
    const uint32_t* counts = of.counts + v * classes;
    const int64_t label = labels[v];
    const uint64_t known = label < classes ? known_of(counts) : 0;
    if (!known) continue;
    const double part = 1.0 / static_cast<double>(known), nodes = static_cast<double>(of.nodes[label]);
    for (int64_t k = 0; k < classes; ++k) {
      const double gap = counts[k] * part - of.shares[label * classes + k] / nodes;
      of.squares[label * classes + k] += gap * gap;
    }
  }
}

template <class Label>
void consistent_nodes(hp_consistent& of) {
  const int64_t classes = of.num_classes;
  const auto* labels = reinterpret_cast<const Label*>(of.labels);
  of.found = 0;
  for (int64_t v = 0; v < of.num_rows; ++v) {
    const int64_t label = labels[v];
    if (label >= classes) continue;
    const double* gap = of.gap + label * classes;
    double sum = 0;
    for (int64_t k = 0; k < classes; ++k) sum += of.counts[v * classes + k] * gap[k];
    of.found += (sum + gap[label]) / (static_cast<double>(of.degrees[v]) + 1.0) >= of.least;
  }
}

}  // namespace hp

// A tiny ACM-GCN through the C interface, without Python: for processors that only an emulator has.
// Prints the vector width, the losses of a few epochs (dropout 0.5), the dropout mask and the class
// pairs of the edge pass. tests/engine/cross.py compares the lines of two processors.
#include <cstdio>
#include <vector>

#include "api.h"
#include "edges.h"

extern "C" int32_t hp_edge_sums(const hp_edges* graph, int32_t threads);

namespace {

constexpr int64_t N = 23, F = 11, H = 9, C = 3, K = 3, kEpochs = 6;

double draw() {  // in (-1, 1)
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
}

struct Csr {
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices;
  std::vector<double> values;
  std::vector<uint32_t> order;  // of the entries of the transpose
};

// Nonzeros of a dense matrix; `numbers` are those of the entries in row order.
Csr csr(const std::vector<double>& dense, int64_t rows, int64_t cols, bool is_transposed) {
  std::vector<uint32_t> number(dense.size());
  uint32_t count = 0;
  for (size_t i = 0; i < dense.size(); ++i) number[i] = dense[i] != 0 ? count++ : 0;
  Csr out;
  out.indptr.push_back(0);
  for (int64_t r = 0; r < (is_transposed ? cols : rows); ++r) {
    for (int64_t c = 0; c < (is_transposed ? rows : cols); ++c) {
      const size_t place = static_cast<size_t>(is_transposed ? c * cols + r : r * cols + c);
      if (dense[place] == 0) continue;
      out.indices.push_back(static_cast<int32_t>(c));
      out.values.push_back(dense[place]);
      out.order.push_back(number[place]);
    }
    out.indptr.push_back(static_cast<int64_t>(out.indices.size()));
  }
  return out;
}

struct Both {
  Csr plain, transposed;
  hp_sparse view;
  Both(const std::vector<double>& dense, int64_t rows, int64_t cols)
      : plain(csr(dense, rows, cols, false)), transposed(csr(dense, rows, cols, true)) {
    view = {rows, cols, plain.indptr.data(), plain.indices.data(), plain.values.data(),
            transposed.indptr.data(), transposed.indices.data(), transposed.values.data(),
            transposed.order.data()};
  }
};

}  // namespace

int main() {
  std::vector<double> features(N * F), adjacency(N * N), mean(N * N);
  for (double& x : features) x = draw() > 0.2 ? draw() : 0.0;
  for (int64_t v = 0; v < N; ++v)
    for (int64_t step : {1, 5}) adjacency[v * N + (v + step) % N] = adjacency[(v + step) % N * N + v] = 1;
  for (int64_t v = 0; v < N; ++v) {
    double degree = 1;
    for (int64_t u = 0; u < N; ++u) degree += adjacency[v * N + u];
    for (int64_t u = 0; u < N; ++u) mean[v * N + u] = (adjacency[v * N + u] + (u == v)) / degree;
  }
  std::vector<int32_t> labels(N), part[3];
  for (int32_t v = 0; v < N; ++v) labels[v] = v % 2 ? v % C : v % 2, part[v % 3].push_back(v);

  const Both x(features, N, F), op(mean, N, N);
  hp_graph graph{};
  graph.is_double = 1, graph.num_classes = C, graph.num_nodes = N;
  graph.features = x.view, graph.op = op.view, graph.labels = labels.data();

  const hp_channel channels[K] = {{0, 1, 1, 0}, {1, -1, 1, 0}, {1, 0, 1, 0}};
  int64_t place = 0;
  const auto take = [&](int64_t size) { return place += size, place - size; };
  hp_layer layers[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t in = i ? H : F, out = i ? C : H;
    layers[i] = {static_cast<int32_t>(out), K, i == 0, 0, i, 0, i == 0, 1, 0, 3.0, 3.0, channels,
                 take(K * in * out), -1, take(K * out), take(K * K), -1, -1};
  }
  const hp_model model{2, HP_RESIDUAL_NONE, 0, 0, layers, -1, -1, -1, -1, place, 0.5, 0.5};
  std::vector<double> initial(place), history(3 * kEpochs);
  for (double& value : initial) value = 0.3 * draw();
  std::vector<int32_t> predictions(N);
  hp_replica replica{};
  replica.model = &model, replica.initial = initial.data();
  replica.lr = 0.05, replica.weight_decay = 1e-3, replica.seed = 7;
  replica.stopping = HP_STOP_NEVER, replica.window = 40, replica.max_epochs = kEpochs;
  replica.train = part[0].data(), replica.num_train = static_cast<int64_t>(part[0].size());
  replica.validation = part[1].data(), replica.num_validation = static_cast<int64_t>(part[1].size());
  replica.test = part[2].data(), replica.num_test = static_cast<int64_t>(part[2].size());
  replica.history = history.data(), replica.predictions = predictions.data();
  replica.status = HP_RUNNING;
  int64_t epochs = 0;
  int32_t stop = 0;
  if (hp_train(&graph, &replica, 1, 1, &epochs, &stop) != 1) return 1;
  std::printf("bytes of a vector %d\n", hp_vector_bytes());
  for (int64_t i = 0; i < 2 * kEpochs; ++i) std::printf("loss %.17g\n", history[i]);

  uint8_t kept[64];
  hp_dropout_mask(3, 5, 1, 0.3, 64, kept);
  std::printf("mask ");
  for (uint8_t bit : kept) std::printf("%d", bit);

  const Csr plain = csr(adjacency, N, N, false);
  std::vector<uint32_t> of(labels.begin(), labels.end());
  std::vector<double> counts(N * C), degrees(N), pairs(C * C), loops(C), shares(2);
  const std::vector<int64_t> wide(plain.indices.begin(), plain.indices.end());
  const hp_edges edges{N, C, 8, 8, 4, 0, plain.indptr.data(), wide.data(), plain.values.data(),
                       of.data(), counts.data(), degrees.data(), pairs.data(), loops.data(),
                       shares.data()};
  if (!hp_edge_sums(&edges, 2)) return 1;
  std::printf("\npairs");
  for (double count : pairs) std::printf(" %g", count);
  std::printf("\n");
  return 0;
}

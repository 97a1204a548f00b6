// The C interface: plain structs of sizes and NumPy buffers, mirrored by native/structs.py.
// Nothing here owns memory; every buffer outlives the call.
#pragma once
#include <cstdint>

extern "C" {

// A sparse matrix in CSR form and its transpose. `transpose_order[e]` is the number of the
// transpose's entry e in CSR order (features only: dropout masks are functions of that number).
struct hp_sparse {
  int64_t rows, cols;
  const int64_t* indptr;
  const int32_t* indices;
  const void* values;
  const int64_t* transpose_indptr;
  const int32_t* transpose_indices;
  const void* transpose_values;
  const uint32_t* transpose_order;
};

// Nodes with the same neighbours (themselves aside) form a class, so that sums over neighbours are
// needed once for each class:  A_hat x = scale_i * sum over classes c beside class(i) of
// (sum of x over c) + diagonal_i * x_i.  num_classes == 0: no quotient, it would not pay.
struct hp_quotient {
  int64_t num_classes;
  const int64_t* member_indptr;  // class -> its nodes
  const int32_t* members;
  const int32_t* class_of;       // (N,)
  const int64_t* indptr;         // class -> classes beside it
  const int32_t* indices;
  const void* ones;              // as many as the longest of the arrays needs
  const void* member_scale;      // scale, in the order of `members`
  const void* scale;             // (N,)
  const void* diagonal;          // (N,)
};

struct hp_graph {
  int32_t is_double;
  int32_t num_classes;
  int64_t num_nodes;
  hp_sparse features;   // X
  hp_sparse op;         // A_hat
  hp_sparse structure;  // A; indptr == nullptr when no layer has a structure channel
  hp_quotient quotient, structure_quotient;  // of A_hat, of A
  const int32_t* labels;
  // Further operators on nodes, numbered from 1 in programs; indptr == nullptr: not prepared.
  const hp_sparse* others;
  int64_t num_others;
};

// filter = identity * I + aggregate * A_hat^hops, on the signal X W or (structure) A W_A.
struct hp_channel {
  double identity, aggregate;
  int32_t hops, is_structure;
};

// One layer. Parameters are offsets into the flat parameter vector, -1 when absent.
struct hp_layer {
  int32_t width, num_channels;
  int32_t sees_features;            // does the input hold X
  int32_t first_state, num_states;  // and which hidden states, in the order of the weight's rows
  int32_t activates_first;          // ACMII: ReLU before the filter
  int32_t activates;                // any ReLU at all
  int32_t is_adaptive, is_combined;
  double temperature, scale;
  const hp_channel* channels;
  int64_t weight, structure_weight, vectors, mix_weight, norm_gain, norm_shift;
};

enum hp_residual { HP_RESIDUAL_NONE = 0, HP_RESIDUAL_EVERY_LAYER = 1, HP_RESIDUAL_ONCE = 2 };

struct hp_model {
  int32_t num_layers, residual, output_relu, reserved;
  const hp_layer* layers;
  int64_t hidden_residual, hidden_bias, output_residual, output_bias;  // offsets, -1 when absent
  int64_t num_parameters;
  double input_rate, rate;  // dropout of the features and of the hidden states
};

enum hp_stopping { HP_STOP_WINDOW = 0, HP_STOP_PATIENCE = 1, HP_STOP_NEVER = 2 };
enum hp_selection { HP_BY_LOSS = 0, HP_BY_ACCURACY = 1, HP_BY_ROC_AUC = 2 };
enum hp_status { HP_RUNNING = -1, HP_STOPPED = 0, HP_MAX_EPOCHS = 1, HP_DIVERGED = 2, HP_INTERRUPTED = 3,
                 HP_NO_MEMORY = 4 };

struct hp_replica {
  const hp_model* model;
  const void* initial;  // parameters, in the order and shapes of the torch module
  double lr, weight_decay;
  uint64_t seed;
  int32_t is_adamw, stopping, window, select_by;
  int64_t max_epochs;
  const int32_t *train, *validation, *test;  // node numbers, ascending
  int64_t num_train, num_validation, num_test;
  // results
  double* history;       // (3, max_epochs): training loss, validation loss, validation accuracy
  void* best;            // parameters at the best epoch, or nullptr
  int32_t* predictions;  // (N,) at the best epoch
  double test_accuracy, seconds;
  int64_t epochs, best_epoch;
  int32_t status, reserved;  // status is HP_RUNNING until the replica is done
};

// Train all replicas on `threads` threads. `epochs_done[i]` is written as replica i goes on;
// a nonzero `*stop` ends every run within an epoch. Returns the number of finished replicas.
int64_t hp_train(const hp_graph* graph, hp_replica* replicas, int64_t count, int32_t threads,
                 int64_t* epochs_done, int32_t* stop);
// The dropout mask of `count` entries, 0 or 1, for tests.
void hp_dropout_mask(uint64_t seed, uint64_t step, uint64_t site, double rate, int64_t count,
                     uint8_t* kept);
int32_t hp_vector_bytes();
}

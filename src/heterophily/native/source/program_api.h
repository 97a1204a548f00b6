// Networks as lists of steps: the structs of the second entry point, mirrored by native/structs.py.
#pragma once
#include "api.h"

extern "C" {

// What a step makes of the values of earlier steps; x and y are its inputs.
enum hp_step_kind {
  HP_FEATURES = 0,   // X W + b; `first`: dropout of the entries of X
  HP_LINEAR = 1,     // x W + b
  HP_PROPAGATE = 2,  // first * x + second * A_hat x; `number`: of another operator
  HP_NORM = 3,       // layer norm; `first`: epsilon; weight: gain, bias: shift
  HP_GELU = 4,
  HP_RELU = 5,
  HP_DROPOUT = 6,  // `first`: rate
  HP_ADD = 7,      // first * x + second * y
  HP_CONCAT = 8,   // [x, y, ..]
  HP_MAXIMUM = 9,  // the largest of x, y, ..
  HP_MIX = 10,     // ACM's mixture of its inputs, as `mixer` says
  HP_BATCH_NORM = 11, // `first`: epsilon, `second`: momentum; weight: gain, bias: shift
  HP_STRUCTURE = 12,  // A W_A
  // Attention with `heads` heads side by side in the columns of x.
  HP_SCORES = 13,      // [r, s], each padded to a power of two: <x, weight> and <x, bias> of every head
  HP_ATTENTION = 14,   // sum_j softmax_j(LeakyReLU(r_i + s_j)) x_j of x, [r, s]; `first`: rate of dropout of
                       // the weights, `second`: slope of LeakyReLU below 0
  HP_SIGNED_SUM = 15,  // sum_j tanh(r_i + s_j) A_hat_ij x_j of x, [r, s]; `first`: rate
  HP_BIAS = 16,        // x + b
  HP_AVERAGE = 17,     // the mean of the heads of x
  HP_ELU = 18,
  HP_COMBINE = 19,  // the sum of c_i x_i over its inputs; c: see hp_form
  HP_JOIN = 20,     // [c_0 x_0, c_1 x_1, ..]
  HP_COLUMNS = 21,  // columns `number` .. of x
  HP_UNIT = 22,     // rows divided by their length, at least `first`
  HP_GATE = 23,   // the running sums c of softmax(x); with gates b before: b + (1 - b) c
  HP_BLEND = 24,  // k x + (1 - k) y of k, x, y; a gate k is that of `number` columns
  HP_SOLVE = 25,  // [D K, H K] of [D, H], K = (first I + second H^T H)^-1
  HP_NUM_STEP_KINDS = 26
};

// What the numbers w at `weight` are turned into, one for each input, before they are multiplied with
// `table`, a square matrix by rows, if there is one.
enum hp_form { HP_AS_THEY_ARE = 0, HP_SOFTMAX = 1, HP_POSITIVE_PART = 2 };

// Step i makes value i, a matrix (N, width). Parameters are offsets into the flat vector of the
// torch module, -1 when absent. `site` numbers the calls of dropout in a forward pass.
struct hp_step {
  int32_t kind, width, site, num_inputs;
  int32_t number, form;
  int32_t panels;  // HP_FEATURES, HP_LINEAR: W is a stack of so many, side by side here
  int32_t has_own_rates;  // parameters with the learning rate and decay of coefficients
  const int32_t* inputs;
  double first, second;
  int64_t weight, bias;
  int64_t running;  // batch norm: running mean, running variance, number of passes, one after the other
  const hp_layer* mixer;
  const double* table;
  int64_t heads;
};

// The last value holds the logits.
struct hp_program {
  const hp_step* steps;
  int64_t num_steps, num_parameters;
};

// One run: of `program`, or of `replica.model` where that is nullptr. `weights` (N,) are those of the
// nodes in the losses; nullptr: all 1. Of a program, steps that have rates of their own use these.
struct hp_task {
  hp_replica replica;
  const hp_program* program;
  const void* weights;
  double own_lr, own_weight_decay;
};

// As hp_train. With fewer tasks than threads, several threads share the rows of a program; results
// do not depend on the number of threads.
int64_t hp_train_tasks(const hp_graph* graph, hp_task* tasks, int64_t count, int32_t threads,
                       int64_t* epochs_done, int32_t* stop);

// The size of hp_step and the number of its kinds: a caller that was written for others must not use
// this library.
int64_t hp_step_bytes();
int64_t hp_step_kinds();
}

// Trains one problem that tests/engine/cross.py wrote to a file, through the C interface and without
// Python: for processors that only an emulator has. Prints the width of a vector, the bits of every
// loss, the predictions, a dropout mask, and how far exp, tanh and log are from those of the C library.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

#include "api.h"
#include "elementary.h"
#include "normal.h"
#include "program_api.h"

namespace {

// The memory of the process that wrote the file: blocks by their old address.
class Memory {
 public:
  explicit Memory(std::ifstream& file) {
    int64_t count = 0;
    read(file, &count, sizeof count);
    blocks_.resize(static_cast<size_t>(count));
    for (Block& block : blocks_) {
      uint64_t size = 0;
      read(file, &block.address, sizeof block.address);
      read(file, &size, sizeof size);
      block.data.resize((size + 7) / 8);  // whole words, so that any type is aligned
      block.size = size;
      read(file, block.data.data(), size);
    }
  }
  static void read(std::ifstream& file, void* to, uint64_t size) {
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
  }
  // Points to where the block lies now.
  template <class P>
  void move(P*& pointer) {
    if (pointer == nullptr) return;
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    for (Block& block : blocks_)
      if (block.address <= address && address < block.address + block.size) {
        pointer = reinterpret_cast<P*>(reinterpret_cast<char*>(block.data.data()) + (address - block.address));
        return;
      }
    pointer = nullptr;  // an array without entries
  }
  template <class... P>
  void move_all(P*&... pointers) {
    (move(pointers), ...);
  }

 private:
  struct Block {
    uint64_t address = 0, size = 0;
    std::vector<uint64_t> data;
  };
  std::vector<Block> blocks_;
};

void move(Memory& memory, hp_graph& graph) {
  memory.move(graph.others);
  std::vector<hp_sparse*> matrices{&graph.features, &graph.op, &graph.structure};
  for (int64_t i = 0; i < graph.num_others; ++i) matrices.push_back(const_cast<hp_sparse*>(graph.others + i));
  for (hp_sparse* m : matrices)
    memory.move_all(m->indptr, m->indices, m->values, m->transpose_indptr, m->transpose_indices,
                    m->transpose_values, m->transpose_order);
  for (hp_quotient* q : {&graph.quotient, &graph.structure_quotient})
    memory.move_all(q->member_indptr, q->members, q->class_of, q->indptr, q->indices, q->ones,
                    q->member_scale, q->scale, q->diagonal);
  memory.move(graph.labels);
}

void move(Memory& memory, hp_task& task) {
  hp_replica& replica = task.replica;
  memory.move(task.weights);
  memory.move_all(replica.model, replica.initial, replica.train, replica.validation, replica.test,
                  replica.history, replica.best, replica.predictions);
  if (replica.model != nullptr) {
    hp_model& model = const_cast<hp_model&>(*replica.model);
    memory.move(model.layers);
    for (int i = 0; i < model.num_layers; ++i) memory.move(const_cast<hp_layer&>(model.layers[i]).channels);
  }
  memory.move(task.program);
  if (task.program == nullptr) return;
  hp_program& program = const_cast<hp_program&>(*task.program);
  memory.move(program.steps);
  for (int64_t i = 0; i < program.num_steps; ++i) {
    hp_step& step = const_cast<hp_step&>(program.steps[i]);
    memory.move_all(step.inputs, step.mixer, step.table);
  }
}

template <class T>
double worst_exp(double reach) {
  double worst = 0;
  for (int i = -1000; i <= 1000; ++i) {
    alignas(64) T x[hp::kWide<T>];
    for (T& each : x) each = static_cast<T>(reach * i / 1000);
    const double right = std::exp(static_cast<double>(x[0]));
    hp::exp_inplace(x, hp::kWide<T>);
    worst = std::fmax(worst, std::fabs(static_cast<double>(x[0]) - right) / right);
  }
  return worst;
}

template <class T>
double worst_tanh() {
  double worst = 0;
  for (int i = 1; i <= 4000; ++i)
    for (const double sign : {-1.0, 1.0}) {
      const T x = static_cast<T>(sign * 0.0025 * i);
      const double right = std::tanh(static_cast<double>(x));
      const double found = static_cast<double>(hp::tanh_vector<T>(hp::splat(x))[0]);
      worst = std::fmax(worst, std::fabs((found - right) / right));
    }
  return worst;
}

double worst_log() {
  double worst = 0;
  for (int i = 1; i <= 2000; ++i) {
    const double x = 1 + 0.025 * i, right = std::log(x);
    worst = std::fmax(worst, std::fabs(hp::log_of(x) - right) / right);
  }
  return worst;
}

}  // namespace

int main(int, char** arguments) {
  std::printf("bytes of a vector %d\n", hp_vector_bytes());
  std::printf("exp within %s, %s; tanh within %s, %s; log within %s\n", worst_exp<float>(80) < 2e-7 ? "2e-7" : "MORE",
              worst_exp<double>(700) < 1e-15 ? "1e-15" : "MORE", worst_tanh<float>() < 2e-7 ? "2e-7" : "MORE",
              worst_tanh<double>() < 1e-15 ? "1e-15" : "MORE", worst_log() < 1e-15 ? "1e-15" : "MORE");
  std::ifstream file(arguments[1], std::ios::binary);
  Memory memory(file);
  hp_graph graph{};
  hp_task task{};
  Memory::read(file, &graph, sizeof graph);
  Memory::read(file, &task, sizeof task);
  if (!file) return 2;
  move(memory, graph);
  move(memory, task);
  const hp_replica& replica = task.replica;
  int64_t epochs = 0;
  int32_t stop = 0;
  if (hp_train_tasks(&graph, &task, 1, 2, &epochs, &stop) != 1) return 1;
  for (int64_t i = 0; i < replica.epochs; ++i)
    std::printf("losses %a %a\n", replica.history[i], replica.history[replica.max_epochs + i]);
  std::printf("predictions ");
  for (int64_t i = 0; i < graph.num_nodes; ++i) std::printf("%d", replica.predictions[i]);
  std::printf("\nbest epoch %ld, test accuracy %a\nmask ", static_cast<long>(replica.best_epoch),
              replica.test_accuracy);
  uint8_t kept[64];
  hp_dropout_mask(3, 5, 1, 0.3, 64, kept);
  for (uint8_t bit : kept) std::printf("%d", bit);
  std::printf("\n");
  return 0;
}

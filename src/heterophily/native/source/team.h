// Threads that share the rows of one network.
#pragma once
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace hp {

// A fixed number of workers, the caller among them. What a piece of work computes must not depend
// on who does it.
class Team {
 public:
  explicit Team(int size) {
    for (int worker = 1; worker < size; ++worker)
      threads_.emplace_back([this, worker] { wait_for_work(worker); });
  }
  Team(const Team&) = delete;
  ~Team() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    begins_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  int size() const { return static_cast<int>(threads_.size()) + 1; }

  // work(piece, worker) for the pieces 0 .. count - 1, by whoever is free; returns after the last.
  template <class Work>
  void run(int64_t count, Work&& work) {
    if (threads_.empty() || count <= 1) {
      for (int64_t piece = 0; piece < count; ++piece) work(piece, 0);
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      call_ = [](void* what, int64_t piece, int worker) {
        (*static_cast<std::remove_reference_t<Work>*>(what))(piece, worker);
      };
      work_ = const_cast<void*>(static_cast<const void*>(&work));
      count_ = count;
      next_ = 0;
      busy_ = static_cast<int>(threads_.size());
      ++round_;
    }
    begins_.notify_all();
    take_pieces(0);
    std::unique_lock<std::mutex> lock(mutex_);
    ends_.wait(lock, [this] { return busy_ == 0; });
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  // work(begin, end) for ranges that cover the rows 0 .. rows - 1, which need nothing of each other.
  // A worker alone takes them in one range.
  template <class Work>
  void for_rows(int64_t rows, Work&& work) {
    constexpr int64_t kRangesEach = 64, kStep = 48;  // kStep: a multiple of the tiles of dense products
    if (threads_.empty()) {
      if (rows > 0) work(int64_t{0}, rows);
      return;
    }
    const int64_t wanted = rows / (kRangesEach * size()) + 1;
    const int64_t each = (wanted + kStep - 1) / kStep * kStep;
    run((rows + each - 1) / each,
        [&](int64_t piece, int) { work(piece * each, std::min(rows, (piece + 1) * each)); });
  }

 private:
  void wait_for_work(int worker) {
    for (int64_t seen = 0;;) {
      std::unique_lock<std::mutex> lock(mutex_);
      begins_.wait(lock, [&] { return is_over_ || round_ != seen; });
      if (is_over_) return;
      seen = round_;
      lock.unlock();
      take_pieces(worker);
      lock.lock();
      if (--busy_ == 0) ends_.notify_one();
    }
  }
  void take_pieces(int worker) {
    try {
      for (int64_t piece = next_++; piece < count_; piece = next_++) call_(work_, piece, worker);
    } catch (...) {
      next_ = count_;
      std::lock_guard<std::mutex> lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
  }

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begins_, ends_;
  void (*call_)(void*, int64_t, int) = nullptr;
  void* work_ = nullptr;
  int64_t count_ = 0, round_ = 0;
  std::atomic<int64_t> next_{0};
  int busy_ = 0;
  bool is_over_ = false;
  std::exception_ptr error_;
};

}  // namespace hp

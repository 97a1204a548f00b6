// The classes among the neighbours of every node, from edges that memory does not hold, in any order
// and with duplicates.
//
// Nodes are dealt to ranges by the low bits of their numbers, edges to tiles: pairs of ranges. The keys
// of a tile wait in a file. A tile is then read back, freed of duplicates and counted; two threads never
// work on one range at a time. Counts are whole numbers: the order of the work does not matter.
//
// A node is a record of 1 + columns bytes: its label and its counters. A counter that passes 255 starts
// again at 0 and leaves a note.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "edges.h"

extern "C" {

struct hp_tally_plan {
  int64_t num_nodes, columns;  // columns: at most 255; a label is below
  int32_t range_bits, is_directed;
  int32_t spill, threads;  // file descriptor for the keys; workers
  int64_t buffer_keys, most_keys;  // of a tile and thread before they are written; of a thread at once
};

struct hp_tally_edges {
  int64_t handle, count;
  const void *source, *target;
  int32_t index_bytes, error;  // 4 or 8; out: errno of a failed write, or 0
  int64_t num_loops, first_bad;  // out: loops; the first edge with an end outside 0..N-1, or -1
};

struct hp_tally_result {
  int64_t handle;
  int64_t num_edges, num_spilled;  // out: edges without duplicates; keys in the file
  int32_t error, reserved;
};

// Nodes from .. to - 1 of a range: node i of range r has the number i * ranges + r.
struct hp_tally_rows {
  int64_t handle, range, from, to;
  uint8_t* labels;   // (n,)
  uint32_t* counts;  // (n, columns)
};
}

namespace hp {

// Zeroed memory in large pages where the system has them.
class Arena {
 public:
  explicit Arena(size_t bytes) : bytes_(std::max<size_t>(bytes, 1)) {
    void* found = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    madvise(found, bytes_, MADV_HUGEPAGE);
#endif
    data_ = static_cast<uint8_t*>(found);
  }
  Arena(const Arena&) = delete;
  ~Arena() { munmap(data_, bytes_); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  size_t bytes_;
  uint8_t* data_;
};

class Tally {
 public:
  explicit Tally(const hp_tally_plan& plan)
      : plan_(plan),
        ranges_(int64_t{1} << plan.range_bits),
        span_((plan.num_nodes + ranges_ - 1) >> plan.range_bits),
        stride_(plan.columns + 1),
        records_(static_cast<size_t>(ranges_ * span_ * stride_)) {
    while ((int64_t{1} << local_bits_) < span_) ++local_bits_;
    for (int64_t i = 0; i < ranges_; ++i) {  // undirected: pairs in order alone
      row_.push_back(static_cast<int64_t>(tiles_.size()) - (plan.is_directed ? 0 : i));
      for (int64_t j = plan.is_directed ? 0 : i; j < ranges_; ++j) tiles_.emplace_back(i, j);
    }
    extents_.resize(tiles_.size());
    for (int32_t t = 0; t < plan.threads; ++t)
      buffers_.emplace_back(std::make_unique<Buffers>(static_cast<int64_t>(tiles_.size()), plan.buffer_keys));
  }

  void label(const uint8_t* labels, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) *record(static_cast<uint64_t>(first + i)) = labels[i];
  }

  void add(hp_tally_edges& of) {
    std::atomic<int64_t> next{0}, loops{0}, bad{of.count};
    on_threads([&](int32_t worker) {
      int64_t mine = 0;
      for (int64_t from = next.fetch_add(kPiece); from < of.count; from = next.fetch_add(kPiece)) {
        const int64_t to = std::min(of.count, from + kPiece);
        const int64_t failed = of.index_bytes == 4 ? deal<uint32_t>(of, from, to, worker, mine)
                                                   : deal<uint64_t>(of, from, to, worker, mine);
        for (int64_t before = bad; failed < before && !bad.compare_exchange_weak(before, failed);) {
        }
      }
      loops += mine;
    });
    of.num_loops = loops, of.first_bad = bad < of.count ? bad.load() : -1, of.error = error_;
  }

  void finish(hp_tally_result& result) {
    std::vector<std::pair<int64_t, int64_t>> order;  // keys of a tile, tile: the largest first
    for (int64_t tile = 0; tile < static_cast<int64_t>(tiles_.size()); ++tile)
      if (const int64_t keys = size(tile)) order.emplace_back(keys, tile);
    std::sort(order.rbegin(), order.rend());
    std::vector<bool> is_busy(static_cast<size_t>(ranges_));
    std::mutex mutex;
    std::condition_variable freed;
    std::atomic<int64_t> edges{0};
    std::vector<std::vector<uint64_t>> notes(static_cast<size_t>(plan_.threads));
    const auto is_free = [&](int64_t tile) {
      return !is_busy[first_of(tile)] && (plan_.is_directed || !is_busy[second_of(tile)]);
    };
    on_threads([&](int32_t worker) {
      Room room;
      std::unique_lock<std::mutex> lock(mutex);
      while (!order.empty() && !error_) {
        const auto found = std::find_if(order.begin(), order.end(), [&](const auto& of) { return is_free(of.second); });
        if (found == order.end()) {
          freed.wait(lock);
          continue;
        }
        const int64_t tile = found->second;
        order.erase(found);
        const auto mark = [&](bool busy) {
          is_busy[first_of(tile)] = busy;
          if (!plan_.is_directed) is_busy[second_of(tile)] = busy;
        };
        mark(true);
        lock.unlock();
        try {
          edges += count_tile(tile, room, notes[worker]);
        } catch (...) {
          lock.lock();
          mark(false);
          order.clear();
          freed.notify_all();
          throw;
        }
        lock.lock();
        mark(false);
        freed.notify_all();
      }
    });
    buffers_.clear();
    for (const auto& part : notes) notes_.insert(notes_.end(), part.begin(), part.end());
    std::sort(notes_.begin(), notes_.end());
    result.num_edges = edges, result.num_spilled = end_ / 8, result.error = error_;
  }

  void rows(const hp_tally_rows& of) const {
    const int64_t columns = plan_.columns;
    const uint64_t begin = static_cast<uint64_t>(of.range * span_ + of.from);
    const uint8_t* at = records_.as<uint8_t>() + begin * stride_;
    uint32_t* counts = of.counts;
    for (int64_t i = 0; i < of.to - of.from; ++i, at += stride_) {
      of.labels[i] = at[0];
      for (int64_t k = 0; k < columns; ++k) *counts++ = at[1 + k];
    }
    const auto first = std::lower_bound(notes_.begin(), notes_.end(), begin * columns);
    const auto last = std::lower_bound(first, notes_.end(), (begin + (of.to - of.from)) * columns);
    for (auto note = first; note != last; ++note) of.counts[*note - begin * columns] += 256;
  }

 private:
  static constexpr int64_t kPiece = 1 << 16, kAhead = 20;

  struct Extent {
    int64_t at, count;
  };
  struct Buffers {
    Buffers(int64_t tiles, int64_t keys)
        : room(static_cast<size_t>(tiles * keys) * 8), used(static_cast<size_t>(tiles)) {}
    Arena room;  // a tile that has no key takes no memory
    std::vector<int64_t> used;
  };
  struct Room {
    std::vector<uint64_t> keys, sorted, table;
    std::vector<int64_t> places;
  };

  int64_t first_of(int64_t tile) const { return tiles_[tile].first; }
  int64_t second_of(int64_t tile) const { return tiles_[tile].second; }
  uint8_t* record(uint64_t node) const {
    return records_.as<uint8_t>() + ((node & (ranges_ - 1)) * span_ + (node >> plan_.range_bits)) * stride_;
  }

  template <class Work>
  void on_threads(const Work& work) {
    std::atomic<bool> is_short{false};
    for_blocks(plan_.threads, plan_.threads, [&](int64_t worker) {
      try {
        work(static_cast<int32_t>(worker));
      } catch (const std::bad_alloc&) {
        is_short = true;
      }
    });
    if (is_short) throw std::bad_alloc();
  }

  // Returns the first edge with an end outside, or `count`.
  template <class Index>
  int64_t deal(const hp_tally_edges& of, int64_t from, int64_t to, int32_t worker, int64_t& loops) {
    const auto* source = static_cast<const Index*>(of.source);
    const auto* target = static_cast<const Index*>(of.target);
    const uint64_t nodes = static_cast<uint64_t>(plan_.num_nodes), low = static_cast<uint64_t>(ranges_ - 1);
    Buffers& buffers = *buffers_[worker];
    uint64_t* room = buffers.room.as<uint64_t>();
    for (int64_t e = from; e < to; ++e) {
      uint64_t u = source[e], v = target[e];
      if (u >= nodes || v >= nodes) return e;  // a negative number is a large one here
      if (u == v) {
        ++loops;
        continue;
      }
      uint64_t i = u & low, j = v & low, a = u >> plan_.range_bits, b = v >> plan_.range_bits;
      if (!plan_.is_directed && (i > j || (i == j && a > b))) std::swap(i, j), std::swap(a, b);
      const int64_t tile = row_[i] + static_cast<int64_t>(j);
      int64_t& used = buffers.used[tile];
      room[tile * plan_.buffer_keys + used] = a << local_bits_ | b;
      if (++used == plan_.buffer_keys) spill(tile, buffers);
    }
    return of.count;
  }

  void spill(int64_t tile, Buffers& buffers) {
    const int64_t bytes = 8 * buffers.used[tile], at = end_.fetch_add(bytes);
    const uint8_t* data = buffers.room.as<uint8_t>() + 8 * tile * plan_.buffer_keys;
    for (int64_t done = 0; done < bytes;) {
      const ssize_t written = pwrite(plan_.spill, data + done, static_cast<size_t>(bytes - done), at + done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        error_ = written ? errno : EIO;
        break;
      }
      done += written;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      extents_[tile].push_back({at, buffers.used[tile]});
    }
    buffers.used[tile] = 0;
  }

  int64_t size(int64_t tile) const {
    int64_t keys = 0;
    for (const Extent& extent : extents_[tile]) keys += extent.count;
    for (const auto& buffers : buffers_) keys += buffers->used[tile];
    return keys;
  }

  // Hands the keys of a tile to work(keys, count), piece by piece.
  template <class Work>
  void for_keys(int64_t tile, const Work& work) {
    std::vector<uint64_t> piece(static_cast<size_t>(plan_.buffer_keys));
    for (const Extent& extent : extents_[tile]) {
      auto* data = reinterpret_cast<uint8_t*>(piece.data());
      for (int64_t done = 0; done < 8 * extent.count;) {
        const ssize_t read = pread(plan_.spill, data + done, static_cast<size_t>(8 * extent.count - done), extent.at + done);
        if (read < 0 && errno == EINTR) continue;
        if (read <= 0) {
          error_ = read ? errno : EIO;
          return;
        }
        done += read;
      }
      work(piece.data(), extent.count);
    }
    for (const auto& buffers : buffers_)
      work(buffers->room.as<uint64_t>() + tile * plan_.buffer_keys, buffers->used[tile]);
  }

  static uint64_t hashed(uint64_t key) { return key * 0x9e3779b97f4a7c15ull; }

  // A tile with more keys than a thread may hold is read several times, for one slice of the keys after
  // the other; a slice that is still too large is full of duplicates, which go as soon as it is.
  int64_t count_tile(int64_t tile, Room& room, std::vector<uint64_t>& notes) {
    const int64_t keys = size(tile), slices = (keys + plan_.most_keys - 1) / plan_.most_keys;
    int64_t edges = 0;
    for (int64_t slice = 0; slice < slices && !error_; ++slice) {
      room.keys.clear();
      size_t most = static_cast<size_t>(slices == 1 ? keys : plan_.most_keys + plan_.most_keys / 4);
      room.keys.reserve(most);
      for_keys(tile, [&](const uint64_t* found, int64_t count) {
        if (room.keys.size() + count > most) {
          remove_duplicates(room);
          most = std::max(most, room.keys.size() * 5 / 4 + count);
        }
        if (slices == 1) {
          room.keys.insert(room.keys.end(), found, found + count);
          return;
        }
        for (int64_t k = 0; k < count; ++k) {
          const auto part = static_cast<unsigned __int128>(hashed(hashed(found[k]) ^ found[k])) * static_cast<uint64_t>(slices);
          if (static_cast<int64_t>(part >> 64) == slice) room.keys.push_back(found[k]);
        }
      });
      if (error_) break;
      remove_duplicates(room);
      edges += static_cast<int64_t>(room.keys.size());
      count(tile, room.keys, notes);
    }
    return edges;
  }

  // Keys are dealt by a hash to groups that fit the innermost cache, and met in a small table there.
  static void remove_duplicates(Room& room) {
    constexpr int64_t kGroup = 512;
    const int64_t count = static_cast<int64_t>(room.keys.size());
    int bits = 1;
    while ((kGroup << bits) < count && bits < 14) ++bits;
    const int shift = 64 - bits;
    room.places.assign((size_t{1} << bits) + 1, 0);
    room.sorted.resize(static_cast<size_t>(count));
    for (const uint64_t key : room.keys) ++room.places[(hashed(key) >> shift) + 1];
    for (size_t group = 1; group < room.places.size(); ++group) room.places[group] += room.places[group - 1];
    for (const uint64_t key : room.keys) room.sorted[room.places[hashed(key) >> shift]++] = key;
    int64_t begin = 0, kept = 0;  // a place is the end of its group now
    for (size_t group = 0; group + 1 < room.places.size(); ++group) {
      const int64_t end = room.places[group];
      int table_bits = 4;
      while ((int64_t{1} << table_bits) < 2 * (end - begin)) ++table_bits;
      const uint64_t mask = (uint64_t{1} << table_bits) - 1;
      room.table.assign(static_cast<size_t>(mask) + 1, 0);
      for (int64_t k = begin; k < end; ++k) {
        const uint64_t key = room.sorted[k], word = key + 1;
        uint64_t at = hashed(key) >> (shift - table_bits) & mask;
        while (room.table[at] && room.table[at] != word) at = (at + 1) & mask;
        if (room.table[at]) continue;
        room.table[at] = word;
        room.keys[kept++] = key;
      }
      begin = end;
    }
    room.keys.resize(static_cast<size_t>(kept));
  }

  void count(int64_t tile, const std::vector<uint64_t>& keys, std::vector<uint64_t>& notes) const {
    uint8_t* all = records_.as<uint8_t>();
    uint8_t* first = all + first_of(tile) * span_ * stride_;
    uint8_t* second = all + second_of(tile) * span_ * stride_;
    const uint64_t mask = (uint64_t{1} << local_bits_) - 1, stride = static_cast<uint64_t>(stride_);
    const int64_t size = static_cast<int64_t>(keys.size());
    const bool both = !plan_.is_directed;
    const auto add = [&](uint8_t* node, uint8_t label) {
      if (++node[1 + label] == 0) notes.push_back(static_cast<uint64_t>(node - all) / stride * plan_.columns + label);
    };
    for (int64_t k = 0; k < size; ++k) {
      const uint64_t later = keys[std::min(k + kAhead, size - 1)];
      __builtin_prefetch(first + (later >> local_bits_) * stride, 1);
      __builtin_prefetch(second + (later & mask) * stride, 1);
      uint8_t* a = first + (keys[k] >> local_bits_) * stride;
      uint8_t* b = second + (keys[k] & mask) * stride;
      const uint8_t label = *a;
      add(a, *b);
      if (both) add(b, label);
    }
  }

  const hp_tally_plan plan_;
  const int64_t ranges_, span_, stride_;
  int local_bits_ = 0;
  Arena records_;
  std::vector<int64_t> row_;                        // the tile (i, j) has the number row_[i] + j
  std::vector<std::pair<int64_t, int64_t>> tiles_;  // and its two ranges
  std::vector<std::vector<Extent>> extents_;  // of each tile, in the file
  std::vector<std::unique_ptr<Buffers>> buffers_;
  std::vector<uint64_t> notes_;  // record * columns + column, once for every 256
  std::mutex mutex_;
  std::atomic<int64_t> end_{0};
  std::atomic<int32_t> error_{0};
};

}  // namespace hp

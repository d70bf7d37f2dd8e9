// The counters of the allocator model, in the shape of torch.cuda.memory_stats().
//
// Names and meanings: DeviceStats in c10/core/CachingDeviceAllocator.h (torch 2.13).
#pragma once

#include <array>
#include <cstdint>

namespace simulated_cuda {

/// One counter: its value now, its highest value, and all that was ever added and taken away.
struct Stat {
  int64_t current = 0;
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t freed = 0;

  void increase(int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void decrease(int64_t amount) {
    current -= amount;
    freed += amount;
  }
  /// Add a signed change, as one increase or one decrease.
  void change(int64_t amount) {
    if (amount > 0) increase(amount);
    if (amount < 0) decrease(-amount);
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
};

/// Which pool a block belongs to. The index of a pool's counter in StatFamily.
enum class PoolKind { kSmall, kLarge };

/// One counter for all pools together and one for each pool.
struct StatFamily {
  Stat all;
  Stat small_pool;
  Stat large_pool;

  Stat& of(PoolKind pool) { return pool == PoolKind::kSmall ? small_pool : large_pool; }
  void increase(PoolKind pool, int64_t amount) { change(pool, amount); }
  void decrease(PoolKind pool, int64_t amount) { change(pool, -amount); }
  void change(PoolKind pool, int64_t amount) {
    all.change(amount);
    of(pool).change(amount);
  }
};

/// All counters of one device. Counts, except where the name says bytes.
struct Statistics {
  StatFamily allocation;
  StatFamily segment;
  StatFamily active;
  StatFamily inactive_split;
  StatFamily allocated_bytes;
  StatFamily reserved_bytes;
  StatFamily active_bytes;
  StatFamily inactive_split_bytes;
  StatFamily requested_bytes;
  int64_t num_alloc_retries = 0;
  int64_t num_ooms = 0;
  int64_t num_sync_all_streams = 0;
  int64_t num_device_alloc = 0;
  int64_t num_device_free = 0;

  /// The families, in the order in which torch.cuda.memory_stats() names them.
  std::array<StatFamily*, 9> families() {
    return {&allocation,     &segment,      &active,
            &inactive_split, &allocated_bytes, &reserved_bytes,
            &active_bytes,   &inactive_split_bytes, &requested_bytes};
  }
};

}  // namespace simulated_cuda

// A model of PyTorch's native CUDA caching allocator: the same decisions, without memory behind them.
//
// Plain C++17, no torch header, so that it can be tested alone. Not thread-safe: the caller locks.
// The rules follow c10/cuda/CUDACachingAllocator.cpp ("CCA" below) and the constants of
// c10/core/AllocatorConfig.h, as of torch 2.6 to 2.13, with the default PYTORCH_CUDA_ALLOC_CONF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "statistics.h"

namespace simulated_cuda {

using Address = uint64_t;   // in the model's own address space; 0 is "no memory"
using StreamId = int64_t;   // 0 is the default stream

/// Every block is a multiple of this (kMinBlockSize).
constexpr size_t kMinBlockSize = 512;
/// Largest block of the small pool (kSmallSize).
constexpr size_t kSmallSize = size_t{1} << 20;
/// Segment of the small pool (kSmallBuffer).
constexpr size_t kSmallSegment = size_t{2} << 20;
/// From this size on a block of the large pool gets a segment of its own (kMinLargeAlloc).
constexpr size_t kMinOwnSegment = size_t{10} << 20;
/// Segment for blocks of the large pool below kMinOwnSegment (kLargeBuffer).
constexpr size_t kLargeSegment = size_t{20} << 20;
/// Segments of their own are a multiple of this (kRoundLarge).
constexpr size_t kOwnSegmentRounding = size_t{2} << 20;
/// A request from here on is refused without trying (one exabyte).
constexpr size_t kAbsurdRequest = size_t{1152921504606846976};

/// The allocator could not serve a request. what() is PyTorch's own message.
class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part of a segment, as memory_snapshot() describes it.
struct BlockInfo {
  Address address;
  size_t size;
  size_t requested_size;  // 0 when the block is free
  bool allocated;
};

/// One piece of memory obtained from the driver, as memory_snapshot() describes it.
struct SegmentInfo {
  Address address;
  size_t total_size;
  size_t allocated_size;
  size_t requested_size;
  StreamId stream;
  PoolKind pool;
  std::vector<BlockInfo> blocks;  // by address, without gaps
};

/// The caching allocator of one device.
class CachingAllocator {
 public:
  /// A device with `total_bytes` of memory, all of it free. `device` only appears in messages.
  CachingAllocator(int device, size_t total_bytes);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  /// Allocate `requested` bytes for `stream`. 0 bytes allocate nothing and answer address 0.
  /// Throws OutOfMemory and changes nothing but counters and cache when the device is full.
  Address allocate(size_t requested, StreamId stream);

  /// Give back what allocate() answered; address 0 is ignored. Throws std::invalid_argument for
  /// an address that is not allocated.
  void free(Address address);

  /// Return every segment without a live block to the driver.
  void empty_cache();

  /// Cap reserved memory at `fraction` (0 to 1) of the device's total.
  /// Throws std::invalid_argument outside that range.
  void set_memory_fraction(double fraction);

  size_t total_bytes() const { return total_bytes_; }
  /// What cudaMemGetInfo would call free. No context is modelled, so: total less reserved.
  size_t free_bytes() const;

  Statistics& statistics() { return statistics_; }
  void reset_peaks();
  void reset_accumulated();

  /// All segments, by address.
  std::vector<SegmentInfo> segments() const;

 private:
  struct Block;
  struct BySizeThenAddress {
    bool operator()(const Block* a, const Block* b) const;
  };
  using FreeBlocks = std::set<Block*, BySizeThenAddress>;

  Block* take_best_fit(PoolKind pool, size_t size, StreamId stream);
  Block* new_segment(PoolKind pool, size_t size, StreamId stream);
  Block* find_block(PoolKind pool, size_t size, StreamId stream);
  Block* hand_out(Block* block, size_t size, size_t requested);
  int64_t absorb(Block* block, Block* neighbour);
  void release_free_segments();
  void release_free_segments(FreeBlocks& blocks);
  [[noreturn]] void throw_out_of_memory(size_t segment_bytes);
  FreeBlocks& free_blocks(PoolKind pool);

  const int device_;
  const size_t total_bytes_;
  size_t allowed_bytes_;
  bool has_fraction_ = false;
  Address next_segment_;
  Statistics statistics_;
  FreeBlocks small_free_;
  FreeBlocks large_free_;
  std::unordered_map<Address, Block*> allocated_;
  // First block of every segment, by address. Owns the segment's whole chain of blocks.
  std::map<Address, Block*> segments_;
};

/// Round a request up to the size of the block that serves it (CCA round_size).
size_t rounded_size(size_t requested);

/// Size of the segment that is obtained for a block of `rounded` bytes (CCA get_allocation_size).
size_t segment_size(size_t rounded);

/// Bytes as PyTorch's messages print them: "512 bytes", "2.00 MiB" (format_size).
std::string format_size(size_t bytes);

}  // namespace simulated_cuda

#include "caching_allocator.h"

#include <cstdio>
#include <sstream>
#include <utility>

namespace simulated_cuda {

struct CachingAllocator::Block {
  Address address;
  size_t size;
  StreamId stream;
  PoolKind pool;
  size_t requested = 0;
  bool allocated = false;
  // Neighbours in the same segment; a segment without any is whole.
  Block* previous = nullptr;
  Block* next = nullptr;

  bool is_split() const { return previous != nullptr || next != nullptr; }
};

bool CachingAllocator::BySizeThenAddress::operator()(const Block* a, const Block* b) const {
  // CCA BlockComparatorSize: blocks never serve another stream, so the stream comes first.
  if (a->stream != b->stream) return a->stream < b->stream;
  if (a->size != b->size) return a->size < b->size;
  return a->address < b->address;
}

size_t rounded_size(size_t requested) {
  if (requested < kMinBlockSize) return kMinBlockSize;
  return (requested + kMinBlockSize - 1) / kMinBlockSize * kMinBlockSize;
}

size_t segment_size(size_t rounded) {
  if (rounded <= kSmallSize) return kSmallSegment;
  if (rounded < kMinOwnSegment) return kLargeSegment;
  return (rounded + kOwnSegmentRounding - 1) / kOwnSegmentRounding * kOwnSegmentRounding;
}

std::string format_size(size_t bytes) {
  // c10/core/CachingDeviceAllocator.h format_size: 1024 itself is still bytes.
  constexpr double kKiB = 1024.0;
  char text[64];
  const double size = static_cast<double>(bytes);
  if (bytes <= 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else if (bytes <= 1048576) {
    std::snprintf(text, sizeof text, "%.2f KiB", size / kKiB);
  } else if (bytes <= 1073741824) {
    std::snprintf(text, sizeof text, "%.2f MiB", size / kKiB / kKiB);
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", size / kKiB / kKiB / kKiB);
  }
  return text;
}

CachingAllocator::CachingAllocator(int device, size_t total_bytes)
    : device_(device),
      total_bytes_(total_bytes),
      allowed_bytes_(total_bytes),
      // Each device gets 16 TiB of addresses of its own; freed ones are not used again, so that
      // an address names one segment for the life of the process.
      next_segment_((static_cast<Address>(device) + 1) << 44) {}

CachingAllocator::~CachingAllocator() {
  for (auto& [address, first] : segments_) {
    for (Block* block = first; block != nullptr;) delete std::exchange(block, block->next);
  }
}

size_t CachingAllocator::free_bytes() const {
  return total_bytes_ - static_cast<size_t>(statistics_.reserved_bytes.all.current);
}

CachingAllocator::FreeBlocks& CachingAllocator::free_blocks(PoolKind pool) {
  return pool == PoolKind::kSmall ? small_free_ : large_free_;
}

Address CachingAllocator::allocate(size_t requested, StreamId stream) {
  if (requested == 0) return 0;
  if (requested >= kAbsurdRequest) {
    throw OutOfMemory("CUDA out of memory. Tried to allocate more than 1EB memory.");
  }
  const size_t size = rounded_size(requested);
  const PoolKind pool = size <= kSmallSize ? PoolKind::kSmall : PoolKind::kLarge;
  Block* block = find_block(pool, size, stream);
  if (block == nullptr) throw_out_of_memory(segment_size(size));
  return hand_out(block, size, requested)->address;
}

// CCA malloc: the cache first, then the driver, then the driver once more after all that can be
// released has been.
CachingAllocator::Block* CachingAllocator::find_block(PoolKind pool, size_t size, StreamId stream) {
  if (Block* cached = take_best_fit(pool, size, stream)) return cached;
  const size_t wanted = segment_size(size);
  if (Block* fresh = new_segment(pool, wanted, stream)) return fresh;
  release_free_segments();
  statistics_.num_alloc_retries += 1;
  return new_segment(pool, wanted, stream);
}

// CCA get_free_block: the smallest free block of this stream that is large enough, the lowest
// address among equals.
CachingAllocator::Block* CachingAllocator::take_best_fit(PoolKind pool, size_t size,
                                                         StreamId stream) {
  FreeBlocks& blocks = free_blocks(pool);
  Block key{0, size, stream, pool};
  const auto found = blocks.lower_bound(&key);
  if (found == blocks.end() || (*found)->stream != stream) return nullptr;
  Block* block = *found;
  blocks.erase(found);
  return block;
}

// CCA alloc_block. Answers nullptr where cudaMalloc would fail or the memory fraction is used up.
CachingAllocator::Block* CachingAllocator::new_segment(PoolKind pool, size_t size,
                                                       StreamId stream) {
  const size_t reserved = static_cast<size_t>(statistics_.reserved_bytes.all.current);
  if (size > allowed_bytes_ || reserved > allowed_bytes_ - size) return nullptr;
  auto* block = new Block{next_segment_, size, stream, pool};
  next_segment_ += size;
  segments_.emplace(block->address, block);
  statistics_.segment.increase(pool, 1);
  statistics_.reserved_bytes.increase(pool, static_cast<int64_t>(size));
  statistics_.num_device_alloc += 1;
  return block;
}

namespace {

// CCA should_split. Small blocks always give back what they do not need; large ones keep up to
// 1 MiB, which then counts as allocated.
bool is_worth_splitting(PoolKind pool, size_t remaining) {
  return pool == PoolKind::kSmall ? remaining >= kMinBlockSize : remaining > kSmallSize;
}

}  // namespace

// CCA alloc_found_block: split `block`, mark its first part as allocated and count it.
CachingAllocator::Block* CachingAllocator::hand_out(Block* block, size_t size, size_t requested) {
  const PoolKind pool = block->pool;
  const bool was_split = block->is_split();
  if (is_worth_splitting(pool, block->size - size)) {
    auto* rest = new Block{block->address + size, block->size - size, block->stream, pool};
    rest->previous = block;
    rest->next = block->next;
    if (rest->next != nullptr) rest->next->previous = rest;
    block->next = rest;
    block->size = size;
    free_blocks(pool).insert(rest);
    if (was_split) {
      // A stranded block shrinks.
      statistics_.inactive_split_bytes.decrease(pool, static_cast<int64_t>(size));
    } else {
      statistics_.inactive_split.increase(pool, 1);
      statistics_.inactive_split_bytes.increase(pool, static_cast<int64_t>(rest->size));
    }
  } else if (was_split) {
    statistics_.inactive_split.decrease(pool, 1);
    statistics_.inactive_split_bytes.decrease(pool, static_cast<int64_t>(block->size));
  }

  block->allocated = true;
  block->requested = requested;
  allocated_.emplace(block->address, block);

  const auto bytes = static_cast<int64_t>(block->size);
  statistics_.allocation.increase(pool, 1);
  statistics_.allocated_bytes.increase(pool, bytes);
  statistics_.active.increase(pool, 1);
  statistics_.active_bytes.increase(pool, bytes);
  statistics_.requested_bytes.increase(pool, static_cast<int64_t>(requested));
  return block;
}

// CCA free and free_block.
void CachingAllocator::free(Address address) {
  if (address == 0) return;
  const auto found = allocated_.find(address);
  if (found == allocated_.end()) throw std::invalid_argument("not an allocated address");
  Block* block = found->second;
  allocated_.erase(found);

  const PoolKind pool = block->pool;
  const auto bytes = static_cast<int64_t>(block->size);
  statistics_.allocation.decrease(pool, 1);
  statistics_.allocated_bytes.decrease(pool, bytes);
  statistics_.active.decrease(pool, 1);
  statistics_.active_bytes.decrease(pool, bytes);
  statistics_.requested_bytes.decrease(pool, static_cast<int64_t>(block->requested));
  block->allocated = false;
  block->requested = 0;

  int64_t stranded_blocks = 0;
  int64_t stranded_bytes = 0;
  for (Block* neighbour : {block->previous, block->next}) {
    if (const int64_t absorbed = absorb(block, neighbour); absorbed > 0) {
      stranded_blocks -= 1;
      stranded_bytes -= absorbed;
    }
  }
  free_blocks(pool).insert(block);
  if (block->is_split()) {
    stranded_blocks += 1;
    stranded_bytes += static_cast<int64_t>(block->size);
  }
  statistics_.inactive_split.change(pool, stranded_blocks);
  statistics_.inactive_split_bytes.change(pool, stranded_bytes);
}

// CCA try_merge: `block` takes over a free neighbour. Answers the bytes gained.
int64_t CachingAllocator::absorb(Block* block, Block* neighbour) {
  if (neighbour == nullptr || neighbour->allocated) return 0;
  free_blocks(block->pool).erase(neighbour);
  if (neighbour == block->previous) {
    block->address = neighbour->address;
    block->previous = neighbour->previous;
    if (block->previous != nullptr) {
      block->previous->next = block;
    } else {
      segments_[block->address] = block;
    }
  } else {
    block->next = neighbour->next;
    if (block->next != nullptr) block->next->previous = block;
  }
  const size_t gained = neighbour->size;
  block->size += gained;
  delete neighbour;
  return static_cast<int64_t>(gained);
}

void CachingAllocator::empty_cache() { release_free_segments(); }

// CCA release_cached_blocks: it waits for all streams first, which is only counted here.
void CachingAllocator::release_free_segments() {
  statistics_.num_sync_all_streams += 1;
  release_free_segments(large_free_);
  release_free_segments(small_free_);
}

// CCA release_blocks and release_block: a free block that is not split is a whole segment.
void CachingAllocator::release_free_segments(FreeBlocks& blocks) {
  for (auto at = blocks.begin(); at != blocks.end();) {
    Block* block = *at;
    if (block->is_split()) {
      ++at;
      continue;
    }
    at = blocks.erase(at);
    statistics_.segment.decrease(block->pool, 1);
    statistics_.reserved_bytes.decrease(block->pool, static_cast<int64_t>(block->size));
    statistics_.num_device_free += 1;
    segments_.erase(block->address);
    delete block;
  }
}

void CachingAllocator::set_memory_fraction(double fraction) {
  if (!(fraction >= 0.0 && fraction <= 1.0)) {
    throw std::invalid_argument("memory fraction must be between 0 and 1");
  }
  // CCA setMemoryFraction: later growth is checked, nothing is released now.
  allowed_bytes_ = static_cast<size_t>(fraction * static_cast<double>(total_bytes_));
  has_fraction_ = true;
}

void CachingAllocator::reset_peaks() {
  for (StatFamily* family : statistics_.families()) {
    for (Stat* stat : {&family->all, &family->small_pool, &family->large_pool}) stat->reset_peak();
  }
}

void CachingAllocator::reset_accumulated() {
  for (StatFamily* family : statistics_.families()) {
    for (Stat* stat : {&family->all, &family->small_pool, &family->large_pool}) {
      stat->reset_accumulated();
    }
  }
  statistics_.num_alloc_retries = 0;
  statistics_.num_ooms = 0;
  statistics_.num_sync_all_streams = 0;
  statistics_.num_device_alloc = 0;
  statistics_.num_device_free = 0;
}

std::vector<SegmentInfo> CachingAllocator::segments() const {
  std::vector<SegmentInfo> result;
  result.reserve(segments_.size());
  for (const auto& [address, first] : segments_) {
    SegmentInfo segment{address, 0, 0, 0, first->stream, first->pool, {}};
    for (const Block* block = first; block != nullptr; block = block->next) {
      segment.total_size += block->size;
      if (block->allocated) segment.allocated_size += block->size;
      segment.requested_size += block->requested;
      segment.blocks.push_back({block->address, block->size, block->requested, block->allocated});
    }
    result.push_back(std::move(segment));
  }
  return result;
}

// The words of CCA malloc in torch 2.13. Nothing but this allocator uses the simulated device, so
// the process has in use what it reserved.
void CachingAllocator::throw_out_of_memory(size_t segment_bytes) {
  statistics_.num_ooms += 1;
  const auto reserved = static_cast<size_t>(statistics_.reserved_bytes.all.current);
  const auto allocated = static_cast<size_t>(statistics_.allocated_bytes.all.current);
  std::ostringstream text;
  text << "CUDA out of memory. Tried to allocate " << format_size(segment_bytes) << ". GPU "
       << device_ << " has a total capacity of " << format_size(total_bytes_) << " of which "
       << format_size(free_bytes()) << " is free. Including non-PyTorch memory, this process has "
       << format_size(reserved) << " memory in use. ";
  if (has_fraction_) text << format_size(allowed_bytes_) << " allowed; ";
  text << "Of the allocated memory " << format_size(allocated) << " is allocated by PyTorch, and "
       << format_size(reserved - allocated)
       << " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try"
          " setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See"
          " documentation for Memory Management "
          " (https://docs.pytorch.org/docs/stable/notes/cuda.html"
          "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)";
  throw OutOfMemory(text.str());
}

}  // namespace simulated_cuda

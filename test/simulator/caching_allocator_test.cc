// Tests of the allocator model alone: no torch, no Python. Compiled and run by
// test_caching_allocator.py together with native/simulated_cuda/caching_allocator.cc.
//
// The expected numbers are worked out by hand from the rules in caching_allocator.h.
#include "caching_allocator.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

using namespace simulated_cuda;

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kGiB = 1024 * kMiB;

int checks = 0;
int failures = 0;

template <typename Actual, typename Expected>
void expect_equal(const Actual& actual, const Expected& expected, const char* what, int line) {
  checks += 1;
  if (actual == static_cast<Actual>(expected)) return;
  failures += 1;
  std::fprintf(stderr, "line %d: %s is %s, expected %s\n", line, what,
               std::to_string(actual).c_str(), std::to_string(expected).c_str());
}

void expect_text(const std::string& actual, const std::string& expected, int line) {
  checks += 1;
  if (actual == expected) return;
  failures += 1;
  std::fprintf(stderr, "line %d: got \"%s\"\n  expected \"%s\"\n", line, actual.c_str(),
               expected.c_str());
}

#define EXPECT_EQ(actual, expected) expect_equal(actual, expected, #actual, __LINE__)
#define EXPECT_TEXT(actual, expected) expect_text(actual, expected, __LINE__)

std::string out_of_memory_message(const std::function<void()>& action) {
  try {
    action();
  } catch (const OutOfMemory& error) {
    return error.what();
  }
  return "no exception";
}

template <typename Error>
bool throws(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error&) {
    return true;
  }
  return false;
}

int64_t allocated(CachingAllocator& a) { return a.statistics().allocated_bytes.all.current; }
int64_t reserved(CachingAllocator& a) { return a.statistics().reserved_bytes.all.current; }
int64_t stranded(CachingAllocator& a) { return a.statistics().inactive_split_bytes.all.current; }

/// What empty_cache() would return to the driver, counted from the segments.
int64_t releasable(const CachingAllocator& a) {
  int64_t bytes = 0;
  for (const SegmentInfo& segment : a.segments()) {
    if (segment.allocated_size == 0) bytes += static_cast<int64_t>(segment.total_size);
  }
  return bytes;
}

void requests_are_rounded_to_512() {
  CachingAllocator a(0, kGiB);
  EXPECT_EQ(a.allocate(0, 0), 0u);
  EXPECT_EQ(reserved(a), 0);
  EXPECT_EQ(a.statistics().allocation.all.allocated, 0);
  for (const auto& [requested, block] : {std::pair<size_t, int64_t>{1, 512},
                                         {511, 512},
                                         {512, 512},
                                         {513, 1024},
                                         {1024, 1024},
                                         {100000, 100352}}) {
    const int64_t before = allocated(a);
    const Address address = a.allocate(requested, 0);
    EXPECT_EQ(allocated(a) - before, block);
    EXPECT_EQ(a.statistics().requested_bytes.all.current, requested);
    a.free(address);
    EXPECT_EQ(allocated(a), before);
  }
  a.free(0);
  EXPECT_EQ(a.statistics().requested_bytes.all.current, 0);
}

void pools_and_segment_sizes() {
  struct Case {
    size_t requested;
    int64_t segment;
    bool small;
  };
  for (const Case& c : {Case{1, 2 * kMiB, true}, Case{kMiB, 2 * kMiB, true},
                        Case{kMiB + 1, 20 * kMiB, false}, Case{10 * kMiB - 512, 20 * kMiB, false},
                        Case{10 * kMiB, 10 * kMiB, false}, Case{10 * kMiB + 1, 12 * kMiB, false},
                        Case{12 * kMiB, 12 * kMiB, false}, Case{33 * kMiB, 34 * kMiB, false}}) {
    CachingAllocator a(0, kGiB);
    a.allocate(c.requested, 0);
    EXPECT_EQ(reserved(a), c.segment);
    const Statistics& s = a.statistics();
    EXPECT_EQ(s.segment.small_pool.current, c.small ? 1 : 0);
    EXPECT_EQ(s.segment.large_pool.current, c.small ? 0 : 1);
    EXPECT_EQ(s.allocation.small_pool.current, c.small ? 1 : 0);
    EXPECT_EQ(s.num_device_alloc, 1);
    EXPECT_EQ(a.free_bytes(), kGiB - static_cast<size_t>(c.segment));
  }
}

void small_blocks_share_a_segment_to_the_last_512_bytes() {
  CachingAllocator a(0, kGiB);
  for (size_t i = 0; i < 2 * kMiB / 512; i++) a.allocate(512, 0);
  EXPECT_EQ(reserved(a), 2 * kMiB);
  EXPECT_EQ(stranded(a), 0);
  EXPECT_EQ(a.statistics().inactive_split.all.current, 0);
  a.allocate(1, 0);
  EXPECT_EQ(reserved(a), 4 * kMiB);
  EXPECT_EQ(stranded(a), 2 * kMiB - 512);
}

void large_blocks_keep_a_remainder_of_up_to_1_mib() {
  CachingAllocator a(0, kGiB);
  // 11 MiB in a segment of 12: exactly 1 MiB remains, too little to split off.
  const Address kept = a.allocate(11 * kMiB, 0);
  EXPECT_EQ(allocated(a), 12 * kMiB);
  EXPECT_EQ(a.statistics().requested_bytes.all.current, 11 * kMiB);
  EXPECT_EQ(stranded(a), 0);
  a.free(kept);
  EXPECT_EQ(allocated(a), 0);
  a.empty_cache();
  // One block less, and the remainder is worth a block of its own.
  a.allocate(11 * kMiB - 512, 0);
  EXPECT_EQ(allocated(a), 11 * kMiB - 512);
  EXPECT_EQ(stranded(a), kMiB + 512);
  EXPECT_EQ(a.statistics().inactive_split.large_pool.current, 1);
}

void the_best_fit_is_the_smallest_then_the_lowest() {
  CachingAllocator a(0, kGiB);
  const Address big = a.allocate(40 * kMiB, 0);
  const Address low = a.allocate(30 * kMiB, 0);
  const Address high = a.allocate(30 * kMiB, 0);
  a.free(big);
  a.free(high);
  a.free(low);
  EXPECT_EQ(a.allocate(30 * kMiB, 0), low);
  EXPECT_EQ(a.allocate(29 * kMiB, 0), high);  // 1 MiB remains: not split
  EXPECT_EQ(a.allocate(25 * kMiB, 0), big);
  EXPECT_EQ(reserved(a), 100 * kMiB);
  EXPECT_EQ(stranded(a), 15 * kMiB);
  EXPECT_EQ(a.allocate(15 * kMiB, 0), big + 25 * kMiB);
  EXPECT_EQ(stranded(a), 0);
}

void neighbours_merge_and_a_segment_becomes_whole_again() {
  CachingAllocator a(0, kGiB);
  const Address first = a.allocate(4 * kMiB, 0);
  const Address second = a.allocate(4 * kMiB, 0);
  const Address third = a.allocate(4 * kMiB, 0);
  EXPECT_EQ(reserved(a), 20 * kMiB);
  EXPECT_EQ(stranded(a), 8 * kMiB);
  a.free(first);  // no free neighbour
  EXPECT_EQ(a.statistics().inactive_split.all.current, 2);
  EXPECT_EQ(stranded(a), 12 * kMiB);
  a.free(third);  // joins the rest behind it
  EXPECT_EQ(a.statistics().inactive_split.all.current, 2);
  EXPECT_EQ(stranded(a), 16 * kMiB);
  EXPECT_EQ(a.segments()[0].blocks.size(), 3u);
  a.free(second);  // joins both sides
  EXPECT_EQ(a.segments()[0].blocks.size(), 1u);
  EXPECT_EQ(a.statistics().inactive_split.all.current, 0);
  EXPECT_EQ(stranded(a), 0);
  EXPECT_EQ(releasable(a), 20 * kMiB);
  EXPECT_EQ(a.allocate(9 * kMiB, 0), first);
}

void only_whole_segments_are_released() {
  CachingAllocator a(0, kGiB);
  const Address live = a.allocate(2 * kMiB, 0);
  const Address neighbour = a.allocate(2 * kMiB, 0);
  const Address alone = a.allocate(50 * kMiB, 0);
  const Address little = a.allocate(1, 0);
  a.free(neighbour);
  a.free(alone);
  a.free(little);
  EXPECT_EQ(reserved(a), 72 * kMiB);
  EXPECT_EQ(releasable(a), 52 * kMiB);
  a.empty_cache();
  EXPECT_EQ(reserved(a), 20 * kMiB);
  EXPECT_EQ(stranded(a), 18 * kMiB);
  EXPECT_EQ(a.statistics().num_device_free, 2);
  EXPECT_EQ(a.statistics().segment.all.current, 1);
  EXPECT_EQ(a.statistics().num_sync_all_streams, 1);
  EXPECT_EQ(a.statistics().num_alloc_retries, 0);
  a.free(live);
  a.empty_cache();
  EXPECT_EQ(reserved(a), 0);
  EXPECT_EQ(a.segments().size(), 0u);
  EXPECT_EQ(a.free_bytes(), kGiB);
}

void blocks_stay_with_their_stream() {
  CachingAllocator a(0, kGiB);
  const Address one = a.allocate(16 * kMiB, 1);
  a.free(one);
  const Address two = a.allocate(16 * kMiB, 2);
  EXPECT_EQ(reserved(a), 32 * kMiB);
  EXPECT_EQ(two != one, true);
  EXPECT_EQ(a.allocate(16 * kMiB, 1), one);
  EXPECT_EQ(a.segments()[1].stream, 2);
}

void a_full_device_flushes_its_cache_and_tries_again() {
  CachingAllocator a(0, 100 * kMiB);
  const Address first = a.allocate(40 * kMiB, 0);
  a.allocate(40 * kMiB, 0);
  a.free(first);
  a.allocate(60 * kMiB, 0);  // does not fit beside 80 MiB reserved, does after 40 MiB are returned
  EXPECT_EQ(a.statistics().num_alloc_retries, 1);
  EXPECT_EQ(a.statistics().num_ooms, 0);
  EXPECT_EQ(a.statistics().num_device_free, 1);
  EXPECT_EQ(reserved(a), 100 * kMiB);
  EXPECT_EQ(a.free_bytes(), 0u);
}

void out_of_memory_says_what_pytorch_says() {
  CachingAllocator a(1, 100 * kMiB);
  const Address live = a.allocate(11 * kMiB - 512, 0);  // 12 MiB reserved, 1 MiB and a block unused
  a.allocate(1, 0);
  const std::string text = out_of_memory_message([&] { a.allocate(89 * kMiB, 0); });
  EXPECT_TEXT(text,
              "CUDA out of memory. Tried to allocate 90.00 MiB. GPU 1 has a total capacity of "
              "100.00 MiB of which 86.00 MiB is free. Including non-PyTorch memory, this process "
              "has 14.00 MiB memory in use. Of the allocated memory 11.00 MiB is allocated by "
              "PyTorch, and 3.00 MiB is reserved by PyTorch but unallocated. If reserved but "
              "unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:"
              "True to avoid fragmentation.  See documentation for Memory Management  "
              "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-"
              "pytorch-cuda-alloc-conf)");
  EXPECT_EQ(a.statistics().num_ooms, 1);
  EXPECT_EQ(a.statistics().num_alloc_retries, 1);
  EXPECT_EQ(allocated(a), 11 * kMiB);
  EXPECT_EQ(a.statistics().allocation.all.current, 2);
  a.free(live);
  a.allocate(89 * kMiB, 0);  // now it fits: the failure left nothing behind
  EXPECT_EQ(a.statistics().num_alloc_retries, 2);
  EXPECT_TEXT(out_of_memory_message([&] { a.allocate(size_t{1} << 60, 0); }),
              "CUDA out of memory. Tried to allocate more than 1EB memory.");
}

void a_memory_fraction_caps_what_is_reserved() {
  CachingAllocator a(0, 100 * kMiB);
  a.set_memory_fraction(0.5);
  a.allocate(40 * kMiB, 0);
  const std::string text = out_of_memory_message([&] { a.allocate(12 * kMiB, 0); });
  EXPECT_EQ(text.find("60.00 MiB is free") != std::string::npos, true);
  EXPECT_EQ(text.find(" memory in use. 50.00 MiB allowed; Of the allocated memory") !=
                std::string::npos, true);
  a.allocate(10 * kMiB, 0);
  EXPECT_EQ(reserved(a), 50 * kMiB);
  a.set_memory_fraction(1.0);
  a.allocate(50 * kMiB, 0);
  EXPECT_EQ(throws<std::invalid_argument>([&] { a.set_memory_fraction(1.5); }), true);
  EXPECT_EQ(throws<std::invalid_argument>([&] { a.set_memory_fraction(-0.1); }), true);
}

void what_is_not_allocated_cannot_be_freed() {
  CachingAllocator a(0, kGiB);
  const Address address = a.allocate(512, 0);
  EXPECT_EQ(throws<std::invalid_argument>([&] { a.free(address + 512); }), true);
  a.free(address);
  EXPECT_EQ(throws<std::invalid_argument>([&] { a.free(address); }), true);
  EXPECT_EQ(a.statistics().allocation.all.freed, 1);
}

void peaks_and_their_reset() {
  CachingAllocator a(0, kGiB);
  const Address one = a.allocate(30 * kMiB, 0);
  const Address two = a.allocate(20 * kMiB, 0);
  a.free(one);
  a.empty_cache();
  const Statistics& s = a.statistics();
  EXPECT_EQ(s.allocated_bytes.all.peak, 50 * kMiB);
  EXPECT_EQ(s.reserved_bytes.all.peak, 50 * kMiB);
  EXPECT_EQ(s.segment.all.peak, 2);
  a.reset_peaks();
  EXPECT_EQ(s.allocated_bytes.all.peak, 20 * kMiB);
  EXPECT_EQ(s.reserved_bytes.large_pool.peak, 20 * kMiB);
  EXPECT_EQ(s.allocated_bytes.all.allocated, 50 * kMiB);
  EXPECT_EQ(s.allocated_bytes.all.freed, 30 * kMiB);
  a.reset_accumulated();
  EXPECT_EQ(s.allocated_bytes.all.allocated, 0);
  EXPECT_EQ(s.allocated_bytes.all.freed, 0);
  EXPECT_EQ(s.num_device_alloc, 0);
  EXPECT_EQ(s.num_sync_all_streams, 0);
  EXPECT_EQ(s.allocated_bytes.all.current, 20 * kMiB);
  a.free(two);
  EXPECT_EQ(s.allocated_bytes.all.freed, 20 * kMiB);
}

void sizes_are_printed_as_pytorch_does() {
  EXPECT_TEXT(format_size(0), "0 bytes");
  EXPECT_TEXT(format_size(1024), "1024 bytes");
  EXPECT_TEXT(format_size(1025), "1.00 KiB");
  EXPECT_TEXT(format_size(2 * kMiB), "2.00 MiB");
  EXPECT_TEXT(format_size(24 * kGiB + 300 * kMiB), "24.29 GiB");
}

/// Every counter of the model against a recount from its segments.
void recount(CachingAllocator& a, int64_t live, int64_t requested) {
  const Statistics& s = a.statistics();
  int64_t total = 0, active = 0, asked = 0, split = 0, split_blocks = 0, whole = 0, blocks = 0;
  int64_t small_total = 0, small_active = 0;
  for (const SegmentInfo& segment : a.segments()) {
    Address expected = segment.address;
    bool last_free = false;
    for (const BlockInfo& block : segment.blocks) {
      EXPECT_EQ(block.address, expected);
      expected += block.size;
      EXPECT_EQ(last_free && !block.allocated, false);  // free neighbours are merged
      last_free = !block.allocated;
      asked += static_cast<int64_t>(block.requested_size);
      if (block.allocated) {
        active += static_cast<int64_t>(block.size);
        blocks += 1;
        if (segment.pool == PoolKind::kSmall) small_active += static_cast<int64_t>(block.size);
      } else if (segment.blocks.size() > 1) {
        split += static_cast<int64_t>(block.size);
        split_blocks += 1;
      } else {
        whole += static_cast<int64_t>(block.size);
      }
    }
    EXPECT_EQ(expected - segment.address, segment.total_size);
    total += static_cast<int64_t>(segment.total_size);
    if (segment.pool == PoolKind::kSmall) small_total += static_cast<int64_t>(segment.total_size);
  }
  EXPECT_EQ(s.reserved_bytes.all.current, total);
  EXPECT_EQ(s.reserved_bytes.small_pool.current, small_total);
  EXPECT_EQ(s.reserved_bytes.large_pool.current, total - small_total);
  EXPECT_EQ(s.allocated_bytes.all.current, active);
  EXPECT_EQ(s.allocated_bytes.small_pool.current, small_active);
  EXPECT_EQ(s.active_bytes.all.current, active);
  EXPECT_EQ(s.requested_bytes.all.current, asked);
  EXPECT_EQ(s.requested_bytes.all.current, requested);
  EXPECT_EQ(s.allocation.all.current, blocks);
  EXPECT_EQ(s.allocation.all.current, live);
  EXPECT_EQ(s.inactive_split_bytes.all.current, split);
  EXPECT_EQ(s.inactive_split.all.current, split_blocks);
  EXPECT_EQ(releasable(a), whole);
  EXPECT_EQ(s.reserved_bytes.all.current, active + split + whole);
}

void random_traces_keep_every_identity() {
  int64_t ooms = 0;
  for (unsigned seed = 1; seed <= 20; seed++) {
    std::mt19937 random(seed);
    CachingAllocator a(0, 300 * kMiB);
    std::vector<std::pair<Address, size_t>> live;
    int64_t requested = 0;
    for (int step = 0; step < 1500; step++) {
      const unsigned choice = random() % 100;
      if (choice < 55) {
        // Sizes over all scales, so that both pools and every segment size occur.
        const size_t size = 1 + random() % (size_t{1} << (6 + random() % 20));
        try {
          live.emplace_back(a.allocate(size, random() % 2), size);
          requested += static_cast<int64_t>(size);
        } catch (const OutOfMemory&) {
        }
      } else if (choice < 99 && !live.empty()) {
        const size_t at = random() % live.size();
        a.free(live[at].first);
        requested -= static_cast<int64_t>(live[at].second);
        live[at] = live.back();
        live.pop_back();
      } else {
        a.empty_cache();
        EXPECT_EQ(releasable(a), 0);
      }
      if (step % 10 == 0) recount(a, static_cast<int64_t>(live.size()), requested);
    }
    const Statistics& s = a.statistics();
    ooms += s.num_ooms;
    for (const auto& [address, size] : live) a.free(address);
    recount(a, 0, 0);
    a.empty_cache();
    EXPECT_EQ(s.reserved_bytes.all.current, 0);
    EXPECT_EQ(s.num_device_alloc, s.num_device_free);
    EXPECT_EQ(s.allocated_bytes.all.allocated, s.allocated_bytes.all.freed);
  }
  EXPECT_EQ(ooms > 0, true);  // traces do reach the device's limit
}

}  // namespace

int main() {
  requests_are_rounded_to_512();
  pools_and_segment_sizes();
  small_blocks_share_a_segment_to_the_last_512_bytes();
  large_blocks_keep_a_remainder_of_up_to_1_mib();
  the_best_fit_is_the_smallest_then_the_lowest();
  neighbours_merge_and_a_segment_becomes_whole_again();
  only_whole_segments_are_released();
  blocks_stay_with_their_stream();
  a_full_device_flushes_its_cache_and_tries_again();
  out_of_memory_says_what_pytorch_says();
  a_memory_fraction_caps_what_is_reserved();
  what_is_not_allocated_cannot_be_freed();
  peaks_and_their_reset();
  sizes_are_printed_as_pytorch_does();
  random_traces_keep_every_identity();
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

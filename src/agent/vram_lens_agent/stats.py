"""Reading the caching allocator: one ``torch._C._cuda_memoryStats`` per device, nothing that touches the driver."""

import re


def touched_devices(torch):
    """Ordinals of the devices this process has a CUDA context on; every visible one where torch cannot say.
    Asks about no other device: the question itself could create a context (hundreds of MiB) there."""
    count = int(torch.cuda.device_count())
    has_context = getattr(torch._C, "_cuda_hasPrimaryContext", None)
    if has_context is None:
        return list(range(count))
    return [index for index in range(count) if has_context(index)]


def sample(nested, device, time_ms):
    """The ``sample`` notification's params from torch's nested statistics (bytes; counts since process start).
    A key that this version of torch lacks counts as 0, ``requestedBytes`` as None."""
    used, peak_used = _current_and_peak(nested, "allocated_bytes")
    reserved, peak_reserved = _current_and_peak(nested, "reserved_bytes")
    active = _current_and_peak(nested, "active_bytes")[0]
    stranded = _current_and_peak(nested, "inactive_split_bytes")[0]
    releasable = reserved - active - stranded
    return {
        "timeMs": time_ms,
        "device": device,
        "usedBytes": used,
        "reservedBytes": reserved,
        "activeBytes": active,
        "strandedBytes": stranded,
        "releasableBytes": releasable if releasable > 0 else 0,
        "pendingBytes": active - used,
        "requestedBytes": nested["requested_bytes"]["all"]["current"] if "requested_bytes" in nested else None,
        "peakUsedBytes": peak_used,
        "peakReservedBytes": peak_reserved,
        "retries": nested.get("num_alloc_retries", 0),
        "ooms": nested.get("num_ooms", 0),
    }


def _current_and_peak(nested, family):
    group = nested.get(family)
    if group is None:
        return 0, 0
    group = group["all"]
    return group["current"], group["peak"]


def used_bytes(torch):
    """Bytes of live tensors over all touched devices; the cheapest reading there is. Raises as ``read``."""
    memory_stats = torch._C._cuda_memoryStats
    return sum(memory_stats(index)["allocated_bytes"]["all"]["current"] for index in touched_devices(torch))


def read(torch, device, time_ms):
    """One sample of one device. Raises whatever torch raises (pluggable allocators have no statistics)."""
    return sample(torch._C._cuda_memoryStats(device), device, time_ms)


def _uuid_text(properties):
    text = str(getattr(properties, "uuid", None) or "")
    if re.match(r"(GPU|MIG)-", text):
        return text
    # torch gives the bare UUID; the driver's tools write it with this prefix.
    return "GPU-" + text if re.match(r"[0-9a-fA-F]{8}-", text) else None


def describe_devices(torch, pid):
    """The ``devices`` of ``hello``: the touched ones."""
    simulated = simulation(torch) is not None
    devices = []
    for index in touched_devices(torch):
        properties = torch.cuda.get_device_properties(index)
        uuid = "SIM-{}-{}".format(pid, index) if simulated else _uuid_text(properties)
        devices.append(
            {
                "index": index,
                "uuid": uuid,
                "name": str(properties.name),
                "totalBytes": int(properties.total_memory),
            }
        )
    return devices


def simulation(torch):
    """The simulator's mode ("exact", "approximate", "estimate"), None on real hardware."""
    mark = getattr(torch.cuda, "_vram_lens_simulation", None)
    return mark.get("mode") if isinstance(mark, dict) else None

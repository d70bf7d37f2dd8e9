"""The sentences the simulator says, in English and Simplified Chinese."""

import os

_ENGLISH = {
    "bad_size": 'VRAM_LENS_SIMULATE="{value}" is not a memory size. Write for example 24GiB, or 24GiB,8GiB for two devices.',
    "too_small": "A simulated device needs at least {least}; VRAM_LENS_SIMULATE asks for {value}.",
    "too_many": "At most {most} devices can be simulated; VRAM_LENS_SIMULATE asks for {count}.",
    "hidden": "CUDA_VISIBLE_DEVICES={value} hides every simulated device.",
    "preparing": "preparing the simulated device for torch {version}, once, about a minute…",
    "waiting": "another process is preparing the simulated device for torch {version}; waiting for it…",
    "ready": "the simulated device is ready ({seconds:.0f} s).",
    "no_compiler": "simulating a GPU exactly needs a C++ compiler, and none was found. Install g++ (Debian, Ubuntu: "
    "apt install g++) or clang++, or name one in CXX.",
    "no_python_headers": "simulating a GPU exactly needs Python's headers, and {path} is missing. Install them (Debian, Ubuntu: "
    "apt install python3-dev).",
    "no_torch_headers": "this PyTorch comes without its C++ headers ({path} is missing). Install it with pip.",
    "no_sources": "the simulator's C++ sources are missing (looked in {folders}). Reinstall VRAM Lens.",
    "compile_failed": "the simulated device could not be compiled for torch {version}: {line} (full log: {log})",
    "no_cache": "the folder for the compiled simulated device cannot be used: {reason}",
    "load_failed": "the compiled simulated device could not be loaded; the next run compiles it anew: {reason}",
    "no_windows": "simulating a GPU does not work on Windows itself. Use WSL.",
    "unexpected": "the simulated device could not be started: {reason}",
    "eager": "simulated device: torch.compile runs this eagerly (no Triton, no fusion).",
}

_CHINESE = {
    "bad_size": 'VRAM_LENS_SIMULATE="{value}" 不是有效的显存大小。示例：24GiB；两个设备：24GiB,8GiB。',
    "too_small": "模拟设备至少需要 {least}；VRAM_LENS_SIMULATE 请求的是 {value}。",
    "too_many": "最多可以模拟 {most} 个设备；VRAM_LENS_SIMULATE 请求了 {count} 个。",
    "hidden": "CUDA_VISIBLE_DEVICES={value} 隐藏了所有模拟设备。",
    "preparing": "正在为 torch {version} 准备模拟设备，仅此一次，约需一分钟…",
    "waiting": "另一个进程正在为 torch {version} 准备模拟设备，请稍候…",
    "ready": "模拟设备已就绪（{seconds:.0f} 秒）。",
    "no_compiler": "精确模拟 GPU 需要 C++ 编译器，但没有找到。请安装 g++（Debian、Ubuntu：apt install g++）或 clang++，"
    "或用 CXX 指定。",
    "no_python_headers": "精确模拟 GPU 需要 Python 头文件，但缺少 {path}。请安装（Debian、Ubuntu：apt install python3-dev）。",
    "no_torch_headers": "此 PyTorch 不含 C++ 头文件（缺少 {path}）。请用 pip 安装。",
    "no_sources": "缺少模拟器的 C++ 源文件（已查找 {folders}）。请重新安装 VRAM Lens。",
    "compile_failed": "无法为 torch {version} 编译模拟设备：{line}（完整日志：{log}）",
    "no_cache": "无法使用存放已编译模拟设备的文件夹：{reason}",
    "load_failed": "无法加载已编译的模拟设备；下次运行将重新编译：{reason}",
    "no_windows": "无法直接在 Windows 上模拟 GPU。请使用 WSL。",
    "unexpected": "无法启动模拟设备：{reason}",
    "eager": "模拟设备：torch.compile 在此以即时模式运行（无 Triton，无融合）。",
}


class SimulatorError(Exception):
    """Something the user can act on; its text is one whole sentence in the user's language."""


def language() -> str:
    """`zh-cn` or `en`: VRAM_LENS_LANG, which the editor sets, else the locale of the terminal."""
    for name in ("VRAM_LENS_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh-cn" if value.lower().replace("_", "-").startswith("zh") else "en"
    return "en"


def text(key: str, **values: object) -> str:
    """The sentence `key` in the user's language."""
    table = _CHINESE if language() == "zh-cn" else _ENGLISH
    return table[key].format(**values)

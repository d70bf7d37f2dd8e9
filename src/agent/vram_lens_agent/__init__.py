"""The agent of VRAM Lens: lives inside a training process and tells an editor where its GPU memory is.

Standard library only. Nothing here imports torch, initialises CUDA, resets a counter or prints, and no error of ours
reaches the script. Off with ``VRAM_LENS=off``.
"""


def autoload():
    """Attach to the torch that is being imported. Called by torch's ``torch.backends`` entry point (2.5 and later,
    where an error would break the user's import) or by our ``sitecustomize``. Safe to call again."""
    try:
        import os
        import sys

        if os.environ.get("VRAM_LENS", "").strip().lower() == "off":
            return
        torch = sys.modules.get("torch")
        if torch is not None:
            from vram_lens_agent import attach

            attach.attach(torch)
    except KeyboardInterrupt:
        raise
    except BaseException:
        pass

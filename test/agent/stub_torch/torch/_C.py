"""Empty as on a CPU build; fake_cuda adds the private functions."""

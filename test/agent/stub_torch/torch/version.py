__version__ = "1.13.1+stub"
cuda = None

"""Imported after cuda and optim, as in torch 1.13."""

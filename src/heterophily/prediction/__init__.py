"""From a trained model to answers: choose, keep, predict, explain."""

"""Node classification for scikit-learn: an estimator and a splitter that know the graph."""

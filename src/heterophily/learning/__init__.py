"""What learning means to models and to training alike: the lesson, the learner, the result."""

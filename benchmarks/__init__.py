"""Speed as ratios: every figure stands beside a baseline measured in the same run."""

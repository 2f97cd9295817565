"""What a running cell tells of itself: readiness and metrics. Telling never waits for anybody."""

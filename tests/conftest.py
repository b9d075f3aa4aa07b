"""Settings for all tests."""

from hypothesis import HealthCheck, settings

# No deadline: tests must not depend on how busy the machine is.
settings.register_profile(
    "newfound",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("newfound")

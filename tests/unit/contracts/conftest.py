from hypothesis import settings

# A busy machine is no defect of a pure function.
settings.register_profile("pure", deadline=None)
settings.load_profile("pure")

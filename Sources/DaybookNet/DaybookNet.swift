// DaybookNet: being built.

// DaybookServerCore: being built.

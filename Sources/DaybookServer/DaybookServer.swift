// DaybookServer: being built.

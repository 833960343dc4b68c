// DaybookLog: being built.

// DaybookSync: being built.

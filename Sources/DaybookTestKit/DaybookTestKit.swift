// DaybookTestKit: being built.
